"""Our own kinds of faults: what real trackers, tables and robots do wrong (docs/conditions.md)."""

import math
from dataclasses import replace

import numpy as np

from blindsave.arena.constants import PUCK_BOX_M, PUCK_RADIUS_M, TABLE_LENGTH_M, TABLE_WIDTH_M
from blindsave.errors import BadInput
from blindsave.task.conditions import fault
from blindsave.task.draft import Draft
from blindsave.task.interface import PUCK_PER_MM, to_robot
from blindsave.task.outcomes import TIMEOUT_STEPS
from blindsave.task.shots import RENDEZVOUS_TIME_S
from blindsave.task.tracking import BLACKOUT_START, FIELD_TERMS, OBSERVATIONS, OWN, field_error, standard_normals
from blindsave.task.tracking import hidden as visible_but


@fault
def noise(draft: Draft, sigma_mm: float, correlation: float = 0.0) -> None:
    """Gaussian error of every position, per axis; `correlation` from step to step."""
    _at_least_zero("noise", sigma_mm)
    if not 0 <= correlation < 1:
        raise BadInput(f"noise correlation must be in [0, 1), got {correlation:g}")
    trace = standard_normals(draft.unit)
    if correlation:
        trace = trace.copy()
        for t in range(1, OBSERVATIONS):
            trace[t] = correlation * trace[t - 1] + math.sqrt(1 - correlation**2) * trace[t]
    draft.offset += (sigma_mm * PUCK_PER_MM) * trace


@fault
def bias(draft: Draft, x_mm: float, y_mm: float) -> None:
    """A constant error: a badly calibrated camera."""
    draft.offset += np.array([x_mm, y_mm]) * PUCK_PER_MM


@fault
def shift(draft: Draft, size_mm: float) -> None:
    """A constant error of this size in a direction of the unit's own: the camera was moved."""
    draft.offset += _somewhere(draft.rng("shift"), size_mm)


@fault
def warp(draft: Draft, size_mm: float) -> None:
    """A smooth error field over the table, of this root mean square: lens and table calibration."""
    _at_least_zero("a warp", size_mm)
    field = draft.rng("warp").standard_normal((2, FIELD_TERMS))
    ticks = np.linspace(-1, 1, 9)
    errors = np.array([field_error(field, x, y) for x in ticks for y in ticks]) / PUCK_PER_MM
    draft.field += field * (size_mm / math.sqrt(float((errors**2).sum(axis=1).mean())))


@fault
def latency(draft: Draft, steps: int, jitter: int = 0) -> None:
    """Messages come so many control steps late, up to `jitter` more, by chance."""
    if not 0 <= steps <= OBSERVATIONS or not 0 <= jitter <= OBSERVATIONS:
        raise BadInput(f"a latency is between 0 and {OBSERVATIONS} steps, got {steps} and jitter {jitter}")
    late = steps + (draft.rng("latency").integers(0, jitter + 1, OBSERVATIONS) if jitter else 0)
    draft.report(np.maximum(OWN - late, 0))


@fault
def stale(draft: Draft) -> None:
    """While hidden, the last position is repeated; the flag tells that it is lost."""
    _repeat(draft)


@fault
def frozen(draft: Draft) -> None:
    """While hidden, the last position is repeated as if it were seen."""
    draft.visible |= _repeat(draft)


@fault
def outliers(draft: Draft, share_percent: float) -> None:
    """A share of positions is somewhere else on the table: false detections."""
    rng = draft.rng("outliers")
    wrong = rng.random(OBSERVATIONS) < _share(share_percent)
    draft.place[wrong] = _anywhere(rng, OBSERVATIONS)[wrong]


@fault
def ghost(draft: Draft, at: int) -> None:
    """One false detection, at this observation, somewhere else on the table."""
    draft.place[_observation(at)] = _anywhere(draft.rng("ghost"), 1)[0]


@fault
def glitch(draft: Draft, size_mm: float, at: int = BLACKOUT_START - 1) -> None:
    """One reading, the last before the main blackout, is this far off in a direction of the unit's own."""
    draft.offset[_observation(at)] += _somewhere(draft.rng("glitch"), size_mm)


@fault
def dropped(draft: Draft, share_percent: float) -> None:
    """A share of frames is lost, one by one."""
    draft.hide(draft.rng("dropped").random(OBSERVATIONS) < _share(share_percent))


@fault
def bursts(draft: Draft, share_percent: float, run: float = 5.0) -> None:
    """A share of frames is lost in runs of `run` frames on average (Gilbert-Elliott)."""
    share, rng = _share(share_percent), draft.rng("bursts")
    if not run >= 1 or share >= 1:
        raise BadInput(f"bursts have a mean run of at least 1 frame and a share below 100 %, got {run:g}")
    ends = 1 / run
    begins = share * ends / (1 - share)
    if begins > 1:
        raise BadInput(f"{share_percent:g} % cannot be lost in runs of {run:g} frames")
    lost, chance = rng.random() < share, rng.random(OBSERVATIONS)
    for t in range(OBSERVATIONS):
        if lost:
            draft.hide(t)
        lost = chance[t] >= ends if lost else chance[t] < begins


@fault
def hidden(draft: Draft, first: int, stop: int) -> None:
    """Observations from `first` up to `stop` are hidden as well."""
    draft.hide(~visible_but([(first, stop - first)]))


@fault
def again(draft: Draft, steps: int, gap: int = 5) -> None:
    """A second blackout of so many steps, `gap` steps after the main one: the arm itself hides the puck."""
    first = min(draft.blackout_end + gap, OBSERVATIONS)
    draft.hide(~visible_but([(first, min(steps, OBSERVATIONS - first))]))


@fault
def puck_drag(draft: Draft, factor: float) -> None:
    """The puck's drag on the table, times this factor: air pressure, wear."""
    draft.puck_drag *= factor


@fault
def hold(draft: Draft, steps: int) -> None:
    """The arm is held in its place for so many control steps more than the usual five."""
    if not 0 <= draft.locked_steps + steps <= TIMEOUT_STEPS:
        raise BadInput(f"the arm cannot be held for {steps} steps more: an episode has {TIMEOUT_STEPS}")
    draft.locked_steps += steps


@fault
def shot_speed(draft: Draft, factor: float) -> None:
    """Shots so many times as fast; members of an alias family still meet at their point after five steps."""
    if not 0 < factor <= 2:
        raise BadInput(f"shots can be up to twice as fast, and must move: got {factor:g}")
    shot = draft.shot
    vx, vy = shot.vx * factor, shot.vy * factor
    x, y = shot.x, shot.y
    if shot.rendezvous is not None:
        meet_x, meet_y = shot.rendezvous
        x, y = meet_x - vx * RENDEZVOUS_TIME_S, meet_y - vy * RENDEZVOUS_TIME_S
    slower = {"approach_time_s": shot.approach_time_s / factor, "speed": shot.speed * factor}
    draft.shot = replace(shot, x=x, y=y, vx=vx, vy=vy, **slower)


def _repeat(draft: Draft) -> np.ndarray:
    """Repeat the last seen message where none came, if there was any; returns where."""
    last = np.maximum.accumulate(np.where(draft.reported, OWN, -1))
    where = ~draft.reported & (last >= 0)
    told = draft.visible.copy()
    draft.report(np.where(where, last, OWN))
    draft.visible = told
    return where


def _anywhere(rng: np.random.Generator, count: int) -> np.ndarray:
    """Places on the table, in units of the normalised puck position."""
    reach = np.array([TABLE_LENGTH_M / 2 - PUCK_RADIUS_M, TABLE_WIDTH_M / 2 - PUCK_RADIUS_M])
    low, high = PUCK_BOX_M
    return 2 * (to_robot(rng.uniform(-reach, reach, (count, 2))) - low) / (high - low) - 1


def _somewhere(rng: np.random.Generator, size_mm: float) -> np.ndarray:
    """An error of this size in some direction."""
    angle = rng.uniform(0, 2 * math.pi)
    return size_mm * np.array([math.cos(angle), math.sin(angle)]) * PUCK_PER_MM


def _observation(number: int) -> int:
    if not 0 <= number < OBSERVATIONS:
        raise BadInput(f"observations are 0 to {OBSERVATIONS - 1}, got {number}")
    return number


def _share(percent: float) -> float:
    if not 0 <= percent <= 100:
        raise BadInput(f"a share is between 0 and 100 percent, got {percent:g}")
    return percent / 100


def _at_least_zero(what: str, size_mm: float) -> None:
    if not (math.isfinite(size_mm) and size_mm >= 0):
        raise BadInput(f"{what} must be a number of millimetres, zero or more, got {size_mm:g}")
