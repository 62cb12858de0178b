import pytest

from blindsave.task.outcomes import Outcome
from blindsave.task.reward import reward

SAVES = (Outcome.RETURNED, Outcome.ARRESTED, Outcome.SAFE_DEFLECTION)


@pytest.mark.parametrize("outcome", Outcome)
def test_saves_earn_one_concessions_cost_one_all_else_is_nothing(outcome):
    expected = 1.0 if outcome in SAVES else -1.0 if outcome is Outcome.GOAL_CONCEDED else 0.0
    assert reward(outcome, first_contact=False) == expected
    assert reward(outcome, first_contact=True) == 0.2 + expected
