"""Words of a command line to a command, with help that a newcomer can read and one sentence for a mistake."""

import contextlib
import dataclasses
import functools
import io
import math
import re
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import tyro

from blindsave.errors import BadInput

MOST, LARGEST_SEED = 1_000_000_000, 2**32 - 1
SIDE_BY_SIDE, MOST_SIDE_BY_SIDE = ("threads", "workers", "parallel", "cores", "population"), 4096
FROM_ZERO = ("seed", "seeds", "sampling_seed", "port", "cpu", "blackout", "locked_steps", "step", "replay")
"""Options for which zero means something, or is refused with a better sentence; all others count from one."""
SINGULAR = {"policies": "policy", "families": "family", "seeds": "seed", "names": "name", "teachers": "teacher"}


def parse(kind: type, name: str, args: list[str]) -> Any:
    """Read a command's options; what comes back is a `kind` that also has `json`."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(presented(kind), args=args, prog=f"blindsave {name}", config=(tyro.conf.DisallowNone,))
    except SystemExit as stop:
        if not stop.code:  # help was asked for, and printed
            raise
        raise BadInput(f"{_sentence(said.getvalue())}; `blindsave {name} --help` explains it") from None


@functools.cache
def presented(kind: type) -> type:
    """A command as it meets people: with `--json`, names for values, and only defaults that say something."""
    hints = typing.get_type_hints(kind, include_extras=True)
    fields: list[Any] = []
    for one in dataclasses.fields(kind):
        hint = _named(hints[one.name], one.name)
        says_nothing = one.default is None or one.default is False or one.default in ((), "")
        if says_nothing or (one.default is dataclasses.MISSING and _is_tuple(hint)):
            hint = Annotated[hint, tyro.conf.arg(help_behavior_hint="")]
        fields.append((one.name, hint, dataclasses.field(default=one.default)))
    as_json = Annotated[
        bool, tyro.conf.arg(help="Print the result as JSON.", help_behavior_hint=""), tyro.conf.FlagCreatePairsOff
    ]
    fields.append(("json", as_json, dataclasses.field(default=False)))
    about = "Python files or modules of your own to load first: they may register cores, faults and policies."
    plugins = Annotated[tuple[str, ...], tyro.conf.arg(help=about, metavar="FILE", help_behavior_hint="")]
    fields.append(("plugin", plugins, dataclasses.field(default=())))
    plain = {"__doc__": kind.__doc__, "__module__": kind.__module__}
    return dataclasses.make_dataclass(kind.__name__, fields, bases=(kind,), frozen=True, namespace=plain)


def _named(hint: Any, name: str) -> Any:
    """A type whose values are read by `_READERS` and shown under a name of their own."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return Annotated[(_named(inner[0], name), *hint.__metadata__)]
    if origin is types.UnionType or origin is typing.Union:
        (one,) = (member for member in inner if member is not type(None))
        return _read(hint, _bare(one), name)
    if origin is tuple:
        return _read(hint, _bare(inner[0]), name, several=True)
    return _read(hint, hint, name)


def _read(hint: Any, of: Any, name: str, *, several: bool = False) -> Any:
    if of not in _READERS:
        return hint
    metavar, read = _READERS[of]
    metavar = metavar or SINGULAR.get(name, name).upper()
    spec = tyro.constructors.PrimitiveConstructorSpec(
        nargs="*" if several else 1,
        metavar=f"{metavar} ..." if several else metavar,
        instance_from_str=lambda words: tuple(read(word, name) for word in words) if several else read(words[0], name),
        is_instance=lambda value: True,  # defaults are the programmer's, and pyright checks them
        str_from_instance=lambda value: [str(one) for one in value] if several else [str(value)],
    )
    return Annotated[hint, spec]


def _bare(hint: Any) -> Any:
    return typing.get_args(hint)[0] if typing.get_origin(hint) is Annotated else hint


def _is_tuple(hint: Any) -> bool:
    return typing.get_origin(_bare(hint)) is tuple


def _whole(word: str, name: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,40}", word):
        raise ValueError(f"must be a whole number, got {_short(word)}")
    low = 0 if name in FROM_ZERO else 1
    high = LARGEST_SEED if "seed" in name else MOST_SIDE_BY_SIDE if name in SIDE_BY_SIDE else MOST
    return _within(int(word), low, high)


def _number(word: str, name: str) -> float:
    try:
        value = float(word.encode("ascii"))
    except ValueError:
        raise ValueError(f"must be a number, got {_short(word)}") from None
    if not math.isfinite(value):
        raise ValueError(f"must be a finite number, got {_short(word)}")
    return _within(value, 0, MOST)


def _within(value: Any, low: int, high: int) -> Any:
    if value < low:
        raise ValueError(f"must be at least {low}, got {value}")
    if value > high:
        raise ValueError(f"must be at most {high:,}, got {value}")
    return value


def _path(word: str, name: str) -> Path:
    if not word or "\0" in word:
        raise ValueError(f"must be a path, got {_short(word)}")
    return Path(word)


_READERS: dict[Any, tuple[str, Callable[[str, str], Any]]] = {
    int: ("N", _whole),
    float: ("NUMBER", _number),
    str: ("", lambda word, name: word),
    Path: ("PATH", _path),
}


def _short(word: str) -> str:
    return repr(word if len(word) <= 60 else f"{word[:57]}...")


def _sentence(box: str) -> str:
    """The first paragraph that the parser drew in a box (of lines, or of dashes where there is no Unicode)."""
    body: list[str] = []
    for line in box.splitlines()[1:]:  # the first one is the title
        text = line.strip("│╭╮╰╯ ")
        if text.strip("─-"):
            body.append(text)
        elif body:
            break
    if len(body) > 1 and body[0].startswith("Missing from"):
        return f"{body[1]} is missing"
    words = " ".join(body).removeprefix("Error parsing ").rstrip(". ")
    return re.sub(r"^(\S+): must ", r"\1 must ", words) or "these options cannot be used"
