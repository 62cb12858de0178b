"""A linear probe: the hidden puck's position, read from what a policy carries between steps.

    believed position (mm, table frame) = W carry + b

A policy that carries nothing is probed through its present observation: all it has. A probe is fitted by
`blindsave probe` (diagnostics/probe_fit.py) on recorded episodes and never used by the policy itself. The file is
safetensors like any policy, with the SHA-256 of the policy it belongs to and its error figures in the metadata.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blindsave.errors import BadFile
from blindsave.policies import catalog, files
from blindsave.policies.catalog import NamedPolicy
from blindsave.task.interface import OBSERVATION_FLOATS

FORMAT = "blindsave.probe"
FIELDS: dict[str, type | tuple[type, ...]] = {"policy": str, "policy_sha256": str, "figures": dict}


@dataclass(frozen=True, eq=False)
class Probe:
    """Weights (2, C) and bias (2,), millimetres per unit of what is read: see `features`."""

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    policy: str = ""
    policy_sha256: str = ""
    figures: dict[str, Any] | None = None
    """How far off it is, by hidden time; as `blindsave probe` prints it."""

    def position_mm(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Believed positions (n, 2) from features (n, C)."""
        return features.astype(np.float64) @ self.weight.astype(np.float64).T + self.bias.astype(np.float64)

    def save(self, path: Path) -> None:
        """Write the probe, whole or not at all."""
        about = {"policy": self.policy, "policy_sha256": self.policy_sha256, "figures": self.figures or {}}
        files.write_policy(path, {"weight": self.weight, "bias": self.bias}, {files.FORMAT_KEY: FORMAT, **about})


def features(carry: NDArray[np.float32], observation: NDArray[np.float32]) -> NDArray[np.float32]:
    """What a probe reads: the carry after the observation was taken in, or the observation where nothing is carried."""
    return carry if carry.shape[1] else observation


def probe_file(name: str) -> Path:
    """Where the probe of a policy lies: models/probes/teacher.safetensors, models/probes/FAMILY/SEED.safetensors."""
    return catalog.models_folder() / "probes" / f"{name}.safetensors"


def load_probe(path: Path) -> Probe:
    """Read a probe; what is wrong with the file is said by name."""
    tensors, metadata = files.read_policy(path)
    if metadata[files.FORMAT_KEY] != FORMAT:
        raise BadFile(f"{path} holds a {metadata[files.FORMAT_KEY]}, not a {FORMAT}")
    files.check_fields(path, metadata, FIELDS)
    inputs = tensors["weight"].shape[-1] if "weight" in tensors and tensors["weight"].ndim == 2 else 0
    files.check_shapes(path, tensors, {"weight": (2, inputs), "bias": (2,)})
    return Probe(tensors["weight"], tensors["bias"], metadata["policy"], metadata["policy_sha256"], metadata["figures"])


def find_probe(named: NamedPolicy) -> Probe | None:
    """The shipped probe of a policy, or None; one that was fitted to other parameters is not used."""
    path = probe_file(named.name)
    if not path.is_file():
        return None
    probe = load_probe(path)
    width = named.policy.initial(1).shape[1] or OBSERVATION_FLOATS
    return probe if probe.weight.shape[1] == width and named.sha256 == probe.policy_sha256 else None
