"""The three sizes of a study: the paper's, and two smaller ones as changes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from blindsave.errors import BadInput
from blindsave.evidence.schedule import noise_levels
from blindsave.policies.students.registry import PAPER_FAMILIES, family
from blindsave.stages.questions import Questions
from blindsave.task.conditions import CLEAN_NAME, condition
from blindsave.task.mixture import Shares

TRAINING_SEEDS = (14303, 14304, 14305, 14306, 14307)
TEST_SPLITS = ("principal_test", "sealed_test")
ENDPOINT = 20


@dataclass(frozen=True)
class Scale:
    """Everything that decides what a study finds; the defaults are the paper's."""

    name: str = "paper"
    families: tuple[str, ...] = PAPER_FAMILIES
    training_seeds: tuple[int, ...] = TRAINING_SEEDS
    base_episodes: int = 20_000
    """Teacher episodes, the same for all families."""
    shadow_episodes: int = 20_000
    """Episodes per family that its collectors play and the teacher labels."""
    epochs: int = 100
    patience: int = 10
    batch: int = 128
    learning_rate: float = 3e-4
    memory_shots: int | None = None
    """Shots of each split in the memory tests; None takes all 225."""
    validation_blackouts: tuple[int, ...] = (0, 5, 10, 15, 20)
    label_validation: bool = True
    """Whether the teacher also says how far every action on validation shots is from its own."""
    test_splits: tuple[str, ...] = TEST_SPLITS
    """Which tests the release opens. Of the presets only the paper scale opens the principal test."""
    test_blackouts: tuple[int, ...] = (0, 5, 10, 15, 20, 25)
    sealed_times: int = 1
    """How many times as large as the paper's 225 shots the sealed test is."""
    guests: tuple[tuple[str, tuple[tuple[int, str], ...]], ...] = ()
    """Policies that this study does not train but plays: names, and for each the training seeds with SHA-256."""
    conditions: tuple[str, ...] = (CLEAN_NAME, "noise_1mm", "noise_5mm")
    """What is played, beside blackouts, by the policies of the noise extension."""
    noise_blackouts: tuple[int, ...] = (0, 20)
    noise_policies: tuple[str, ...] = ("structured_k0", "structured_k4", "gru_n64", "teacher")
    latency_calls: int = 10_000
    latency_blocks: int = 10
    training_conditions: Shares = ()
    """What happens in the episodes that students learn from, as (name, share); nothing by default."""
    undisturbed_labels: bool = False
    """Whether the teacher labels these episodes as if nothing had happened in them."""
    train_teacher: bool = False
    """Whether the study trains a teacher of its own first."""
    teacher_steps: int = 1_000_000
    """Environment steps of that teacher."""
    endpoint_blackout: int | None = None
    """Hidden steps at which the study decides; the paper's 20, or the longest, where nothing is said."""
    figures: tuple[str, ...] = ()
    """Which figures the report shows; all where none are named."""
    plugins: tuple[tuple[str, str], ...] = ()
    """Files of one's own that register cores, faults or policies, with their SHA-256; modules with none."""
    questions: Questions | None = None
    """What a study file says about the analysis; None asks what the published plan asks, or the usual."""

    def __post_init__(self) -> None:
        for name in self.families:
            family(name)
        for name in (*self.conditions, *(name for name, _ in self.training_conditions)):
            condition(name)
        if self.endpoint_blackout not in (None, *self.test_blackouts):
            raise BadInput(f"the endpoint of {self.endpoint_blackout} hidden steps is not among `test_blackouts`")
        if not self.families or not self.training_seeds:
            raise BadInput("a study needs at least one family and one training seed")
        collectors = len(self.training_seeds)
        if self.shadow_episodes % collectors:
            more = f"{(self.shadow_episodes // collectors + 1) * collectors} can"
            share = f"{self.shadow_episodes} shadow episodes cannot be shared equally by {collectors} collectors"
            raise BadInput(f"{share} (one per training seed); {more}")

    @property
    def opens_principal_test(self) -> bool:
        """Whether this study plays the published test."""
        return "principal_test" in self.test_splits

    @property
    def endpoint(self) -> int:
        """Hidden steps at which the study decides: the paper's, or the longest where they are not among the tests'."""
        if self.endpoint_blackout is not None:
            return self.endpoint_blackout
        return ENDPOINT if ENDPOINT in self.test_blackouts else max(self.test_blackouts)

    @property
    def noisy(self) -> tuple[str, ...]:
        """The policies of the noise extension that take part in this study."""
        return tuple(name for name in self.noise_policies if name in (*self.families, "teacher", *dict(self.guests)))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        said = {name: _lists(v) for name, v in asdict(self).items() if name != "questions"}
        return said if self.questions is None else said | {"questions": self.questions.to_dict()}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> "Scale":
        """What `to_dict` wrote."""
        values: dict[str, Any] = {name: _tuples(v) for name, v in found.items()}
        if "noise_mm" in values:  # what a folder of an earlier version says
            values["conditions"] = noise_levels(values.pop("noise_mm"))
        if "questions" in values:
            values["questions"] = Questions.from_dict(values["questions"])
        return cls(**values)


def _lists(value: Any) -> Any:
    """Tuples, and tuples in tuples, as the lists of JSON."""
    return [_lists(one) for one in value] if isinstance(value, list | tuple) else value


def _tuples(value: Any) -> Any:
    """Lists, and lists in lists, as tuples."""
    return tuple(_tuples(one) for one in value) if isinstance(value, list | tuple) else value


PAPER = Scale()

QUICK = replace(
    PAPER,
    name="quick",
    families=("feed_forward", "finite_stack_10", "structured_k0", "gru_n64"),
    training_seeds=TRAINING_SEEDS[:2],
    base_episodes=2000,
    shadow_episodes=2000,
    epochs=60,
    batch=32,
    learning_rate=1.5e-3,
    memory_shots=75,
    validation_blackouts=(0, 10, 20),
    label_validation=False,
    test_splits=("sealed_test",),
    test_blackouts=(0, 5, 10, 15, 20),
    conditions=(CLEAN_NAME, "noise_5mm"),
    noise_blackouts=(20,),
    latency_calls=1000,
    latency_blocks=5,
)

SMOKE = replace(
    QUICK,
    name="smoke",
    families=("feed_forward", "structured_k0"),
    training_seeds=TRAINING_SEEDS[:1],
    base_episodes=300,
    shadow_episodes=300,
    epochs=60,
    batch=16,
    learning_rate=2e-3,
    memory_shots=30,
    validation_blackouts=(20,),
    test_blackouts=(0, 20),
    noise_policies=("structured_k0",),
    latency_calls=200,
    latency_blocks=3,
)

SCALES = {scale.name: scale for scale in (SMOKE, QUICK, PAPER)}


def scale_named(name: str, families: Sequence[str] = ()) -> Scale:
    """A preset, with other families if any are named."""
    if name not in SCALES:
        raise BadInput(f"there is no scale `{name}`; scales: {', '.join(SCALES)}")
    return replace(SCALES[name], families=tuple(families)) if families else SCALES[name]
