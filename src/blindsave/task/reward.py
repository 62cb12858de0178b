"""The teacher's reward: touch the puck once, then keep it out. No shaping, no penalties."""

from blindsave.task.outcomes import Outcome

FIRST_CONTACT = 0.2
SAVED = 1.0
CONCEDED = -1.0


def reward(outcome: Outcome, *, first_contact: bool) -> float:
    """Reward of one control step; `first_contact` is true on the step of the episode's first touch."""
    touch = FIRST_CONTACT if first_contact else 0.0
    if outcome.saved:
        return touch + SAVED
    if outcome is Outcome.GOAL_CONCEDED:
        return touch + CONCEDED
    return touch
