"""A study file: TOML that names families, seeds, state sizes, teachers, grids and disturbances (docs/study-files.md).

It starts from a preset and changes what it names. Every mistake is found here, before anything runs.
"""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from blindsave.errors import BadFile, BadInput
from blindsave.evidence.plan import LARGEST_NOISE_MM, MOST_TIMES, SCHEMA, load_plan
from blindsave.evidence.schedule import noise_levels
from blindsave.policies.students.registry import family
from blindsave.policies.students.sizes import LARGEST, is_kind, with_size
from blindsave.stages.analysis_keys import ANALYSIS, read_questions
from blindsave.stages.outside import NAME, read_guests, read_plugins, read_teachers
from blindsave.stages.planned import planned_scale
from blindsave.stages.scales import SCALES, TEST_SPLITS, Scale
from blindsave.stages.site import Site
from blindsave.task.conditions import condition
from blindsave.task.mixture import Mixture, Shares
from blindsave.task.tracking import BLACKOUT_START, OBSERVATIONS
from blindsave.toml_values import (
    Check,
    Section,
    Wrong,
    ascending,
    either,
    flag,
    number,
    one_of,
    several,
    shown,
    table,
    text,
    whole,
)

LONGEST_BLACKOUT = OBSERVATIONS - BLACKOUT_START
LARGEST_SEED = 2**31 - 1
MOST_EPISODES, MOST = 10_000_000, 1_000_000_000
"""More would only be a slip of the finger, and even planning it would take forever."""
TEACHER = "teacher"
OPENS_PUBLISHED_TEST = (
    "this study opens the published principal test and noise shots: after it, nothing you change is unseen by them"
)
_LENGTHS = ascending(whole(0, LONGEST_BLACKOUT))


@dataclass(frozen=True)
class StudyFile:
    """A checked study file."""

    path: Path
    text: str
    scale: Scale
    teachers: Mapping[str, Path | None] = field(default_factory=dict)
    """Teacher files by name, None for the shipped one. Without any, the study has one teacher, the shipped one."""
    warnings: tuple[str, ...] = ()
    plugins: Mapping[str, bytes] = field(default_factory=dict)
    """Plugin files by name, as they were read."""
    guests: Mapping[tuple[str, int], bytes] = field(default_factory=dict)
    """Policy files of guests by name and training seed."""

    def __post_init__(self) -> None:
        if self.teachers and self.scale.train_teacher:
            raise BadInput(f"{self.path}: a study that names its teachers cannot train one")

    def training_its_teacher(self) -> "StudyFile":
        """The same study with a teacher trained first."""
        return replace(self, scale=replace(self.scale, train_teacher=True))

    def sites(self, folder: Path, **options: Any) -> dict[str, Site]:
        """One study per teacher: in a folder of its own where the file names teachers, else in the study's."""
        if not self.teachers:
            return {TEACHER: Site(folder, self.scale, **options)}
        return {name: Site(folder / name, self.scale, teacher=file, **options) for name, file in self.teachers.items()}


def read_study_file(path: Path) -> StudyFile:
    """Read and check a study file; the first mistake is a `BadInput` of one sentence."""
    try:
        source = path.read_text(encoding="utf-8")
        values = tomllib.loads(source)
    except OSError as error:
        raise BadFile(f"the study file {path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise BadFile(f"the study file {path} is not TOML: {error}") from error
    whole_file = Section(str(path), values)
    if values.get("schema") == SCHEMA:
        return StudyFile(
            path, source, planned_scale(load_plan(path), SCALES["paper"]), warnings=(OPENS_PUBLISHED_TEST,)
        )
    whole_file.only(KEYS)
    plugins = read_plugins(whole_file, path.parent)
    guests = read_guests(whole_file, path.parent)
    scale = replace(_scale(whole_file, path, guests), plugins=tuple(plugins))
    warnings = (OPENS_PUBLISHED_TEST,) if scale.opens_principal_test else ()
    kept = {name: content for (name, _), content in plugins.items() if content}
    return StudyFile(path, source, scale, read_teachers(whole_file, path.parent), warnings, kept, guests)


def _scale(section: Section, path: Path, guests: Mapping[tuple[str, int], bytes]) -> Scale:
    preset = SCALES[section.get("scale", one_of(tuple(SCALES))) or "quick"]
    changes = {name: value for name, check in PLAIN.items() if (value := section.get(name, check)) is not None}
    if "memory_shots" in section.values:
        changes["memory_shots"] = section.get("memory_shots", MEMORY_SHOTS)
    changes["name"] = _name(section, path)
    changes.setdefault("test_splits", ("sealed_test",))
    sizes = section.get("state_sizes", ascending(whole(1, LARGEST)))
    changes["families"] = _families(section, preset.families, sizes)
    by_name: dict[str, list[tuple[int, str]]] = {}
    for (name, seed), content in guests.items():
        if name in changes["families"]:
            raise BadInput(f"{path}, [guests]: `{name}` is the name of one of the study's families")
        by_name.setdefault(name, []).append((seed, hashlib.sha256(content).hexdigest()))
    changes["guests"] = tuple((name, tuple(files)) for name, files in by_name.items())
    changes |= _noise(section, sizes, changes["families"], preset, tuple(by_name))
    if "training_conditions" in section.values:
        changes["training_conditions"] = section.get("training_conditions", _shares)
    try:
        scale = replace(preset, **changes)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    return replace(scale, questions=read_questions(section, scale))


def _name(section: Section, path: Path) -> str:
    name = section.get("name", text) or path.stem
    if not NAME.fullmatch(name):
        raise BadInput(f"{path}: a study's `name` is letters, digits, - and _, not {shown(name)}")
    if name in SCALES:
        raise BadInput(f"{path}: the name `{name}` is taken by the preset; give the study another `name`")
    return name


def _families(section: Section, preset: tuple[str, ...], sizes: tuple[int, ...] | None) -> tuple[str, ...]:
    """Every family, kinds in every size; sizes that nobody has are a mistake."""
    named = section.get("families", several(text)) or preset
    found = _expanded(section, "families", named, sizes)
    if sizes and not any(is_kind(name) for name in named):
        raise BadInput(f"{section.where}: `state_sizes` changes nothing: no family is named without its size")
    return found


def _expanded(section: Section, key: str, named: tuple[str, ...], sizes: tuple[int, ...] | None) -> tuple[str, ...]:
    found: list[str] = []
    try:
        for name in named:
            sized = [with_size(name, size) for size in sizes] if sizes and is_kind(name) else [name]
            found += [family(one).name for one in sized]
    except BadInput as error:
        raise BadInput(f"{section.where}: `{key}`: {error}") from None
    repeated = next((name for name in found if found.count(name) > 1), None)
    if repeated is not None:
        raise BadInput(f"{section.where}: `{key}` names the family `{repeated}` twice")
    return tuple(found)


def _noise(
    section: Section, sizes: Any, families: tuple[str, ...], preset: Scale, guests: tuple[str, ...]
) -> dict[str, Any]:
    """The changes of the noise extension."""
    named = section.get("disturbances", table)
    if named is None:
        return {}
    noise = Section(f"{section.where}, [disturbances]", named)
    noise.only(DISTURBANCES, "disturbance")
    if "noise_mm" in named and "conditions" in named:
        raise BadInput(f"{noise.where}: `noise_mm` is short for `conditions`; name one of them")
    changes = {DISTURBANCES[name]: noise.get(name, check) for name, check in NOISE.items() if name in named}
    policies = noise.get("policies", either("all", "all", several(text)))
    if policies == "all":
        changes["noise_policies"] = (*families, TEACHER, *guests)
    elif policies is not None:
        students = tuple(name for name in policies if name not in (TEACHER, *guests))
        chosen = _expanded(noise, "policies", students, sizes)
        for name in chosen:
            if name not in families:
                raise BadInput(f"{noise.where}: `policies` names `{name}`, which is not among the study's families")
        changes["noise_policies"] = (*chosen, *(name for name in (TEACHER, *guests) if name in policies))
    played = changes.get("noise_policies", preset.noise_policies)
    if changes.get("conditions") and not {*families, *guests} & set(played):
        raise BadInput(f'{noise.where}: nobody is disturbed; name `policies`, or write policies = "all"')
    return changes


def _seeds(value: Any) -> tuple[int, ...]:
    """A list, or the first and how many."""
    if not isinstance(value, dict):
        return several(whole(1, LARGEST_SEED))(value)
    if value.keys() != {"first", "count"}:
        raise Wrong(f"must be a list, or {{ first = 14303, count = 50 }}, not {shown(value)}")
    count = whole(1, 10_000)(value["count"])
    first = whole(1, LARGEST_SEED - count)(value["first"])
    return tuple(range(first, first + count))


def _figures(value: Any) -> tuple[str, ...]:
    from blindsave.report.registry import figures

    return several(one_of(figures.names))(value)


MEMORY_SHOTS = either("all", None, whole(1, 225))

PLAIN: dict[str, Check] = {
    "training_seeds": _seeds,
    "base_episodes": whole(10, MOST_EPISODES),
    "shadow_episodes": whole(1, MOST_EPISODES),
    "epochs": whole(1, MOST),
    "patience": whole(1, MOST),
    "batch": whole(1, MOST),
    "learning_rate": number(1e-9, 1),
    "validation_blackouts": _LENGTHS,
    "label_validation": flag,
    "undisturbed_labels": flag,
    "test_splits": several(one_of(TEST_SPLITS)),
    "test_blackouts": _LENGTHS,
    "sealed_times": whole(1, MOST_TIMES),
    "endpoint_blackout": whole(0, LONGEST_BLACKOUT),
    "figures": _figures,
    "latency_calls": whole(1, MOST),
    "latency_blocks": whole(1, MOST),
    "train_teacher": flag,
    "teacher_steps": whole(1, MOST),
}
"""Keys that are fields of the scale, as they stand."""


def _noise_levels(value: Any) -> tuple[str, ...]:
    return noise_levels(ascending(number(0, LARGEST_NOISE_MM), empty=True)(value))


def _condition(value: Any) -> str:
    """The name of a condition, as tables will have it."""
    try:
        return condition(text(value)).name
    except BadInput as error:
        raise Wrong(f"cannot be played: {error}") from None


def _shares(value: Any) -> Shares:
    """Conditions of training: a list of equal shares, or a table of names and shares."""
    if isinstance(value, dict):
        share = number(1e-6, 1e6)
        named: Any = {_condition(name): share(amount) for name, amount in value.items()}
    else:
        named = several(_condition)(value)
    if not named:
        raise Wrong("must name at least one")
    return Mixture.of(named).shares_by_name


NOISE: dict[str, Check] = {
    "noise_mm": _noise_levels,
    "conditions": several(_condition, empty=True),
    "blackouts": _LENGTHS,
}
DISTURBANCES = {
    "conditions": "conditions",
    "noise_mm": "conditions",
    "blackouts": "noise_blackouts",
    "policies": "noise_policies",
}
"""Keys of [disturbances], and the fields of the scale they change."""

KEYS = (
    *("name", "scale", "families", "state_sizes", *PLAIN, "memory_shots", "teachers", "plugins", "guests"),
    *("disturbances", "training_conditions", *ANALYSIS),
)
"""Everything a study file may name."""
