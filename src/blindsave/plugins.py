"""Files and modules of the user's own that register cores, faults or policies, in this process and its workers.

    blindsave evaluate teacher --conditions flicker_3 --plugin my_faults.py

The names travel in an environment variable, so that worker processes load the same. A study keeps a copy of every
plugin file in its folder and uses that.
"""

import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from blindsave.errors import BadInput

VARIABLE = "BLINDSAVE_PLUGINS"
"""Files and module names, separated as in PATH."""

PREFIX = "blindsave_plugin_"
"""How the modules of plugin files are called."""

_loaded: dict[str, str] = {}
"""What was loaded, by the hash of a file or the name of a module."""


def add_plugins(names: Iterable[str | Path]) -> None:
    """Load these now, and in every process started from here on."""
    given = [str(Path(name).resolve()) if _is_file(name) else str(name) for name in names]
    known = [name for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]
    os.environ[VARIABLE] = os.pathsep.join(dict.fromkeys([*known, *given]))
    for name in given:
        _load(name)


def travels(module: str) -> bool:
    """Whether other processes can have what this module defines: it is ours, or of a plugin."""
    return module.partition(".")[0] == "blindsave" or module.startswith(PREFIX) or module in _loaded.values()


def load_plugins() -> None:
    """Load what the environment names and is not loaded yet."""
    for name in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        _load(name)


def _is_file(name: str | Path) -> bool:
    return Path(name).suffix == ".py" or os.sep in str(name)


def _load(name: str) -> None:
    try:
        content = Path(name).read_bytes() if _is_file(name) else b""
    except OSError as error:
        raise BadInput(f"the plugin {name} cannot be read: {error.strerror or error}") from error
    key = hashlib.sha256(content).hexdigest() if content else name
    if key in _loaded:
        return
    _loaded[key] = name  # first, since a plugin may ask for what other plugins registered
    try:
        if _is_file(name):
            _run(Path(name), key)
        else:
            importlib.import_module(name)
    except Exception as error:
        del _loaded[key]
        if isinstance(error, BadInput):
            raise BadInput(f"the plugin {name}: {error}") from error
        raise BadInput(f"the plugin {name} failed: {type(error).__name__}: {error}") from error


def _run(path: Path, key: str) -> None:
    """Run a file as a module of a name of its own; two files of one name do not meet."""
    name = f"{PREFIX}{path.stem}_{key[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BadInput("it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
