# The mujoco wheel is a compiled module without type information: everything in it is Any to the type checker.
from typing import Any

def __getattr__(name: str) -> Any: ...
