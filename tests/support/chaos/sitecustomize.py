"""Python imports this by itself at its start where this folder is on the path: workers get a date with death.

Before its first rename a worker takes a token, if any is left. The token's number says at which rename the worker is
killed. So deaths are counted in events, not in seconds, and happen where they hurt most.
"""

import os
import sys
from pathlib import Path

TOKENS = os.environ.get("CHAOS_TOKENS")
WORKERS = ("blindsave.worker", "default_worker.py")


def take(tokens: Path) -> int:
    """The number on a token that nobody else has taken; 0 where none is left."""
    for token in sorted(tokens.glob("*.token")):
        try:
            token.rename(token.with_suffix(f".{os.getpid()}"))
        except FileNotFoundError:
            continue
        return int(token.stem.partition("-")[2])
    return 0


if TOKENS and any(word.endswith(WORKERS) for word in sys.orig_argv):
    import signal

    from renames import at_renames

    left: list[int] = []

    def meet() -> None:
        if not left:
            left.append(0)  # taking a token is a rename, too
            left[0] = take(Path(TOKENS))
        left[0] -= 1
        if left[0] == 0:
            (Path(TOKENS) / f"{os.getpid()}.death").touch()
            os.kill(os.getpid(), signal.SIGKILL)

    at_renames(meet)
