"""Widths by name: `structured_k0_n8_e16_c8_h16` is `structured_k0_n8` with a narrower encoder and head.

Behind any family's name stand the widths that differ from the paper's, in this order: `_e` the encoder's hidden layer
(64 in the paper), `_c` the code, its output (32), `_h` the hidden layer of the head (64). A width that is the paper's
is not written, so that every architecture has exactly one name.
"""

import re
from typing import NamedTuple

from blindsave.errors import BadInput
from blindsave.policies.students.core import CODE_FLOATS

ENCODER_FLOATS = 64
HEAD_FLOATS = 64
WIDEST = 1024
"""Beyond it a step is no longer small."""
GRAMMAR = "_eENCODER_cCODE_hHEAD"
"""How widths are written; each of the three may be missing."""

_NUMBER = "(0|[1-9][0-9]{0,5})"
_NAMED = re.compile(f"(.+?)(?:_e{_NUMBER})?(?:_c{_NUMBER})?(?:_h{_NUMBER})?")


class Widths(NamedTuple):
    """Floats of the encoder's hidden layer, of the code and of the head's hidden layer."""

    encoder: int = ENCODER_FLOATS
    code: int = CODE_FLOATS
    head: int = HEAD_FLOATS

    def behind(self, name: str) -> str:
        """The name of a family with these widths."""
        return name + "".join(
            f"_{letter}{width}" for letter, width, usual in zip("ech", self, PAPER, strict=True) if width != usual
        )


PAPER = Widths()


def split_widths(name: str) -> tuple[str, Widths]:
    """A family's name without its widths, and the widths; a `BadInput` where they cannot be or need not be said."""
    found = _NAMED.fullmatch(name)
    if found is None or not any(found.groups()[1:]):
        return name, PAPER
    core, *written = found.groups()
    widths = Widths(*(usual if width is None else int(width) for width, usual in zip(written, PAPER, strict=True)))
    if not all(1 <= width <= WIDEST for width in widths):
        raise BadInput(f"the family `{name}` cannot be: its widths must be between 1 and {WIDEST}")
    if widths.behind(core) != name:
        raise BadInput(f"the family `{name}` is called `{widths.behind(core)}`")
    return core, widths
