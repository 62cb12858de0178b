"""A fixed window: the last few puck readings, as they came."""

from dataclasses import dataclass
from typing import Any, ClassVar

from blindsave.policies.base import OBSERVATION_FLOATS
from blindsave.policies.students.core import MemoryCore

READING = 3
"""Puck x, puck y and the visible flag: the last entries of the observation."""


@dataclass(frozen=True)
class FiniteStack(MemoryCore):
    """The last `steps` puck readings, oldest first, the present one included; zeros before the episode's start."""

    recurrent: ClassVar[bool] = False
    steps: int = 10

    @property
    def memory(self) -> int:
        """One reading per remembered step."""
        return READING * self.steps

    @property
    def observed(self) -> int:
        """What the robot feels, and the window."""
        return OBSERVATION_FLOATS - READING + self.memory

    def observe(self, ops: Any, memory: Any, observation: Any) -> tuple[Any, Any]:
        """Drop the oldest reading, append the present one."""
        felt, reading = observation[..., :-READING], observation[..., -READING:]
        memory = ops.concat(memory[..., READING:], reading)
        return memory, ops.concat(felt, memory)
