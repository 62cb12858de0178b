import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blindsave.task.outcomes import Outcome, judge

MIDDLE = (0.0, 0.0, -1.0, 0.0)


def ends(puck, *, touched=False, absorbing=False, slow_steps=0, steps=10):
    return judge(puck, touched=touched, absorbing=absorbing, slow_steps=slow_steps, steps=steps)[0]


@pytest.mark.parametrize("touched", [False, True])
def test_crossing_the_goal_line_inside_the_posts_is_conceded_touched_or_not(touched):
    assert ends((-0.975, 0.125, -1.0, 0.0), touched=touched) is Outcome.GOAL_CONCEDED
    assert ends((-0.975, 0.0, 0.0, 0.0), touched=touched, slow_steps=9) is Outcome.GOAL_CONCEDED


def test_on_the_goal_line_is_not_yet_conceded():
    assert ends((-0.974, 0.0, -1.0, 0.0)) is Outcome.RUNNING


def test_returned_needs_contact_place_and_speed():
    assert ends((-0.55, 0.2, 0.15, 0.0), touched=True) is Outcome.RETURNED
    assert ends((-0.55, 0.2, 0.15, 0.0), touched=False) is Outcome.RUNNING
    assert ends((-0.5500001, 0.2, 0.15, 0.0), touched=True) is Outcome.RUNNING
    assert ends((-0.55, 0.2, 0.1499999, 0.0), touched=True) is Outcome.RUNNING


def test_three_consecutive_slow_steps_after_contact_arrest_the_puck():
    slow, fast = (-0.7, 0.0, 0.0, 0.1), (-0.7, 0.0, 0.0, 0.1001)
    count, seen = 0, []
    for puck in (slow, slow, fast, slow, slow, slow):
        outcome, count = judge(puck, touched=True, absorbing=False, slow_steps=count, steps=20)
        seen.append((outcome, count))
    assert [c for _, c in seen] == [1, 2, 0, 1, 2, 3]
    assert [o for o, _ in seen] == [Outcome.RUNNING] * 5 + [Outcome.ARRESTED]


def test_one_slow_step_suffices_where_the_arena_calls_it_over():
    assert ends((-0.7, 0.0, 0.0, 0.05), touched=True, absorbing=True) is Outcome.ARRESTED


def test_a_slow_untouched_puck_is_never_arrested():
    outcome, count = judge((0.1, 0.0, 0.0, 0.0), touched=False, absorbing=False, slow_steps=0, steps=20)
    assert (outcome, count) == (Outcome.RUNNING, 0)
    assert ends((0.1, 0.0, 0.0, 0.0), absorbing=True) is Outcome.UPSTREAM_TERMINAL_WITHOUT_CONTACT


@pytest.mark.parametrize("puck", [(-0.98, 0.2, -1.0, 0.0), (-0.3, 0.52, -1.0, 1.0), (-0.3, -0.52, -1.0, -1.0)])
def test_leaving_elsewhere_is_a_deflection_or_a_miss(puck):
    assert ends(puck, touched=True) is Outcome.SAFE_DEFLECTION
    assert ends(puck, touched=False) is Outcome.MISSED_GOAL_WITHOUT_CONTACT
    assert ends(puck, touched=False, absorbing=True) is Outcome.MISSED_GOAL_WITHOUT_CONTACT


def test_the_arena_may_end_it_and_the_clock_comes_last():
    assert ends(MIDDLE, touched=True, absorbing=True) is Outcome.UPSTREAM_TERMINAL_AFTER_CONTACT
    assert ends(MIDDLE, touched=True, absorbing=True, steps=125) is Outcome.UPSTREAM_TERMINAL_AFTER_CONTACT
    assert ends(MIDDLE, touched=True, steps=124) is Outcome.RUNNING
    assert ends(MIDDLE, touched=True, steps=125) is Outcome.TIMEOUT_AFTER_CONTACT
    assert ends(MIDDLE, touched=False, steps=125) is Outcome.TIMEOUT_WITHOUT_CONTACT


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", range(4))
def test_non_finite_state_is_a_failure_of_its_own(bad, place):
    puck = list(MIDDLE)
    puck[place] = bad
    assert ends(tuple(puck), touched=True, absorbing=True) is Outcome.NON_FINITE_STATE


def test_codes_and_labels_are_the_published_ones():
    assert [outcome.label for outcome in Outcome] == [
        "running",
        "goal_conceded",
        "returned",
        "arrested",
        "safe_deflection",
        "missed_goal_without_contact",
        "upstream_terminal_after_contact",
        "upstream_terminal_without_contact",
        "timeout_after_contact",
        "timeout_without_contact",
        "simulator_fault",
        "non_finite_state",
    ]
    assert [int(outcome) for outcome in Outcome] == list(range(12))
    assert {o.label for o in Outcome if o.saved} == {"returned", "arrested", "safe_deflection"}
    assert {o.label for o in Outcome if o.timed_out} == {"timeout_after_contact", "timeout_without_contact"}
    assert {o.label for o in Outcome if o.faulty} == {"simulator_fault", "non_finite_state"}


numbers = st.floats(-2, 2)


@given(st.tuples(numbers, numbers, numbers, numbers), st.booleans(), st.booleans(), st.integers(1, 125))
def test_an_untouched_puck_is_never_saved_and_every_episode_ends(puck, touched, absorbing, steps):
    outcome = ends(puck, touched=touched, absorbing=absorbing, steps=steps)
    assert touched or not outcome.saved
    assert outcome is not Outcome.RUNNING or (steps < 125 and not absorbing)
