"""Pictures of an episode: frames, strips of moments, films; in 3-D where there is OpenGL, from above where not."""

import functools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from blindsave.draw import captions, opengl, topdown
from blindsave.draw.canvas import BELIEVED, HIDDEN, MIST, NIGHT, PAPER, SEEN, Canvas
from blindsave.draw.recording import Recording
from blindsave.errors import BadInput

View = Literal["3d", "top"]
Image = NDArray[np.uint8]
PAUSE_S = 1.5  # on the outcome, at the end of a film
FOOTER = 0.14  # share of a frame's height that the timeline takes


@functools.cache
def _say_once(line: str) -> None:
    print(line, file=sys.stderr)


def usable_view(wanted: View) -> View:
    """Return the view that can be drawn here; a missing OpenGL library is said in one line, once."""
    if wanted not in ("3d", "top"):
        raise BadInput(f"view must be 3d or top, got '{wanted}'")
    if wanted == "3d" and not opengl.available():
        _say_once("blindsave: no working OpenGL library (EGL or OSMesa), so pictures show the table from above")
        return "top"
    return wanted


def render_qpos(qpos: NDArray[np.float64], width: int = 640, height: int = 480, camera: str = "shot") -> Image:
    """Draw one configuration (12 numbers) without words: uint8 (height, width, 3)."""
    if np.shape(qpos) != (12,) or not np.isfinite(qpos).all():
        raise BadInput(f"a configuration is 12 finite numbers, got shape {np.shape(qpos)}")
    if usable_view("3d") == "3d" and camera != "top":
        return opengl.stage(width, height).draw(qpos, camera)
    return topdown.table_image(np.asarray(qpos), width, height)


@dataclass(frozen=True)
class Style:
    """How frames are drawn."""

    width: int = 960
    height: int = 640
    view: View = "3d"
    camera: str = "shot"
    smooth: bool = False
    """Draw finely at twice the size and shrink: twenty times the work."""


def _shrink(image: Image) -> Image:
    height, width = image.shape[0] // 2, image.shape[1] // 2
    return np.rint(image.reshape(height, 2, width, 2, 3).mean((1, 3))).astype(np.uint8)


def _marks(recording: Recording, until: int) -> list[opengl.Mark]:
    """One dot per observation so far: full where the puck was seen, hollow where it was not."""
    marks = []
    for point, seen in zip(recording.shown[: until + 1], recording.visible[: until + 1], strict=True):
        at = (float(point[0]), float(point[1]))
        marks.append(opengl.Mark(at, 0.0115, SEEN if seen else HIDDEN, 1.0))
        if not seen:
            marks.append(opengl.Mark(at, 0.0070, (0.09, 0.17, 0.28), 1.0, 0.0017))
    for x, y in recording.beliefs(until):
        marks.append(opengl.Mark((float(x), float(y)), 0.0095, BELIEVED, 1.0))
    return marks


def _scene_3d(recording: Recording, moment: float, style: Style, width: int, height: int) -> Image:
    step, factor = int(moment), 2 if style.smooth else 1
    marks, hidden = _marks(recording, step), not recording.visible[step]
    stage = opengl.stage(width * factor, height * factor, fine=style.smooth)
    image = stage.draw(recording.at(moment), style.camera, marks, ghost=bool(hidden))
    return _shrink(image) if style.smooth else image


def _scene_top(recording: Recording, moment: float, width: int, height: int) -> Image:
    step, qpos = int(moment), recording.at(moment)
    canvas = Canvas(width, height, NIGHT)
    plan = topdown.Plan.fit(canvas, topdown.WITH_WORDS)
    topdown.draw_table(plan)
    topdown.draw_trail(plan, recording.shown[: step + 1], recording.visible[: step + 1])
    topdown.draw_beliefs(plan, recording.beliefs(step))
    topdown.draw_puck(plan, qpos[9:11], hidden=not recording.visible[step])
    topdown.draw_arm(plan, qpos)
    if recording.target is not None and step >= recording.locked_steps:
        topdown.draw_target(plan, recording.target[step])
    return canvas.image()


def scene_image(recording: Recording, moment: float, style: Style, width: int, height: int) -> Image:
    """Draw the table at a moment, with the puck's path so far but no words."""
    if usable_view(style.view) == "3d":
        return _scene_3d(recording, moment, style, width, height)
    return _scene_top(recording, moment, width, height)


def frame(recording: Recording, moment: float, style: Style | None = None) -> Image:
    """Draw one whole frame: the table at a (possibly fractional) step, title, timeline, and the outcome at the end."""
    style = style or Style()
    size = style.height / 34
    head, foot, margin = round(2.4 * size), round(FOOTER * style.height), 1.2 * size
    canvas = Canvas(style.width, style.height, NIGHT)
    canvas.paste(scene_image(recording, moment, style, style.width, style.height - head - foot), (0, head))
    canvas.text((margin, head / 2), recording.title, size, PAPER, "lm")
    canvas.text((style.width - margin, head / 2), f"{1000 * recording.time_s(moment):.0f} ms", size, MIST, "rm")
    _badge(canvas, recording, moment, (style.width - margin, head + 1.8 * size), size)
    low, high = (margin, style.height - 0.84 * foot), (style.width - 2 * margin, style.height - 0.06 * foot)
    captions.timeline(canvas, recording, moment, low, high)
    return canvas.image()


def _badge(canvas: Canvas, recording: Recording, moment: float, at: tuple[float, float], size: float) -> None:
    """Say in the corner what matters now: how it ended, or that the puck is hidden."""
    if moment >= len(recording) - 1 and recording.outcome:
        words, colour = captions.outcome_words(recording), captions.outcome_colour(recording)
        captions.pill(canvas, at, words, 1.25 * size, colour, PAPER, "r")
    elif not recording.visible[int(moment)]:
        captions.pill(canvas, at, "tracking lost", size, HIDDEN, PAPER, "r")


def film(recording: Recording, style: Style | None = None, fps: int = 25, slower: float = 4.0) -> Iterator[Image]:
    """Yield the frames of a film, `slower` times slower than life, with a pause on the outcome."""
    return filmed(lambda moment: frame(recording, moment, style), len(recording), fps, slower)


@dataclass(frozen=True, eq=False)
class Solo:
    """One recording, to be drawn as a still or as a film; `duel.Duel` is the same for two."""

    recording: Recording

    def __len__(self) -> int:
        return len(self.recording)

    def still(self, style: Style) -> Image:
        """Draw four moments."""
        return strip(self.recording, style)

    def film(self, style: Style, fps: int = 25, slower: float = 4.0) -> Iterator[Image]:
        """Yield the frames of a film."""
        return film(self.recording, style, fps, slower)


def filmed(draw: Callable[[float], Image], steps: int, fps: int, slower: float) -> Iterator[Image]:
    """Yield the frames of a film of anything that can be drawn at a moment and has so many steps."""
    moving = film_length(steps, fps, slower) - round(PAUSE_S * fps)
    for k in range(moving):
        yield draw(k * 50 / fps / slower)
    ending = draw(steps - 1)
    for _ in range(round(PAUSE_S * fps)):
        yield ending


def film_length(steps: int, fps: int, slower: float) -> int:
    """Count the frames of a film."""
    if not 1 <= fps <= 60 or not 0.1 <= slower <= 50:
        raise BadInput(f"fps must be 1 to 60 and the slow-down 0.1 to 50, got {fps} and {slower}")
    return int(np.ceil((steps - 1) * fps * slower / 50)) + round(PAUSE_S * fps)


def moments(recording: Recording) -> list[tuple[int, str]]:
    """Choose the four steps that tell the story, with what happens at each."""
    last, spans = len(recording) - 1, recording.hidden_spans
    told = {0: "launch"}
    if spans:
        told[spans[0][0]] = "tracking lost"
        if spans[0][1] <= last:
            told[spans[0][1]] = "tracking back"
    if recording.first_contact > 0:
        told.setdefault(recording.first_contact, "contact")
    told[last] = captions.outcome_words(recording) or "end"
    for share in (0.5, 0.75, 0.25):
        if len(told) < 4:
            told.setdefault(round(share * last), "on its way")
    steps = sorted(told)
    if len(steps) > 4:
        steps = [step for step in steps if told[step] != "tracking back"][:4]
    return [(step, told[step]) for step in steps]


def strip(recording: Recording, style: Style | None = None) -> Image:
    """Draw four moments of an episode, two by two, over one timeline."""
    style = style or Style(width=1200, height=900, smooth=True)
    size, gap = style.height / 42, 4
    head, foot = round(2.2 * size), round(5.2 * size)
    width, height = (style.width - gap) // 2, (style.height - head - foot - gap) // 2
    canvas = Canvas(style.width, style.height, NIGHT)
    canvas.text((size, head / 2), recording.title, size, PAPER, "lm")
    chosen = moments(recording)
    for k, (step, words) in enumerate(chosen):
        x, y = (k % 2) * (width + gap), head + (k // 2) * (height + gap)
        canvas.paste(scene_image(recording, step, style, width, height), (x, y))
        final = step == len(recording) - 1 and bool(recording.outcome)
        fill = captions.outcome_colour(recording) if final else (NIGHT if recording.visible[step] else HIDDEN)
        milliseconds = round(1000 * recording.time_s(step))
        place = (x + width - 0.8 * size, y + 1.4 * size)
        captions.pill(canvas, place, f"{milliseconds} ms  {words}", size, fill, PAPER, "r")
    low, high = (size, style.height - 0.82 * foot), (style.width - 2 * size, style.height - 0.02 * foot)
    captions.timeline(canvas, recording, len(recording) - 1, low, high)
    return canvas.image()
