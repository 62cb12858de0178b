"""No memory at all: the action depends on the present observation alone."""

from dataclasses import dataclass
from typing import ClassVar

from blindsave.policies.students.core import MemoryCore


@dataclass(frozen=True)
class FeedForward(MemoryCore):
    """The memoryless control."""

    recurrent: ClassVar[bool] = False
