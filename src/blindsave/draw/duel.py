"""Two policies on the same shot, side by side: frames, films, and a picture of the end."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from blindsave.draw import captions, pictures
from blindsave.draw.canvas import HIDDEN, MIST, NIGHT, PAPER, Canvas
from blindsave.draw.pictures import Image, Style
from blindsave.draw.recording import Recording
from blindsave.errors import BadInput

GAP = 4


class Duel:
    """Two recordings of one shot; `title` says what both of them had to cope with, `names` who they are.

    A name is two lines: in plain words, and technically.
    """

    def __init__(self, recordings: Sequence[Recording], names: Sequence[tuple[str, str]], title: str) -> None:
        if len(recordings) != 2 or len(names) != 2:
            raise BadInput("a duel has two recordings and two names")
        self.recordings, self.names, self.title = list(recordings), list(names), title
        self._ends: dict[tuple[int, Style], Image] = {}

    def __len__(self) -> int:
        return max(map(len, self.recordings))

    def frame(self, moment: float, style: Style) -> Image:
        """Draw both tables at a moment, with names, outcomes and one timeline."""
        size = style.height / 30
        head, foot, margin = round(2.2 * size), round(0.14 * style.height), 1.2 * size
        canvas = Canvas(style.width, style.height, NIGHT)
        canvas.text((margin, head / 2), self.title, size, PAPER, "lm")
        longest = max(self.recordings, key=len)
        canvas.text((style.width - margin, head / 2), f"{1000 * longest.time_s(moment):.0f} ms", size, MIST, "rm")
        width, height = (style.width - GAP) // 2, style.height - head - foot
        for number in range(2):
            left = number * (width + GAP)
            canvas.paste(self._scene(number, moment, style, width, height), (left, head))
            self._words(canvas, number, moment, (left + width - margin, head + 1.2 * size), size)
        low, high = (margin, style.height - 0.84 * foot), (style.width - 2 * margin, style.height - 0.06 * foot)
        captions.timeline(canvas, replace(longest, first_contact=-1), moment, low, high)
        return canvas.image()

    def _scene(self, number: int, moment: float, style: Style, width: int, height: int) -> Image:
        """One table; once its episode is over it is drawn no more."""
        recording = self.recordings[number]
        last = len(recording) - 1
        if moment < last:
            return pictures.scene_image(recording, moment, style, width, height)
        if (number, style) not in self._ends:
            self._ends[number, style] = pictures.scene_image(recording, last, style, width, height)
        return self._ends[number, style]

    def _words(self, canvas: Canvas, number: int, moment: float, at: tuple[float, float], size: float) -> None:
        recording, (plain, technical) = self.recordings[number], self.names[number]
        canvas.text(at, plain, 1.2 * size, PAPER, "rm")
        canvas.text((at[0], at[1] + 1.2 * size), technical, 0.8 * size, MIST, "rm")
        below = (at[0], at[1] + 3.0 * size)
        if moment >= len(recording) - 1:
            colour = captions.outcome_colour(recording)
            captions.pill(canvas, below, captions.outcome_words(recording), size, colour, PAPER, "r")
        elif not recording.visible[int(moment)]:
            captions.pill(canvas, below, "sees nothing", size, HIDDEN, PAPER, "r")

    def still(self, style: Style) -> Image:
        """Draw the end of both."""
        return self.frame(len(self) - 1, style)

    def film(self, style: Style, fps: int = 25, slower: float = 4.0) -> Iterator[Image]:
        """Yield the frames of a film, until the longer episode is over, with a pause on the outcomes."""
        return pictures.filmed(lambda moment: self.frame(moment, style), len(self), fps, slower)
