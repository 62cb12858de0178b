"""Checks for other people's parts: a memory core against its contract, an arena against recorded trajectories."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blindsave.testing.contract import check_core as check_core

__all__ = ["check_core"]


def __getattr__(name: str) -> Any:
    """Import the contract only when it is asked for: it needs the trainers."""
    if name == "check_core":
        from blindsave.testing.contract import check_core

        return check_core
    raise AttributeError(f"module 'blindsave.testing' has no attribute {name!r}")
