"""What the plan's rules say of its hypotheses, in the words of tables, claims and sentences."""

from collections.abc import Iterable

from blindsave.evidence.hypotheses import CONTRARY, SUPPORTED, Verdict
from blindsave.report.sheet import Mark

ALPHA = 0.05
BEFORE = Mark("before correction only", "odd")


def verdict(found: Verdict) -> Mark:
    """What the plan's rule says of a hypothesis; superiority that does not survive Holm's correction is no support."""
    if found.verdict == SUPPORTED and found.kind == "superiority" and (found.contrast.p_holm or 0.0) >= ALPHA:
        return BEFORE
    return Mark(found.verdict, {SUPPORTED: "good", CONTRARY: "bad"}.get(found.verdict, "odd"))


def only_before_correction(
    found: Iterable[Verdict], split: str, a: str, b: str, blackout: int, disturbance: str
) -> bool:
    """Whether a hypothesis about just this difference is supported by its own interval and not among the others."""
    cell = (split, a, b, blackout, disturbance)
    return any(verdict(one) == BEFORE and (one.split, *_cell(one)) == cell for one in found)


def _cell(found: Verdict) -> tuple[str, str, int, str]:
    one = found.contrast
    return one.a, one.b, one.blackout, one.disturbance
