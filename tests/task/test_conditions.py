"""Names that parse back, and kinds that anybody can register."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindsave.errors import BadInput
from blindsave.task import conditions
from blindsave.task.conditions import CLEAN, Condition, Fault, condition, fault, grid, kinds
from blindsave.task.draft import Draft
from blindsave.task.shots import shots
from blindsave.task.tracking import blackout

SHOT = shots("validation")[0]
NAMES = [
    "clean",
    "noise_5mm",
    "noise_2.5mm_correlation_0.9",
    "bias_1mm_-2mm",
    "hidden_30_35",
    "latency_2_jitter_1",
    "latency_2+outliers_3percent",
    "puck_drag_1.5+hold_4",
    "stale",
    "puck_drag_0.12345678",
    "puck_drag_0.30000000000000004",
    "puck_drag_1234567",
    "noise_1e-05mm",
    "bias_1e22mm_-2mm",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_parses_back(name):
    assert condition(name).name == name
    assert condition(condition(name).name) == condition(name)


@given(st.data())
def test_every_value_of_every_kind_parses_back_with_all_its_digits(data):
    kind = data.draw(st.sampled_from(sorted(kinds().values(), key=lambda one: one.name)))
    whole, real = st.integers(-(10**300), 10**300), st.floats(allow_nan=False, allow_infinity=False)
    values = tuple(data.draw(whole if parameter.whole else real) for parameter in kind.parameters)
    made = Fault(kind.name, values)
    assert conditions._parse(made.name) == made
    assert conditions._parse(made.name).name == made.name and "+" not in made.name


@given(st.floats(0.01, 2), st.floats(0, 50))
def test_two_faults_that_differ_in_the_last_digit_are_two_conditions(drag, sigma_mm):
    made = Condition((Fault("puck_drag", (drag,)), Fault("noise", (sigma_mm, 0.0))))
    assert condition(made.name) == made and condition(made.name).name == made.name
    nearly = Condition((Fault("puck_drag", (float(np.nextafter(drag, 9)),)), made.faults[1]))
    assert nearly.name != made.name


def test_minus_nothing_is_nothing():
    assert condition("bias_-0mm_1mm").name == condition("bias_0mm_1mm").name == "bias_0mm_1mm"


def test_units_may_be_left_out_and_usual_values_are_not_said():
    assert condition("noise_5").name == "noise_5mm"
    assert condition("noise_5mm_correlation_0").name == "noise_5mm"
    assert condition("bursts_20_run_5").name == "bursts_20percent"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("fog", "there is no condition `fog`"),
        ("", "there is no condition"),
        ("noise", r"`noise` is written noise_SIGMAmm\[_correlation_X\]"),
        ("noise_5mm_3", "is no condition"),
        ("noise_fivemm", "is no condition"),
        ("noise_nanmm", "is no condition"),
        ("noise_5mm_correlation", "is no condition"),
        ("latency_1.5", "is no condition"),
        ("noise_-5mm", "zero or more"),
        ("noise_5mm_correlation_1", r"in \[0, 1\)"),
        ("noise_5mm+fog", "there is no condition `fog`"),
        ("hidden_5_200", "does not fit"),
        ("hold_200", "cannot be held"),
        ("bursts_99percent_run_1", "cannot be lost"),
    ],
)
def test_a_condition_that_cannot_be_played_is_one_sentence(name, says):
    with pytest.raises(BadInput, match=says):
        condition(name)


def test_clean_is_the_plain_blackout():
    episode = CLEAN.episode(SHOT, 20)
    assert episode.tracking is blackout(20)
    assert (episode.locked_steps, episode.puck_drag) == (5, 1.0)


def test_every_kind_says_what_it_does():
    assert all(kind.about.endswith(".") and kind.usage.startswith(name) for name, kind in kinds().items())


@pytest.fixture
def flicker():
    @fault
    def flicker(draft: Draft, every: int) -> None:
        """Every n-th frame is lost."""
        draft.hide(slice(0, None, every))

    yield flicker
    del conditions._KINDS["flicker"]


def test_a_new_kind_is_one_function(flicker):
    episode = condition("flicker_50+noise_1mm").episode(SHOT)
    assert np.flatnonzero(~episode.tracking.visible).tolist() == [0, 50, 100]
    assert episode.tracking.offset is not None


def test_a_kind_from_outside_is_bound_by_its_source(flicker):
    (said,) = condition("flicker_50").describe()
    assert said["kind"] == "flicker" and said["every"] == 50 and len(said["source_sha256"]) == 64
    assert condition("noise_5mm").describe() == [{"kind": "noise", "sigma_mm": 5.0, "correlation": 0.0}]


def test_a_kind_of_a_name_that_is_taken_is_refused():
    def noise(draft: Draft) -> None:
        pass

    with pytest.raises(BadInput, match="already is a fault `noise`"):
        fault(noise)


def test_a_fault_that_breaks_is_one_sentence():
    @fault
    def broken(draft: Draft) -> None:
        raise RuntimeError("no")

    try:
        with pytest.raises(BadInput, match="the fault `broken` failed: RuntimeError: no"):
            condition("broken")
    finally:
        del conditions._KINDS["broken"]


def test_chance_belongs_to_the_unit_or_to_the_trace():
    noisy = condition("noise_5mm")
    first, again = (noisy.episode(SHOT).tracking.offset for _ in range(2))
    other = noisy.episode(SHOT, trace="1").tracking.offset
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_grid_is_shot_major():
    episodes = grid(shots("validation")[:2], (0, 20))
    assert [(e.shot.id, int((~e.tracking.visible).sum())) for e in episodes] == [
        (shot.id, length) for shot in shots("validation")[:2] for length in (0, 20)
    ]
    assert isinstance(CLEAN, Condition)
