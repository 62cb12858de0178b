"""The controls of one visitor. A control only leaves a command; the visitor's session carries it out in its turn."""

from collections.abc import Callable, Sequence
from typing import Any

from blindsave.draw.policy_looks import title
from blindsave.play import aim
from blindsave.play import markup as words
from blindsave.play.game import MOST_NOISE_MM, Conditions
from blindsave.task.tracking import BLACKOUT_START

Command = Callable[[str], None]
NOBODY = "nobody: one table"
STEP_MS = words.STEP_MS
LEFT_POST, RIGHT_POST = "Launch at the left post", "Launch at the right post"
SPLITS = ("calibration", "train", "validation")
"""Splits whose shots may be played; the tests stay closed."""
PRIMARY = "blue"
FIRST_PAIR = ":038"


class Panel:
    """The GUI elements; properties read them back as plain values, whatever a visitor has sent."""

    def __init__(self, gui: Any, names: Sequence[str], pair: tuple[str, str], families: Sequence[str], say: Command):
        self.gui, self._say = gui, say
        self._titles = {title(name): name for name in names}
        gui.set_panel_label("blindsave")
        gui.add_html(words.INTRO)
        self.status, self.timeline = gui.add_html(""), gui.add_html("")
        self.note = gui.add_html("")
        with gui.add_folder("Twin shots"):
            first = next((family for family in families if family.endswith(FIRST_PAIR)), families[0])
            self._family = gui.add_dropdown("Pair", tuple(families), initial_value=first, hint="They meet, then part.")
            self._buttons((LEFT_POST, "twin_left"), (RIGHT_POST, "twin_right"), color=PRIMARY)
        with gui.add_folder("Time"):
            self._time_controls()
        with gui.add_folder("Goalkeepers"):
            offered = tuple(self._titles)
            self._first = gui.add_dropdown("Left", offered, initial_value=title(pair[0]))
            self._second = gui.add_dropdown("Right", (NOBODY, *offered), initial_value=title(pair[1]))
            self._button("Same shot again with these", "again")
        with gui.add_folder("What is hidden"):
            self._start = gui.add_slider("From (ms)", 0, 1000, STEP_MS, BLACKOUT_START * STEP_MS)
            self._length = gui.add_slider("For (ms)", 0, 1000, STEP_MS, 400)
            self._noise = gui.add_slider("Noise (mm)", 0.0, MOST_NOISE_MM, 0.5, 0.0)
        with gui.add_folder("Your own shot", expand_by_default=False):
            self._launch_y = gui.add_slider("From (mm)", -450, 450, 10, 200)
            self._target_y = gui.add_slider("To (mm)", -110, 110, 1, -90)
            self._speed = gui.add_slider("Speed (m/s)", aim.SLOWEST, aim.FASTEST, 0.1, 2.2)
            self._button("Shoot", "aim")
            self._shot_id = gui.add_text("Shot id", "validation:alias:038:near_post_left")
            self._button("Launch this shot", "shot_id")
        with gui.add_folder("Score"):
            self.scores = gui.add_html(words.scores({}))
        with gui.add_folder("Key"):
            gui.add_html(words.key())

    def _time_controls(self) -> None:
        group = self.gui.add_button_group("Show", ("Pause", "Back", "Step", "Replay"))
        commands = {"Pause": "pause", "Back": "step_back", "Step": "step", "Replay": "replay"}
        self._on(group.on_click, lambda: commands.get(str(group.value), ""))
        self._pace = self.gui.add_slider("Speed", 0.05, 1.0, 0.05, 1.0)
        self._on(self._pace.on_update, lambda: "speed")

    def _button(self, label: str, command: str, **look: Any) -> None:
        self._on(self.gui.add_button(label, **look).on_click, lambda: command)

    def _buttons(self, *pairs: tuple[str, str], color: str) -> None:
        for label, command in pairs:
            self._button(label, command, color=color)

    def _on(self, register: Any, command: Callable[[], str]) -> None:
        # A coroutine runs in viser's own loop, in the order of the messages; it only leaves a word and returns.
        async def handler(_event: Any) -> None:
            self._say(command())

        register(handler)

    @property
    def policies(self) -> list[str]:
        """The chosen goalkeepers' names; one or two."""
        chosen = [self._titles.get(str(self._first.value), "")]
        second = str(self._second.value)
        return chosen if second == NOBODY else [*chosen, self._titles.get(second, "")]

    @property
    def conditions(self) -> Conditions:
        """The chosen blackout and noise."""
        start, length = round(float(self._start.value) / STEP_MS), round(float(self._length.value) / STEP_MS)
        return Conditions(start, length, float(self._noise.value))

    @property
    def family(self) -> str:
        """The chosen twin pair."""
        return str(self._family.value)

    @property
    def shot_id(self) -> str:
        """The shot id that was typed in."""
        return str(self._shot_id.value).strip()

    @property
    def own_aim(self) -> tuple[float, float, float]:
        """Launch place and target in metres across the table, and speed."""
        return float(self._launch_y.value) / 1000, float(self._target_y.value) / 1000, float(self._speed.value)

    @property
    def pace(self) -> float:
        """How fast time passes."""
        return float(self._pace.value)
