"""What the page says: the outcome, the time line, the score and the key to the marks, as small pieces of HTML."""

from collections.abc import Mapping
from html import escape

from blindsave.draw.policy_looks import title
from blindsave.play.game import Game, Score
from blindsave.play.roster import Probed
from blindsave.play.stage import BELIEVED, LOST, SAVED, SEEN, UNSEEN, WANTED, Colour
from blindsave.task.outcomes import Outcome

STEP_MS = 20
BOX = "font-family:inherit;padding:0 0.9em;line-height:1.35;"
MUTED = "opacity:0.65;font-size:0.8em;"
LOUD = "font-weight:700;white-space:nowrap"
INTRO = (
    f"<div style='{BOX}padding-top:0.2em'><b>Shoot at the robot. Hide the puck. See what it remembers.</b>"
    f"<div style='{MUTED}margin-top:0.25em'>Twin shots look alike where the puck disappears, then part for opposite "
    "posts: only memory tells them apart. Or drag on the table to shoot.</div></div>"
)
SAID = {
    Outcome.GOAL_CONCEDED: "GOAL",
    Outcome.MISSED_GOAL_WITHOUT_CONTACT: "wide",
    Outcome.RETURNED: "SAVED: sent back",
    Outcome.ARRESTED: "SAVED: stopped",
    Outcome.SAFE_DEFLECTION: "SAVED: deflected",
}


def css(colour: Colour) -> str:
    """A colour for a style sheet."""
    return "rgb({},{},{})".format(*colour)


def said(outcome: Outcome) -> str:
    """An outcome in a word or two; empty while the shot runs."""
    if outcome == Outcome.RUNNING:
        return ""
    return SAID.get(outcome, outcome.label.replace("_", " "))


def colour_of(outcome: Outcome) -> Colour:
    """Green for saves, red for goals, grey for the rest."""
    if outcome.saved:
        return SAVED
    return LOST if outcome == Outcome.GOAL_CONCEDED else (148, 163, 184)


def status(game: Game) -> str:
    """One line per table: the policy and how it fares."""
    if game.take is None:
        return f"<div style='{BOX}{MUTED}'>Choose a shot and launch.</div>"
    lines = ""
    for number, table in enumerate(game.take.tables):
        outcome = game.outcome(number)
        words, colour = said(outcome), colour_of(outcome)
        if not words:
            hidden = not table.at(game.moment).visible
            words, colour = ("puck hidden", UNSEEN) if hidden else ("puck in sight", SEEN)
        ink = "#06130a" if colour in (SAVED, SEEN, UNSEEN) else "#fff"
        pill = f"background:{css(colour)};color:{ink};border-radius:0.5em;padding:0.1em 0.6em;{LOUD}"
        code = f"data-policy='{escape(table.policy.name)}' data-outcome='{outcome.label}'"
        lines += (
            f"<div style='display:flex;justify-content:space-between;align-items:center;gap:0.6em;margin:0.35em 0;"
            f"font-size:0.9em' {code}><span>{escape(table.policy.title)}</span>"
            f"<span style='{pill}'>{escape(words)}</span></div>{_probed(table.policy)}"
        )
    return f"<div class='blindsave-status' style='{BOX}'>{lines}</div>"


def _probed(policy: Probed) -> str:
    """How far the believed puck can be trusted."""
    figures = policy.probe.figures if policy.probe else None
    if not figures:
        return ""
    source = "its memory" if figures.get("reads") == "carry" else "its observation alone"
    error = f"{figures['mean_mm']:.0f} mm off on average"
    return f"<div style='{MUTED}margin:-0.3em 0 0.3em'>believed puck, from {source}: {error}</div>"


def timeline(game: Game) -> str:
    """A bar from launch to end: seen, hidden, and where we are."""
    if game.take is None:
        return ""
    visible = [frame.visible for frame in max((t.frames for t in game.take.tables), key=len)]
    shown = game.take.tables[0].at(game.moment)
    length = max(len(visible), 60)
    conditions = game.take.conditions
    start, stop = conditions.blackout_start, min(conditions.blackout_start + conditions.blackout_steps, length)
    left, width = 100 * start / length, 100 * max(0, stop - start) / length
    here, end = 100 * game.moment / length, 100 * min(1.0, len(visible) / length)
    state = "in sight" if shown.visible else f"hidden for {STEP_MS * (int(game.moment) - start + 1)} ms"
    state = "the end" if game.finished else state
    bar = "position:absolute;top:0;bottom:0;"
    return (
        f"<div style='{BOX}'><div style='position:relative;height:0.8em;border-radius:0.4em;overflow:hidden;"
        f"background:rgba(128,128,128,0.25);margin-top:0.2em'>"
        f"<div style='{bar}left:0;width:{end:.2f}%;background:{css(SEEN)};opacity:0.55'></div>"
        f"<div style='{bar}left:{left:.2f}%;width:{width:.2f}%;background:{css(UNSEEN)}'></div>"
        f"<div style='{bar}left:{here:.2f}%;width:3px;background:#fff'></div></div>"
        f"<div style='{MUTED}display:flex;justify-content:space-between'><span>{STEP_MS * game.moment:.0f} ms</span>"
        f"<span>{state}</span></div></div>"
    )


def scores(found: Mapping[str, Score]) -> str:
    """Saves of every policy in this game."""
    if not found:
        return f"<div style='{BOX}{MUTED}'>No shots yet.</div>"
    rows = "".join(
        f"<tr><td>{escape(title(name))}</td><td style='text-align:right;white-space:nowrap'><b>{score.saves}</b>"
        f" of {score.shots}</td></tr>"
        for name, score in found.items()
    )
    return f"<div style='{BOX}'><table style='width:100%'>{rows}</table></div>"


def key() -> str:
    """What the marks on the table mean."""
    marks = (
        (SEEN, "what the policy is shown"),
        (UNSEEN, "true puck while hidden: the policy is shown nothing"),
        (BELIEVED, "where its memory has the puck (linear probe)"),
        (WANTED, "where it wants the mallet"),
    )
    rows = "".join(
        f"<div style='display:flex;gap:0.6em;align-items:baseline'><span style='flex:none;width:0.7em;height:0.7em;"
        f"border-radius:50%;background:{css(colour)}'></span><span>{text}</span></div>"
        for colour, text in marks
    )
    return f"<div style='{BOX}font-size:0.85em'>{rows}</div>"


def note(text: str) -> str:
    """A sentence for the visitor; empty text says nothing."""
    return f"<div style='{BOX}color:{css(LOST)};font-size:0.85em'>{escape(text)}</div>" if text else ""
