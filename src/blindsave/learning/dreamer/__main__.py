"""Train teachers on a machine that has only JAX, NumPy, safetensors, MuJoCo and this package: no tyro, no rich.

    python -m blindsave.learning.dreamer train '{"folder": "runs/teachers", "population": 8, "minutes": 9}'
    python -m blindsave.learning.dreamer validate '{"folder": "runs/teachers/7303", "modes": ["sampled"]}'
    python -m blindsave.learning.dreamer collect '{"folder": "runs/teachers/7303", "out": "OUT"}'

Options are those of the functions named below, as one JSON object. `blindsave teacher ...` does the same in comfort.
"""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from blindsave.errors import BadInput, BlindsaveError
from blindsave.learning.dreamer.pack import collect, pack
from blindsave.learning.dreamer.run import train_teacher, validate_teacher

COMMANDS: dict[str, Callable[..., Any]] = {
    "train": train_teacher,
    "validate": validate_teacher,
    "pack": pack,
    "collect": collect,
}


def perform(command: str, options: dict[str, Any]) -> Any:
    """Do one command."""
    if command not in COMMANDS:
        raise BadInput(f"there is no command `{command}`; there are {', '.join(COMMANDS)}")
    paths = {name: Path(options[name]) for name in ("folder", "out") if name in options}
    try:
        return COMMANDS[command](**options | paths)
    except TypeError as error:
        raise BadInput(f"`{command}` does not take these options: {error}") from error


def main(arguments: Sequence[str]) -> None:
    """Do one command and print what came of it as JSON."""
    try:
        command, text = arguments
        print(json.dumps(perform(command, json.loads(text)), allow_nan=False, default=str))
    except BlindsaveError as error:
        sys.exit(f"blindsave: {error}")
    except ValueError as error:
        sys.exit(f"blindsave: say a command and its options as one JSON object ({error})")


if __name__ == "__main__":
    main(sys.argv[1:])
