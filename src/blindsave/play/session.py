"""One visitor: a game, its tables in the scene, its controls. Runs in the arena's clock, not in the network."""

import logging
from collections import deque
from typing import Any

from blindsave.errors import BadInput, BlindsaveError
from blindsave.play import aim
from blindsave.play import markup as words
from blindsave.play.game import Game
from blindsave.play.panel import SPLITS, Panel
from blindsave.play.roster import Roster
from blindsave.play.stage import Stage
from blindsave.task import shots
from blindsave.task.shots import ALIAS_TARGETS, Shot

LOG = logging.getLogger("blindsave")
MOST_COMMANDS = 32
COMMANDS_PER_TICK = 4
WORDS_EVERY = 5  # ticks
APART_M = 0.86
ALONE = ((1.10, -1.95, 1.45), (-0.42, 0.05, 0.0))
BESIDE = ((2.80, 0.0, 2.20), (-0.40, 0.0, 0.0))
WIDE = 1.2  # width over height below which the camera steps back
TWINS = "validation"
Point = tuple[float, float, float]


def families() -> list[str]:
    """The twin pairs on offer, by short name."""
    found = {shot.alias_family for shot in shots.shots(TWINS) if shot.alias_family}
    return sorted(family.partition(":")[2] for family in found)


class Session:
    """What one open page is to the arena."""

    def __init__(self, client: Any, roster: Roster) -> None:
        self.client, self.roster, self.game = client, roster, Game()
        self._commands: deque[tuple[str, Any]] = deque(maxlen=MOST_COMMANDS)
        self._ticks = self.refused = self.faults = 0
        self._changed = True
        self._drag_from: tuple[float, float] | None = None
        with client.atomic():
            self.stages = [Stage(client.scene, root) for root in ("/left", "/right")]
            self.panel = Panel(client.gui, roster.names, roster.default_pair(), families(), self.say)
            for stage in self.stages:
                self._listen(stage)
            self._arrange()
            self._rest()

    def say(self, command: str, value: Any = None) -> None:
        """Leave a command for the next tick; the oldest is forgotten when a visitor sends too many."""
        self._commands.append((command, value))

    def _listen(self, stage: Stage) -> None:
        async def dragged(event: Any) -> None:
            camera = event.client.camera.position
            self.say("drag", (stage, event.phase, tuple(camera), event.start_position, event.end_position))

        stage.surface.on_drag("left")(dragged)

    def tick(self) -> None:
        """Carry out commands, let time pass, draw."""
        self._ticks += 1
        for _ in range(min(len(self._commands), COMMANDS_PER_TICK)):
            self._obey(*self._commands.popleft())
        moved = self.game.tick()
        if moved or self._changed:
            with self.client.atomic():
                self._draw(moved)
        self._changed = False

    def _obey(self, command: str, value: Any) -> None:
        self._changed = True
        try:
            action = getattr(self, f"_do_{command}", None)
            if action is not None:
                self.panel.note.content = ""
                action(value)
        except (BlindsaveError, ValueError, OverflowError, TypeError) as error:
            # Whatever a page sends, its own visitor is told, and nobody else notices.
            self.refused += 1
            known = isinstance(error, BlindsaveError)
            self.panel.note.content = words.note(str(error)[:300] if known else "that cannot be played")
            LOG.debug("refused %s: %s", command, error)

    def _do_twin_left(self, _: Any) -> None:
        self._launch(shots.find(f"{self.panel.family}:{ALIAS_TARGETS[0]}"))

    def _do_twin_right(self, _: Any) -> None:
        self._launch(shots.find(f"{self.panel.family}:{ALIAS_TARGETS[1]}"))

    def _do_shot_id(self, _: Any) -> None:
        self._launch(playable(self.panel.shot_id))

    def _do_aim(self, _: Any) -> None:
        self._launch(aim.from_sliders(*self.panel.own_aim))

    def _do_again(self, _: Any) -> None:
        self.game.again([self.roster.policy(name) for name in self.panel.policies])
        self._arrange()

    def _do_pause(self, _: Any) -> None:
        self.game.paused = not self.game.paused

    def _do_step(self, _: Any) -> None:
        self.game.step(1)

    def _do_step_back(self, _: Any) -> None:
        self.game.step(-1)

    def _do_replay(self, _: Any) -> None:
        self.game.replay()

    def _do_speed(self, _: Any) -> None:
        self.game.set_speed(self.panel.pace)

    def _do_drag(self, value: Any) -> None:
        stage, phase, camera, start, end = value
        across = stage.base.position[1]
        x, y = aim.on_table_plane(camera, start)
        to_x, to_y = aim.on_table_plane(camera, end)
        begin, finish = (x, y - across), (to_x, to_y - across)
        if phase != "end":
            stage.show_aim(begin, finish)
            return
        stage.aim.visible = False
        self._launch(aim.from_drag(begin, finish))

    def _launch(self, shot: Shot) -> None:
        policies = [self.roster.policy(name) for name in self.panel.policies]
        self.game.launch(shot, policies, self.panel.conditions)
        self._arrange()

    def _arrange(self) -> None:
        """One table in the middle or two side by side, with the names over them and the camera where it sees them."""
        names = [table.policy.title for table in self.game.take.tables] if self.game.take else []
        both = len(names) == 2 if names else len(self.panel.policies) == 2
        self.stages[0].place(-APART_M if both else 0.0, visible=True)
        self.stages[1].place(APART_M, visible=both)
        for stage, name in zip(self.stages, [*names, "", ""], strict=False):
            stage.set_title(name)
        if getattr(self, "_both", None) != both:
            self._both = both
            camera, centre = self.client.camera, BESIDE[1] if both else ALONE[1]
            camera.position = seen_from(*(BESIDE if both else ALONE), camera.image_width, camera.image_height)
            camera.look_at = centre

    def _rest(self) -> None:
        """Before the first shot: the robot at home, the puck where a twin shot starts."""
        from blindsave.task.defend import DefendBatch
        from blindsave.task.episode import Episode

        batch = DefendBatch(1, threads=1)
        batch.reset([Episode(shots.find(f"{families()[0]}:{ALIAS_TARGETS[0]}"))])
        for stage in self.stages:
            stage.pose(batch.qpos[0])

    def _draw(self, moved: bool) -> None:
        game = self.game
        if game.take is not None:
            for number, table in enumerate(game.take.tables):
                outcome = game.outcome(number)
                self.stages[number].show(table, game.moment, words.said(outcome), words.colour_of(outcome))
        if not moved or game.finished or self._ticks % WORDS_EVERY == 0:
            self.panel.status.content = words.status(game)
            self.panel.timeline.content = words.timeline(game)
            self.panel.scores.content = words.scores(game.scores)


def seen_from(place: Point, centre: Point, width: float, height: float) -> Point:
    """A camera's place, further back on a window that is higher than wide."""
    back = min(max(1.0, WIDE * height / max(width, 1.0)), 3.0)
    x, y, z = (c + back * (p - c) for p, c in zip(place, centre, strict=True))
    return x, y, z


def playable(shot_id: str) -> Shot:
    """The shot of an id a visitor typed; only shots of splits that are no test."""
    shot = shots.find(shot_id[:100])
    if shot.id.split(":")[1] not in SPLITS:
        raise BadInput(f"shots of {', '.join(SPLITS)} can be played; the tests stay closed")
    return shot
