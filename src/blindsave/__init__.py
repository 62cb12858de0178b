"""blindsave: a robot goalkeeper that saves air-hockey shots it cannot see.

Importing the package makes `gymnasium.make("blindsave/Defend-v0")` work. `blindsave.load` gives a trained policy. What
they need is imported when they are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from blindsave.registration import register_environments

if TYPE_CHECKING:
    from blindsave import task as task
    from blindsave.policies import load as load

__version__ = "0.2.0"
__all__ = ["__version__", "load", "task"]


def __getattr__(name: str) -> Any:
    """Import what is asked for."""
    if name == "load":
        return import_module("blindsave.policies").load
    if name == "task":
        return import_module("blindsave.task")
    raise AttributeError(f"module 'blindsave' has no attribute {name!r}")


register_environments()
