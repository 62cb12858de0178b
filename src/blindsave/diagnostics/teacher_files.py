"""From what a user may call a teacher to something that plays: a policy, and the agent behind it where there is one.

A teacher is what `policies.catalog.resolve` takes, a training's parameter file (`params/STEP.safetensors`), or a
folder: that of a training, whose selected checkpoint is meant, or one that holds `teacher.safetensors`. A frozen
teacher only knows its mean action. It can also be sampled where the agent that it was frozen from is at hand: in the
training's own file, as `agent.safetensors` beside the teacher, or wherever the user says.
"""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from blindsave import tensors
from blindsave.errors import BadFile, BadInput
from blindsave.policies import files
from blindsave.policies.catalog import TEACHER, resolve
from blindsave.policies.dreamer import AgentShape, Teacher
from blindsave.store import sha256_file

TEACHER_FILE, AGENT_FILE = f"{TEACHER}.safetensors", "agent.safetensors"
NAMELESS = frozenset({TEACHER, "agent", "params", "", "..", "/"})
"""Parts of a path that do not tell one teacher from another."""


@dataclass(frozen=True, eq=False)
class FoundTeacher:
    """A teacher that can play."""

    name: str
    policy: Any
    """Its deterministic step."""
    sha256: str
    """Of its file."""
    file: Path | None = None
    agent: Path | None = None
    """The file of the whole agent, from which its actions can be sampled."""
    about: dict[str, int | str] = dataclasses.field(default_factory=dict)
    """Training seed, step, and how time-outs counted in training, where the file says so."""

    @property
    def can_be_sampled(self) -> bool:
        """Whether its latents and actions can be drawn here: by JAX, from the whole agent."""
        return self.agent is not None and find_spec("jax") is not None


def find_teachers(names: Sequence[str], agents: Sequence[Path] = ()) -> list[FoundTeacher]:
    """Every teacher, under names that differ; the same one twice is a `BadInput`.

    `agents` are parameter files, or folders of trainings, to sample frozen teachers from; one that none of the teachers
    was frozen from is a `BadInput`.
    """
    if not names:
        raise BadInput("name at least one teacher, for example `teacher` or a file teacher.safetensors")
    found = _with_agents([find_teacher(name) for name in names], agents)
    first: dict[str, str] = {}
    for text, one in zip(names, found, strict=True):
        if one.sha256 in first:
            raise BadInput(f"{first[one.sha256]} and {text} are the same teacher")
        first[one.sha256] = text
    shared = {name for name, count in Counter(one.name for one in found).items() if count > 1}
    return [
        dataclasses.replace(one, name=f"{one.name}@{one.sha256[:8]}") if one.name in shared else one for one in found
    ]


def _with_agents(found: list[FoundTeacher], agents: Sequence[Path]) -> list[FoundTeacher]:
    """The same teachers, those frozen from one of the agents with it."""
    for given in agents:
        files_of = sorted((given / "params").glob("*.safetensors")) if given.is_dir() else [given]
        known = {sha256_file(file): file for file in files_of}
        matched = [_source_sha256(one.file) in known for one in found]
        if not any(matched):
            raise BadInput(f"none of the teachers was frozen from {given}")
        found = [
            dataclasses.replace(one, agent=known[_source_sha256(one.file)]) if match else one
            for one, match in zip(found, matched, strict=True)
        ]
    return found


def find_teacher(text: str) -> FoundTeacher:
    """The teacher of a name, file or folder, ready to play; anything else is refused with one sentence."""
    path = Path(text)
    if path.is_dir():
        path = _in_folder(path)
        text = str(path)
    if path.is_file() and _is_agent(path):
        return _from_agent(path)
    named = resolve(text)
    if getattr(named.policy, "privileged", False):
        raise BadInput(f"{text} reads the truth, so it is no teacher")
    name = _label(path) if path.is_file() else text
    return FoundTeacher(name, named.policy, named.sha256, named.file, _agent_of(named.file), _about(named.file))


def _in_folder(folder: Path) -> Path:
    """The file meant by a folder: a teacher in it, or the selected checkpoint of the training that it holds."""
    for file in (folder / TEACHER_FILE, folder / TEACHER / TEACHER_FILE):
        if file.is_file():
            return file
    if not (folder / "params").is_dir():
        raise BadFile(f"{folder} holds neither {TEACHER_FILE} nor a training's params/")
    from blindsave.learning.dreamer.freeze import selected_step

    return folder / "params" / f"{selected_step(folder):09d}.safetensors"


def _is_agent(path: Path) -> bool:
    """Whether a file holds a training's parameters; one that cannot be read is refused here."""
    metadata = tensors.read(path)[1] if path.suffix == ".safetensors" else {}
    return "config" in metadata and files.FORMAT_KEY not in metadata


def _from_agent(path: Path) -> FoundTeacher:
    """The deterministic teacher that freezing this checkpoint would give."""
    arrays, metadata = tensors.read(path)
    if tensors.checksum(arrays) != metadata.get("checksum"):
        raise BadFile(f"{path} is damaged: its content does not match its checksum")
    named = {name.replace("/", "."): array for name, array in arrays.items()}
    config = metadata["config"]
    try:
        fields = [field.name for field in dataclasses.fields(AgentShape)]
        shape = AgentShape(**{name: config["sizes"][name] for name in fields})
        training = config["training"]
        about = {"seed": int(training["seed"]), "step": int(metadata["step"]), "timeouts": _timeouts(training)}
    except (KeyError, TypeError, ValueError) as error:
        raise BadFile(f"{path} is not a parameter file of this agent") from error
    acting = {name: array for name, array in named.items() if name in shape.shapes}
    files.check_shapes(path, acting, shape.shapes)
    return FoundTeacher(_label(path), Teacher(acting, shape=shape), sha256_file(path), path, path, about)


def _about(file: Path | None) -> dict[str, int | str]:
    """What a frozen teacher says of its training; nothing where the policy is of another kind."""
    metadata = {} if file is None else files.read_policy(file)[1]
    found: dict[str, int | str] = {key: metadata[key] for key in ("seed", "step") if isinstance(metadata.get(key), int)}
    notes = metadata.get("notes")
    training = notes.get("training") if isinstance(notes, dict) else None
    return found | ({"timeouts": _timeouts(training)} if isinstance(training, dict) else {})


def _timeouts(training: Mapping[str, Any]) -> str:
    """Trainings that do not say how time-outs count are from before they did: there a time-out was an end."""
    return str(training.get("timeouts", "terminate"))


def _agent_of(file: Path | None) -> Path | None:
    """The agent beside a frozen teacher, if it is the one that the teacher was frozen from."""
    if file is None or not (beside := file.with_name(AGENT_FILE)).is_file():
        return None
    return beside if _source_sha256(file) == sha256_file(beside) else None


def _source_sha256(file: Path | None) -> str:
    """The hash of the parameter file that a teacher was frozen from; empty where it does not say."""
    metadata = {} if file is None or _is_agent(file) else files.read_policy(file)[1]
    notes = metadata.get("notes")
    return str(notes.get("source_sha256", "")) if isinstance(notes, dict) else ""


def _label(path: Path) -> str:
    """The last part of a path that tells teachers apart: `seed_7304` of models/seed_7304/teacher/teacher.safetensors.

    Nothing is taken from above a folder `models`: the shipped teacher is `teacher`, wherever its checkout lies. A
    parameter file has its training's name before its own, which is only a step.
    """
    above = list(reversed(path.parts[:-1]))
    above = above[: above.index("models")] if "models" in above else above
    parts = [*above, path.stem] if path.parent.name == "params" else [path.stem, *above]
    return next((part for part in parts if part not in NAMELESS), path.stem)
