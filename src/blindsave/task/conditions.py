"""Conditions: named combinations of what happens in an episode besides its shot and its main blackout.

    condition("clean"), condition("noise_5mm"), condition("latency_2+outliers_3percent")

A name is made of faults joined by `+`; a fault is its kind and its numbers: `noise_5mm_correlation_0.9`. Every name
parses back, with all its digits. A new kind of fault is one function that changes a `Draft`:

    @fault
    def flicker(draft: Draft, every: int) -> None:
        draft.hide(slice(0, None, every))

`flicker_3` is then a condition everywhere: in environments, training, evaluation, study files, reports. Installed
packages add kinds through the entry-point group `blindsave.faults` (kind = "module:function"), files through
`--plugin` (docs/conditions.md).
"""

import functools
import hashlib
import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any

from blindsave.errors import BadInput
from blindsave.task.draft import Draft
from blindsave.task.episode import Episode
from blindsave.task.shots import Shot, shots
from blindsave.task.tracking import blackout

ENTRY_POINTS = "blindsave.faults"
UNITS = ("mm", "percent")
"""A parameter whose name ends in one of these shows it in the condition's name: sigma_mm = 5 is `5mm`."""
CLEAN_NAME = "clean"
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_KINDS: dict[str, "Kind"] = {}
Make = Callable[..., None]


def number(value: float) -> str:
    """The shortest digits that give exactly this number back; `+` stays out, since it joins faults."""
    return repr(float(value) + 0.0).removesuffix(".0").replace("+", "")


@dataclass(frozen=True)
class Parameter:
    """One number of a fault."""

    name: str
    whole: bool
    default: float | None
    """None where the number must be given."""

    @property
    def unit(self) -> str:
        """What follows the number in a name."""
        last = self.name.rpartition("_")[2]
        return last if last in UNITS else ""

    def read(self, token: str) -> float:
        """The value of a token."""
        digits = token.removesuffix(self.unit) if self.unit else token
        if not _NUMBER.fullmatch(digits) or not math.isfinite(float(digits)):
            raise ValueError
        return int(digits) if self.whole else float(digits) + 0.0  # -0.0 is 0.0, also in names

    def say(self, value: float) -> str:
        """The token of a value."""
        return f"{int(value) if self.whole else number(value)}{self.unit}"


@dataclass(frozen=True)
class Kind:
    """A kind of fault: a function and what it is asked with."""

    name: str
    make: Make
    parameters: tuple[Parameter, ...]

    @property
    def usage(self) -> str:
        """How to write it: `noise_SIGMAmm[_correlation_X]`."""
        given = "".join(
            f"_{p.name.removesuffix(f'_{p.unit}').upper()}{p.unit}" for p in self.parameters if p.default is None
        )
        return self.name + given + "".join(f"[_{p.name}_X]" for p in self.parameters if p.default is not None)

    @property
    def about(self) -> str:
        """The first line of the function's documentation."""
        return (inspect.getdoc(self.make) or "").partition("\n")[0]

    @property
    def source_sha256(self) -> str | None:
        """What tells whether a kind from outside has changed; our own are bound with the package."""
        if self.make.__module__.startswith("blindsave."):
            return None
        try:
            return hashlib.sha256(inspect.getsource(self.make).encode()).hexdigest()
        except (OSError, TypeError):
            return hashlib.sha256(self.make.__code__.co_code).hexdigest()


def fault(make: Make) -> Make:
    """Register a kind of fault, a function of a draft and of numbers that changes the draft, under its name."""
    _add(getattr(make, "__name__", ""), make)
    return make


def kinds() -> dict[str, Kind]:
    """Every kind of fault by name: our own, then those of installed packages and of plugins."""
    import blindsave.task.faults  # registers our own
    import blindsave.task.remember  # noqa: F401
    from blindsave.plugins import load_plugins

    load_plugins()
    for point in entry_points(group=ENTRY_POINTS):
        if point.name not in _KINDS:
            _add(point.name, point.load())
    return dict(_KINDS)


def _add(name: str, make: Make) -> None:
    if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name):
        raise BadInput(f"a kind of fault is called by small letters and underscores, not `{name}`")
    if name == CLEAN_NAME:
        raise BadInput("`clean` is what happens without any fault")
    _, *given = inspect.signature(make).parameters.values()
    parameters = []
    for p in given:
        default = None if p.default is inspect.Parameter.empty else p.default
        parameters.append(Parameter(p.name, p.annotation in (int, "int"), default))
    known = _KINDS.get(name)
    kind = Kind(name, make, tuple(parameters))
    if known is not None and known.make is not make and known.source_sha256 != kind.source_sha256:
        raise BadInput(f"there already is a fault `{name}`")
    _KINDS[name] = kind


@dataclass(frozen=True)
class Fault:
    """One kind with its numbers, defaults included."""

    kind: str
    values: tuple[float, ...]

    @property
    def name(self) -> str:
        """`noise_5mm`; what has its usual value is not said."""
        said = self.kind
        for parameter, value in zip(_KINDS[self.kind].parameters, self.values, strict=True):
            if parameter.default is None:
                said += f"_{parameter.say(value)}"
            elif value != parameter.default:
                said += f"_{parameter.name}_{parameter.say(value)}"
        return said

    def apply(self, draft: Draft) -> None:
        """Change a draft; whatever goes wrong in the function is one sentence."""
        try:
            _KINDS[self.kind].make(draft, *self.values)
        except BadInput:
            raise
        except Exception as error:
            raise BadInput(f"the fault `{self.name}` failed: {type(error).__name__}: {error}") from error

    def describe(self) -> dict[str, Any]:
        """Everything that decides it."""
        kind = _KINDS[self.kind]
        said = {parameter.name: value for parameter, value in zip(kind.parameters, self.values, strict=True)}
        return said if kind.source_sha256 is None else said | {"source_sha256": kind.source_sha256}


@dataclass(frozen=True)
class Condition:
    """What happens besides the main blackout; without faults, nothing. Faults act in their order."""

    faults: tuple[Fault, ...] = ()

    @property
    def name(self) -> str:
        """The name in tables, which parses back."""
        return "+".join(one.name for one in self.faults) or CLEAN_NAME

    def episode(self, shot: Shot, blackout_steps: int = 0, trace: str | None = None) -> Episode:
        """The episode of a shot with one main blackout.

        Chance belongs to the shot's unit, so that all policies meet the same; training gives every episode a `trace`
        of its own.
        """
        if not self.faults:
            return Episode(shot, blackout(blackout_steps))
        draft = Draft(shot, blackout_steps, "" if trace is None else f"{shot.unit}:{trace}")
        for one in self.faults:
            one.apply(draft)
        return draft.episode()

    def describe(self) -> list[dict[str, Any]]:
        """Everything that decides it, for manifests."""
        return [{"kind": one.kind, **one.describe()} for one in self.faults]


CLEAN = Condition()
"""Nothing goes wrong but the blackout."""


def condition(name: "str | Condition") -> Condition:
    """The condition of this name, tried once: a name that cannot be played is a `BadInput` of one sentence."""
    if isinstance(name, Condition):
        return name
    if name == CLEAN_NAME:
        return CLEAN
    return _tried(Condition(tuple(_parse(part) for part in name.split("+"))))


@functools.lru_cache(maxsize=1024)
def _tried(made: Condition) -> Condition:
    made.episode(shots("validation")[0], 20)
    return made


def _parse(text: str) -> Fault:
    kind = _kind(text, _KINDS) or _kind(text, kinds())  # installed packages are asked only about names we do not know
    if kind is None:
        there_are = f"{CLEAN_NAME}, {', '.join(sorted(kinds()))}, joined by +"
        raise BadInput(f"there is no condition `{text}`; there are {there_are} (and those of a --plugin)")
    try:
        return Fault(kind.name, _values(kind, text[len(kind.name) + 1 :]))
    except (ValueError, StopIteration, KeyError):
        raise BadInput(f"`{text}` is no condition: `{kind.name}` is written {kind.usage}") from None


def _kind(text: str, known: Mapping[str, Kind]) -> Kind | None:
    """Kinds may have underscores of their own: the longest that begins the text is meant."""
    fitting = (kind for kind in known.values() if text == kind.name or text.startswith(f"{kind.name}_"))
    return max(fitting, key=lambda kind: len(kind.name), default=None)


def _values(kind: Kind, text: str) -> tuple[float, ...]:
    """The numbers of a fault: required ones in order, others as name_value."""
    found: dict[str, float] = {}
    required = [p for p in kind.parameters if p.default is None]
    optional = {p.name: p for p in kind.parameters if p.default is not None}
    tokens = iter(text.split("_") if text else ())
    for parameter in required:
        found[parameter.name] = parameter.read(next(tokens))
    for token in tokens:
        parameter = optional.pop(token)
        found[token] = parameter.read(next(tokens))
    return tuple(found.get(p.name, p.default if p.default is not None else math.nan) for p in kind.parameters)


def grid(members: Sequence[Shot], blackout_lengths: Sequence[int], under: Condition = CLEAN) -> list[Episode]:
    """Every shot with every blackout length, shot by shot."""
    return [under.episode(shot, length) for shot in members for length in blackout_lengths]
