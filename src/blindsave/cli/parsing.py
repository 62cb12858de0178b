"""Words of a command line to a command, with help that a newcomer can read and one sentence for a mistake."""

import contextlib
import dataclasses
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

LARGEST = 2**62
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
        return _read(hint, _bare(inner[0]), SINGULAR.get(name, name), several=True)
    return _read(hint, hint, name)


def _read(hint: Any, of: Any, name: str, *, several: bool = False) -> Any:
    if of not in _READERS:
        return hint
    metavar, read = _READERS[of]
    metavar = metavar or name.upper()
    spec = tyro.constructors.PrimitiveConstructorSpec(
        nargs="*" if several else 1,
        metavar=f"{metavar} ..." if several else metavar,
        instance_from_str=lambda words: tuple(map(read, words)) if several else read(words[0]),
        is_instance=lambda value: True,  # defaults are the programmer's, and pyright checks them
        str_from_instance=lambda value: [str(one) for one in value] if several else [str(value)],
    )
    return Annotated[hint, spec]


def _bare(hint: Any) -> Any:
    return typing.get_args(hint)[0] if typing.get_origin(hint) is Annotated else hint


def _is_tuple(hint: Any) -> bool:
    return typing.get_origin(_bare(hint)) is tuple


def _whole(word: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,40}", word):
        raise ValueError(f"{_short(word)} is not a whole number")
    if abs(value := int(word)) > LARGEST:
        raise ValueError(f"{_short(word)} is too large")
    return value


def _number(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise ValueError(f"{_short(word)} is not a number") from None
    if not math.isfinite(value):
        raise ValueError(f"{_short(word)} is not a finite number")
    if abs(value) > LARGEST:
        raise ValueError(f"{_short(word)} is too large")
    return value


def _path(word: str) -> Path:
    if not word or "\0" in word:
        raise ValueError("a path is wanted, and there is none")
    return Path(word)


_READERS: dict[Any, tuple[str, Callable[[str], Any]]] = {
    int: ("N", _whole),
    float: ("NUMBER", _number),
    str: ("", str),
    Path: ("PATH", _path),
}


def _short(word: str) -> str:
    return repr(word if len(word) <= 60 else f"{word[:57]}...")


def _sentence(box: str) -> str:
    """What the parser drew as a box, up to its first rule, in one line."""
    body: list[str] = []
    for line in box.splitlines()[1:]:
        text = line.strip("│╭╮╰╯ ")
        if not text.strip("─"):
            break
        body.append(text)
    if len(body) > 1 and body[0].startswith("Missing from"):
        return f"{body[1]} is missing"
    return " ".join(body).removeprefix("Error parsing ").rstrip(". ") or "these options cannot be used"
