"""The table, the puck, the arm and its controller, without shots, blackouts or learning.

The compiled module `_core` is built together with the task's episodes (`task/core`), which step the arena without
leaving C; the arena's own sources know nothing of them.
"""

from blindsave.arena.simulator import Arena

__all__ = ["Arena"]
