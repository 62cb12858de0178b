"""Run recorded launches and actions through the bare arena and write down what happens (the golden-trace format)."""

import io
import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from blindsave.arena.simulator import Arena, Backend
from blindsave.errors import BadFile
from blindsave.store import write_whole

INPUTS = ("names", "length", "launch", "action")
FIELDS = ("obs_raw", "policy_obs", "puck_pos", "puck_vel", "mallet_pos", "u_pos", "cmd_pos", "cmd_vel")
FLAGS = ("contact", "absorbing")


def read_scenarios(path: Path) -> dict[str, NDArray]:
    """Read names, length, launch and action of a trace file; other fields are ignored."""
    if not Path(path).is_file():
        raise BadFile(f"{path} does not exist")
    if not zipfile.is_zipfile(path):
        raise BadFile(f"{path} is not an npz file")
    try:
        with np.load(path, allow_pickle=False) as archive:
            missing = [name for name in INPUTS if name not in archive.files]
            if missing:
                raise BadFile(f"{path} has no field {missing[0]!r}; a replay needs {', '.join(INPUTS)}")
            data = {name: archive[name] for name in INPUTS}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise BadFile(f"{path} is damaged or holds something other than plain arrays") from error
    return _checked(path, data)


def _checked(path: Path, data: dict[str, NDArray]) -> dict[str, NDArray]:
    scenarios, rows = len(data["names"]), data["action"].shape[1] if data["action"].ndim == 3 else 0
    shapes = {"names": (scenarios,), "length": (scenarios,), "launch": (scenarios, 6), "action": (scenarios, rows, 2)}
    for name, shape in shapes.items():
        if data[name].shape != shape:
            raise BadFile(f"{path}: field {name!r} has shape {data[name].shape}, expected {shape}")
    for name in ("length", "launch", "action"):
        if data[name].dtype.kind not in "iuf":
            raise BadFile(f"{path}: field {name!r} holds {data[name].dtype}, expected numbers")
    length = data["length"]
    if scenarios == 0 or length.min() < 1 or length.max() > rows or (length != np.floor(length)).any():
        raise BadFile(f"{path}: every length must be a whole number from 1 to {rows}")
    played = np.arange(rows)[None, :] < length[:, None]
    if not np.isfinite(data["launch"]).all() or not np.isfinite(data["action"][played]).all():
        raise BadFile(f"{path}: launches and actions must be finite")
    return data


def replay(data: dict[str, NDArray], *, threads: int | None = None, backend: Backend = "auto") -> dict[str, NDArray]:
    """Return the inputs and every recorded field, padded with NaN or False after each scenario's end."""
    length, action = data["length"].astype(int), data["action"].astype(np.float32)
    scenarios, rows = len(length), action.shape[1]
    arena = Arena(scenarios, threads=threads, backend=backend)
    out: dict[str, NDArray] = {name: data[name] for name in INPUTS}
    for name in FIELDS:
        out[name] = np.full((scenarios, rows + 1, getattr(arena, name).shape[1]), np.nan)
    for name in FLAGS:
        out[name] = np.zeros((scenarios, rows + 1), bool)
    arena.reset(data["launch"])
    for row in range(int(length.max()) + 1):
        live = np.flatnonzero(length >= row).astype(np.int32)
        if row:
            arena.step(action[live, row - 1], live)
        for name in FIELDS + FLAGS:
            out[name][live, row] = getattr(arena, name)[live]
    return out


def replay_file(source: Path, target: Path, *, threads: int | None = None) -> dict[str, object]:
    """Replay one file into another, written whole or not at all."""
    result = replay(read_scenarios(source), threads=threads)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **result)  # pyright: ignore[reportArgumentType]
    write_whole(target, buffer.getvalue())
    steps = int(result["length"].sum())
    return {"scenarios": len(result["names"]), "control_steps": steps, "out": str(target)}
