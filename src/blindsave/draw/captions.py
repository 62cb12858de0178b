"""Words and bars over a picture: title, timeline of what was seen and when the arm was free, outcome."""

from blindsave.draw.canvas import (
    ACCENT,
    BAD,
    GOOD,
    HIDDEN,
    INK,
    MIST,
    PAPER,
    SEEN,
    SLATE,
    Canvas,
    Colour,
    Point,
    text_width,
)
from blindsave.draw.recording import Recording

OUTCOMES = {
    "goal_conceded": "goal conceded",
    "returned": "saved: returned",
    "arrested": "saved: arrested",
    "safe_deflection": "saved: deflected wide",
    "missed_goal_without_contact": "wide, never touched",
}


def outcome_words(recording: Recording) -> str:
    """Say how it ended in words."""
    return OUTCOMES.get(recording.outcome, recording.outcome.replace("_", " "))


def outcome_colour(recording: Recording) -> Colour:
    """Green for a save, red for anything else."""
    return GOOD if recording.saved else BAD


def pill(canvas: Canvas, at: Point, words: str, size: float, fill: Colour, ink: Colour, anchor: str = "l") -> None:
    """Write words into a rounded box that starts (l), centres (m) or ends (r) at a point, vertically centred on it."""
    width, half = text_width(words, size) + 1.3 * size, 0.85 * size
    left = at[0] - {"l": 0.0, "m": width / 2, "r": width}[anchor]
    canvas.box((left, at[1] - half), (left + width, at[1] + half), fill, 0.94, radius=half)
    canvas.text((left + width / 2, at[1]), words, size, ink, "mm")


def timeline(canvas: Canvas, recording: Recording, now: float, low: Point, high: Point) -> None:
    """Draw two bars, what the tracker showed and whether the arm was free, with a mark at `now`."""
    size = (high[1] - low[1]) * 0.25
    left = low[0] + max(text_width("tracking", size), text_width("arm", size)) + size
    steps = max(len(recording) - 1, 1)

    def x(step: float) -> float:
        return left + (high[0] - left) * min(step / steps, 1.0)

    top, mid, bottom = low[1], low[1] + 1.45 * size, low[1] + 2.7 * size
    spans = recording.hidden_spans
    _bar(canvas, (x(0), top), (x(steps), top + 1.15 * size), SEEN)
    for start, end in spans:
        a, b = (x(start), top), (x(end), top + 1.15 * size)
        canvas.box(a, b, HIDDEN)
        canvas.stripes(a, b, SLATE, 0.35, pitch=max(size * 0.6, 5))
        _label(canvas, a, b, "hidden", size, PAPER)
    _bar(canvas, (x(0), mid), (x(steps), mid + 0.7 * size), ACCENT)
    canvas.box((x(0), mid), (x(recording.locked_steps), mid + 0.7 * size), SLATE)
    _label(canvas, (x(0), mid), (x(recording.locked_steps), mid + 0.7 * size), "locked", 0.6 * size, PAPER)
    if recording.first_contact > 0:
        canvas.line((x(recording.first_contact), top), (x(recording.first_contact), mid + 0.7 * size), 2.0, INK)
        room = (x(recording.first_contact), mid), (x(steps), mid + 0.7 * size)
        _label(canvas, *room, "after contact", 0.6 * size, INK)
    first = spans[0][0] if spans else steps
    _label(canvas, (x(0), top), (x(first), top + 1.15 * size), "seen", size, INK)
    canvas.text((left - 0.6 * size, top + 0.57 * size), "tracking", size, MIST, "rm")
    canvas.text((left - 0.6 * size, mid + 0.35 * size), "arm", size, MIST, "rm")
    _ticks(canvas, recording, x, bottom, size)
    canvas.line((x(now), top - 0.3 * size), (x(now), mid + 1.0 * size), max(0.16 * size, 2), PAPER)
    canvas.disc((x(now), top - 0.35 * size), 0.28 * size, PAPER)


def _bar(canvas: Canvas, low: Point, high: Point, colour: Colour) -> None:
    canvas.box(low, high, colour, radius=(high[1] - low[1]) * 0.2)


def _label(canvas: Canvas, low: Point, high: Point, words: str, size: float, ink: Colour) -> None:
    if high[0] - low[0] > text_width(words, 0.9 * size) + 0.4 * size:
        canvas.text(((low[0] + high[0]) / 2, (low[1] + high[1]) / 2), words, 0.9 * size, ink, "mm")


def _ticks(canvas: Canvas, recording: Recording, x, top: float, size: float) -> None:
    """Label the time axis every 100, 200 or 500 ms, whichever leaves room."""
    steps = len(recording) - 1
    for every in (5, 10, 25, 50):
        if (x(every) - x(0)) > 3.6 * size or every == 50:
            for step in range(0, steps + 1, every):
                milliseconds = round(1000 * recording.time_s(step))
                unit = " ms" if step == 0 else ""
                canvas.text((x(step), top), f"{milliseconds}{unit}", 0.8 * size, MIST, "ma")
            return
