"""The paper's numbers, as data: `published.toml` read once. Rates and differences are in percent and points."""

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from blindsave.report.sheet import Estimate

COST_FIELDS = (
    "parameters",
    "core_parameters",
    "carry_bytes",
    "recurrent_bytes",
    "macs",
    "latency_us",
    "latency_p95_us",
)


@dataclass(frozen=True)
class Claim:
    """One claim of the paper with its published number, and where to find ours."""

    id: str
    where: str
    statement: str
    kind: str
    a: str
    published: Estimate
    b: str = ""
    split: str = "principal_test"
    blackout: int = 20
    disturbance: str = "clean"
    group: str = "all"
    expect: str = ""
    cost: str = ""


@functools.cache
def document() -> Mapping[str, Any]:
    """The whole file."""
    return tomllib.loads(files("blindsave.report").joinpath("published.toml").read_text(encoding="utf-8"))


def estimate(values: Sequence[float], decimals: int = 1, signed: bool = False) -> Estimate:
    """[estimate] or [estimate, low, high] as an estimate."""
    low, high = (values[1], values[2]) if len(values) == 3 else (None, None)
    return Estimate(values[0], low, high, decimals, signed)


def rate(policy: str, blackout: int) -> Estimate | None:
    """Save rate on the principal test."""
    found = document()["rates"].get(policy, {}).get(str(blackout))
    return None if found is None else estimate(found)


def difference(a: str, b: str) -> Estimate | None:
    """Paired difference at 400 ms; the mirror image of a published one counts as published."""
    known = document()["differences"]
    if f"{a} - {b}" in known:
        return estimate(known[f"{a} - {b}"], 2, True)
    if f"{b} - {a}" in known:
        point, low, high = known[f"{b} - {a}"]
        return Estimate(-point, -high, -low, 2, True)
    return None


def noise(policy: str, blackout: int, sigma_mm: float) -> Estimate | None:
    """Save rate on the noise test."""
    found = document()["noise"].get(policy, {}).get(f"{blackout}/{sigma_mm:g}")
    return None if found is None else estimate(found)


def cost(policy: str) -> dict[str, float]:
    """Sizes and latency of a family; empty where the paper has none."""
    return dict(zip(COST_FIELDS, document()["costs"].get(policy, ()), strict=False))


def memory(policy: str, blackout: int) -> tuple[float, float, Estimate] | None:
    """Teacher's rate, the other's rate and their difference in a memory test."""
    test, key = document()["memory"].get(policy, {}), str(blackout)
    if key not in test.get("difference", {}):
        return None
    return test["first"][key], test["second"][key], estimate(test["difference"][key], 1, True)


def fingerprint() -> dict[str, Any]:
    """The paper's teacher in the form of `diagnostics.fingerprint`; what was not published is None or left out."""
    known, drops = document()["fingerprint"], document()["memory"]["teacher_reset"]["difference"]
    return {
        "saves": {"sampled": {length: {"saves": saves, "shots": 225} for length, saves in known["sampled"].items()}},
        "state_reset": {length: {"drop": drop[0]} for length, drop in drops.items() if length != "0"},
        "nearest_history": known["nearest_history"],
        "timing": {"steps": known["steps"], "halfway_ms": None, "first_contact_ms": None},
    }


@functools.cache
def claims() -> tuple[Claim, ...]:
    """Every claim, in the order of the paper."""
    signed = {"difference"}
    return tuple(
        Claim(**{**entry, "published": estimate(entry["published"], 1, entry["kind"] in signed)})
        for entry in document()["claims"]
    )
