"""Values of a TOML file, each checked when it is read; what is wrong is said in one sentence with file and key."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from blindsave.errors import BadInput

Check = Callable[[Any], Any]
"""Gives the value, or raises `Wrong`."""


class Wrong(ValueError):
    """Why a value cannot be used, as the end of a sentence that begins with its key."""


@dataclass(frozen=True)
class Section:
    """A table of the file and how to speak of it."""

    where: str
    """Beginning of a sentence: the file, and the table's name where it is not the whole file."""
    values: Mapping[str, Any]

    def only(self, known: Iterable[str], what: str = "key") -> None:
        """Refuse what is not known."""
        names = list(known)
        for name in self.values:
            if name not in names:
                raise BadInput(f"{self.where}: there is no {what} `{name}`; there are {', '.join(names)}")

    def get(self, name: str, check: Check) -> Any:
        """The checked value of a key; None where the file does not name it."""
        if name not in self.values:
            return None
        try:
            return check(self.values[name])
        except Wrong as error:
            raise BadInput(f"{self.where}: `{name}` {error}") from None

    def need(self, name: str, check: Check) -> Any:
        """The checked value of a key that must be there."""
        if name not in self.values:
            raise BadInput(f"{self.where}: `{name}` is missing")
        return self.get(name, check)

    def part(self, name: str) -> "Section":
        """A table inside that must be there."""
        return Section(f"{self.where}, [{name}]", self.need(name, table))


def whole(low: int, high: int | None = None) -> Check:
    """A whole number in a range."""

    def check(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Wrong(f"must be a whole number, not {shown(value)}")
        if value < low or (high is not None and value > high):
            raise Wrong(f"must be {_range(low, high)}, not {value}")
        return value

    return check


def number(low: float, high: float) -> Check:
    """A number in a range; whole ones stay whole."""

    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise Wrong(f"must be a number, not {shown(value)}")
        if not low <= value <= high:
            raise Wrong(f"must be {_range(low, high)}, not {value:g}")
        return int(value) if value == int(value) else value

    return check


def flag(value: Any) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise Wrong(f"must be true or false, not {shown(value)}")
    return value


def text(value: Any) -> str:
    """Some words."""
    if not isinstance(value, str) or not value:
        raise Wrong(f"must be text in quotes, not {shown(value)}")
    return value


def table(value: Any) -> dict[str, Any]:
    """Keys and values of their own."""
    if not isinstance(value, dict):
        raise Wrong(f"must be a table, not {shown(value)}")
    return value


def tables(value: Any) -> list[dict[str, Any]]:
    """Several tables, [[one]] after another."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise Wrong("must be tables, each begun with its name in double brackets")
    return value


def pairs(each: Check) -> Check:
    """A list of pairs."""

    def check(value: Any) -> tuple[tuple[Any, Any], ...]:
        if not isinstance(value, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
            raise Wrong(f'must be a list of pairs like ["gru_n16", "gru_n64"], not {shown(value)}')
        return tuple((each(a), each(b)) for a, b in value)

    return check


def one_of(choices: Sequence[str]) -> Check:
    """One of a few words."""

    def check(value: Any) -> str:
        if value not in choices:
            raise Wrong(f"must be one of {', '.join(choices)}, not {shown(value)}")
        return value

    return check


def several(each: Check, *, empty: bool = False) -> Check:
    """A list without repetitions."""

    def check(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise Wrong(f"must be a list in brackets, not {shown(value)}")
        found = tuple(each(item) for item in value)
        if not found and not empty:
            raise Wrong("must name at least one")
        repeated = next((item for place, item in enumerate(found) if item in found[:place]), None)
        if repeated is not None:
            raise Wrong(f"names {shown(repeated)} twice")
        return found

    return check


def ascending(each: Check, *, empty: bool = False) -> Check:
    """A list without repetitions, put in order."""
    return lambda value: tuple(sorted(several(each, empty=empty)(value)))


def either(word: str, meaning: Any, other: Check) -> Check:
    """A word with a meaning of its own, or anything that another check allows."""
    return lambda value: meaning if value == word else other(value)


def shown(value: Any) -> str:
    """A value in a sentence, as TOML writes it, and no longer than a line bears."""
    words = {True: "true", False: "false"}.get(value) if isinstance(value, bool) else None
    said = words or (f'"{value}"' if isinstance(value, str) else str(value))
    return said if len(said) <= 60 else f"{said[:57]}..."


def _range(low: float, high: float | None) -> str:
    return f"at least {low}" if high is None else f"between {low} and {high}"
