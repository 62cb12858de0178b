"""blindsave: a robot goalkeeper that saves air-hockey shots it cannot see.

Importing the package makes `gymnasium.make("blindsave/Defend-v0")` work. `blindsave.load` gives a trained policy.
"""

from typing import TYPE_CHECKING, Any

import blindsave.task as task

if TYPE_CHECKING:
    from blindsave.policies import load as load

__version__ = "0.1.0"
__all__ = ["__version__", "load", "task"]


def __getattr__(name: str) -> Any:
    """Import the policies only when one is asked for."""
    if name == "load":
        from blindsave.policies import load

        return load
    raise AttributeError(f"module 'blindsave' has no attribute {name!r}")
