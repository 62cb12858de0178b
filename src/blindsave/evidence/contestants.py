"""Who plays: a policy with the name and training seed its rows carry, and a fingerprint of what it is."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blindsave.errors import BadFile
from blindsave.store import digest, sha256_file


@dataclass(frozen=True)
class Contestant:
    """A policy ready to be evaluated; `sha256` changes whenever its behaviour may."""

    policy: str
    training_seed: int
    player: Any
    sha256: str

    @property
    def name(self) -> str:
        """What messages call it: FAMILY/SEED, or the bare name where there is no seed."""
        return f"{self.policy}/{self.training_seed}" if self.training_seed else self.policy


def contestant(name: str | Path) -> Contestant:
    """Resolve what a user may name: `teacher`, a scripted name, FAMILY/SEED of a shipped student, or a file."""
    from blindsave.policies import catalog, load
    from blindsave.policies.scripted import SCRIPTED

    text = str(name)
    if text in SCRIPTED:
        return Contestant(text, 0, SCRIPTED[text], digest({"scripted": text}))
    if Path(text).is_file():
        return from_file(Path(text))
    family, _, seed = text.partition("/")
    shipped = catalog.student_file(family, seed)
    if seed and shipped.is_file():
        return from_file(shipped)
    player = load(text)
    beside = catalog.models_folder() / text / f"{text}.safetensors"
    sha256 = sha256_file(beside) if beside.is_file() else digest({"named": text})
    return Contestant(text, 0, player, sha256)


def from_file(path: Path, policy: str | None = None, training_seed: int | None = None) -> Contestant:
    """A policy file under its own name; naming another family or seed than the file's own is a `BadFile`."""
    from blindsave.policies import load_file

    player = load_file(path)
    family, _, seed = player.name.partition("/")
    found = (family, int(seed) if seed.isdigit() else 0)
    wanted = (found[0] if policy is None else policy, found[1] if training_seed is None else training_seed)
    if wanted != found:
        raise BadFile(f"{path} holds {player.name}, not {wanted[0]}/{wanted[1]}")
    return Contestant(*found, player, sha256_file(path))
