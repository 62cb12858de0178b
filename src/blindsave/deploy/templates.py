"""C templates of this package: whole files with places to fill, and collections of blocks pasted where needed."""

import re
from functools import cache
from importlib.resources import files


def template(name: str) -> str:
    """The text of a template."""
    return (files("blindsave.deploy") / name).read_text(encoding="utf-8")


@cache
def _blocks(name: str) -> dict[str, tuple[list[str], str]]:
    """Blocks of a collection: name -> (names it needs, text)."""
    parts = re.split(r"/\* @block (\w+):([\w ]*)\*/\n", template(name))
    names, needs, bodies = parts[1::3], parts[2::3], parts[3::3]
    return {name: (need.split(), body) for name, need, body in zip(names, needs, bodies, strict=True)}


def pasted(name: str, kinds: set[str], prefix: str) -> str:
    """The blocks of these kinds and all that they need, in the order of the collection, under a policy's prefix."""
    wanted, queue, blocks = set(), list(kinds), _blocks(name)
    while queue:
        kind = queue.pop()
        wanted.add(kind)
        queue += [need for need in blocks[kind][0] if need not in wanted]
    text = "".join(body for kind, (_, body) in blocks.items() if kind in wanted)
    return re.sub(r"BS\((\w+)\)", rf"{prefix}_\1", text)


def listed(values: list[str], per_line: int) -> str:
    """Values of a C array, some to a line."""
    return ",\n".join("    " + ", ".join(values[i : i + per_line]) for i in range(0, len(values), per_line))


def comment(text: str) -> str:
    """Text that may stand inside a block comment."""
    return text.replace("*/", "* /").replace("\n", "\n * ")
