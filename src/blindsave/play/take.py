"""One shot at one or two goalkeepers, played to its end: everything the page shows, as plain JSON values.

A take runs the batch that `blindsave evaluate` runs, so the same policy, shot and conditions end in the same outcome.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from blindsave.diagnostics.record import record
from blindsave.draw.recording import Recording
from blindsave.errors import BadInput
from blindsave.play import aim
from blindsave.play.faults import Fault
from blindsave.play.roster import Roster
from blindsave.task import shots
from blindsave.task.conditions import Condition
from blindsave.task.episode import Episode
from blindsave.task.outcomes import Outcome
from blindsave.task.remember import HOLDS, milliseconds, remembering
from blindsave.task.shots import Shot
from blindsave.task.tracking import BLACKOUT_START, OBSERVATIONS

SPLITS = ("calibration", "train", "validation")
"""Splits whose shots may be played; the tests stay closed."""
TWINS = "validation"
FIRST_SHOT = "validation:alias:038:near_post_right"
"""It shows what memory is for, as `blindsave render` does: the shipped student without one concedes it."""
FIRST_PAIR = FIRST_SHOT.rpartition(":")[0]
HIDDEN_STEPS = 20
MOST_HIDDEN = OBSERVATIONS - BLACKOUT_START
MOST_POLICIES = 2
DIAL = ("is free after 100 ms", *(f"is held {milliseconds(hold)} ms longer, slow shots" for hold in HOLDS))
"""The dial of the memory task, in words; its first stop is the paper's task."""
SAVES = {Outcome.RETURNED: "sent back", Outcome.ARRESTED: "stopped", Outcome.SAFE_DEFLECTION: "turned aside"}


@functools.cache
def families() -> tuple[str, ...]:
    """The twin pairs on offer, by short name."""
    found = {shot.alias_family for shot in shots.shots(TWINS) if shot.alias_family}
    return tuple(sorted(family.partition(":")[2] for family in found))


def take(roster: Roster, stops: Sequence[Fault], wish: Mapping[str, Any]) -> dict[str, Any]:
    """Play what a page asks for; anything that cannot be played is a `BadInput`."""
    keys = _listed(wish, "goalkeepers", str, MOST_POLICIES)
    hidden, fault = _whole(wish, "hidden", MOST_HIDDEN), stops[_whole(wish, "fault", len(stops) - 1)]
    shot, hold = shot_of(wish.get("shot")), _whole({"hold": 0, **wish}, "hold", len(DIAL) - 1)
    under = fault.condition
    if hold:
        under = Condition((*remembering(HOLDS[hold - 1]).faults, *under.faults))
    episode = under.episode(shot, hidden)
    return {
        "shot": {"id": shot.id, "x": shot.x, "y": shot.y, "target_y": shot.target_y, "speed": shot.speed},
        "hidden": hidden,
        "fault": fault.label,
        "hold": DIAL[hold],
        "tables": [_table(roster, key, episode) for key in keys],
    }


def shot_of(wish: Any) -> Shot:
    """The shot a page names by its id, or aims itself."""
    if isinstance(wish, str):
        shot = shots.find(wish[:100])
        if shot.id.split(":")[1] not in SPLITS:
            raise BadInput(f"shots of {', '.join(SPLITS)} can be played; the tests stay closed")
        return shot
    if not isinstance(wish, list) or len(wish) != 4 or not all(_is_number(value) for value in wish):
        raise BadInput("a shot is an id, or where from (x, y), where to and how fast")
    return aim.own_shot(*wish)


def _table(roster: Roster, key: str, episode: Episode) -> dict[str, Any]:
    player = roster.player(key)
    recording = record(player.policy, episode, player.probe)
    outcome = Outcome[recording.outcome.upper()]
    verdict, words = judged(outcome, episode.shot)
    return {
        **player.words,
        "outcome": outcome.label,
        "verdict": verdict,
        "words": words,
        "qpos": np.round(recording.qpos, 4).tolist(),
        "visible": recording.visible.astype(int).tolist(),
        "seen": _places(recording.seen),
        "wanted": _places(_wanted(recording)),
        "believed": None if recording.believed is None else _places(recording.believed),
    }


def judged(outcome: Outcome, shot: Shot) -> tuple[str, str]:
    """Whom a shot counts for and how it is said: "goal" and "loose" for the visitor, "save", or "nobody".

    As in the study, a shot at the goal that was touched but neither sent back, stopped nor turned aside is not saved.
    """
    if outcome == Outcome.GOAL_CONCEDED:
        return "goal", "goal"
    if outcome.faulty:
        return "nobody", "failed"
    if not aim.at_the_goal(shot):
        return "nobody", "wide"
    if outcome in SAVES:
        return "save", f"saved: {SAVES[outcome]}"
    if outcome in (Outcome.TIMEOUT_AFTER_CONTACT, Outcome.UPSTREAM_TERMINAL_AFTER_CONTACT):
        return "loose", "not held"
    return "nobody", "too slow" if outcome.timed_out else "wide"


def _wanted(recording: Recording) -> np.ndarray:
    """Where the policy wanted the mallet when each frame came about; nothing while the mallet was locked."""
    target = np.full((len(recording), 2), np.nan)
    if recording.target is not None:
        first = recording.locked_steps + 1
        target[first:] = recording.target[first - 1 : len(recording) - 1]
    return target


def _places(points: np.ndarray) -> list[list[float] | None]:
    """Positions to a tenth of a millimetre; None where there is none."""
    return [[round(x, 4), round(y, 4)] if math.isfinite(x + y) else None for x, y in points.tolist()]


def _listed(wish: Mapping[str, Any], name: str, kind: type, most: int) -> Sequence[Any]:
    found = wish.get(name)
    if not isinstance(found, list) or not 1 <= len(found) <= most or not all(isinstance(one, kind) for one in found):
        raise BadInput(f"a shot is played by one or {most} {name}")
    return found


def _whole(wish: Mapping[str, Any], name: str, most: int) -> int:
    found = wish.get(name)
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found <= most:
        raise BadInput(f"`{name}` must be a whole number from 0 to {most}")
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e6
