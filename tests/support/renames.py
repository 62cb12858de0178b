"""Act before every rename of this process: renames make things final, so just before them is the worst moment."""

import os
import signal
from collections.abc import Callable


def at_renames(act: Callable[[], None]) -> None:
    """Call `act` before every rename."""
    for name in ("replace", "rename"):
        original = getattr(os, name)

        def watched(*arguments, original=original, **options):
            act()
            return original(*arguments, **options)

        setattr(os, name, watched)


def die_at(count: int) -> None:
    """SIGKILL this process instead of its `count`-th rename."""
    left = [count]

    def act() -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    at_renames(act)
