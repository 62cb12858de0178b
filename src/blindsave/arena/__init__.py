"""The table, the puck, the arm and its controller. Knows nothing of shots, blackouts or learning."""

from blindsave.arena.simulator import Arena

__all__ = ["Arena"]
