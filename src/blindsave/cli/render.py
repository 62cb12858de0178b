"""Pictures and films of single episodes, of two policies on one shot, and of alias pairs."""

import contextlib
import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from blindsave.cli.targets import OutFile
from blindsave.errors import BadInput

if TYPE_CHECKING:
    from blindsave.draw.duel import Duel
    from blindsave.draw.pictures import Image, Solo, Style, View
    from blindsave.draw.recording import Recording

FORMATS = (".png", ".gif", ".mp4")
HEIGHTS = {
    # two policies, still, view: height of the picture over its width
    (False, True, "3d"): 0.75, (False, True, "top"): 0.625, (False, False, "3d"): 2 / 3, (False, False, "top"): 2 / 3,
    (True, True, "3d"): 0.58, (True, True, "top"): 0.42, (True, False, "3d"): 0.58, (True, False, "top"): 0.42,
}  # fmt: skip


@dataclass(frozen=True)
class Render:
    """Draw an episode as a film (.mp4, .gif) or as four moments (.png).

    --against draws two policies on the same shot, side by side; --pair draws the two shots of an alias pair.
    """

    out: tuple[OutFile, ...]
    """Where to write, one file or several; the ending decides the format: .png, .gif or .mp4."""
    shot: str = "validation:alias:038:near_post_right"
    """Id of the shot (`blindsave shots` lists them)."""
    policy: str = "structured_k0/14303"
    """teacher, FAMILY/SEED, a policy file, or a scripted one: privileged, fixed_centre, inactive."""
    against: str | None = None
    """A second policy, drawn beside the first on the same shot (feed_forward/14303 has no memory)."""
    blackout: int = 20
    """How many observations are hidden, from the sixth on; 20 is 400 ms."""
    condition: str = "clean"
    """What else happens, such as noise_5mm (`blindsave conditions` lists them)."""
    belief: bool = False
    """Also draw, in blue, where a teacher's world model imagines the hidden puck (extra `train`). --policy is then the
    file of a teacher beside which its whole agent lies, as in models/teachers/terminated_7303/teacher."""
    pair: str | None = None
    """Id of an alias family, such as validation:alias:038: draw both of its shots from above instead."""
    view: Literal["3d", "top"] = "3d"
    """Camera view, or plan from above (also where there is no OpenGL)."""
    camera: str | None = None
    """Camera of the 3-D view: shot (the default), striker (the default of two policies) or robot."""
    width: int = 960
    """Width of the picture in pixels."""
    slower: float = 4.0
    """How many times slower than life a film runs."""
    fps: int = 25
    """Pictures per second of a film."""

    def run(self) -> dict[str, Any]:
        """Play, draw and write."""
        if not self.out:
            raise BadInput("--out needs at least one file")
        for path in self.out:
            if path.suffix.lower() not in FORMATS:
                raise BadInput(f"--out must end in {', '.join(FORMATS)}, got '{path.name}'")
        if not 320 <= self.width <= 3840:
            raise BadInput(f"--width must be between 320 and 3840 pixels, got {self.width}")
        if not 1 <= self.fps <= 60 or not 0.1 <= self.slower <= 50:
            raise BadInput(f"--fps must be 1 to 60 and --slower 0.1 to 50, got {self.fps} and {self.slower:g}")
        if self.pair is not None and self.against is not None:
            raise BadInput("--pair draws two shots and --against two policies: choose one")
        return self._pair() if self.pair is not None else self._episode()

    def _episode(self) -> dict[str, Any]:
        from blindsave.diagnostics.record import conditions
        from blindsave.draw.duel import Duel
        from blindsave.draw.pictures import Solo
        from blindsave.task import shots
        from blindsave.task.conditions import condition

        shot = shots.find(self.shot)
        episode = condition(self.condition).episode(shot, self.blackout)
        names = [self.policy] if self.against is None else [self.policy, self.against]
        recordings = [_play(name, episode, self.condition) for name in names]
        if self.belief:
            recordings[0] = _with_belief(recordings[0], self.policy, episode)
        title = f"the same shot     {conditions(episode, self.condition)}"
        shown = Solo(recordings[0]) if len(names) == 1 else Duel(recordings, [_called(name) for name in names], title)
        view, count = self._write(shown)
        played = [
            {"policy": name, "outcome": one.outcome, "saved": one.saved, "steps": len(one) - 1}
            for name, one in zip(names, recordings, strict=True)
        ]
        about = {"shot": shot.id, "blackout": self.blackout, "view": view, "pictures": count}
        beside = {"against": played[1]} if len(names) == 2 else {}
        return {"out": str(self.out[0]), "files": list(map(str, self.out)), **about, **played[0], **beside}

    def _style(self, view: "View", still: bool) -> "Style":
        from blindsave.draw.pictures import Style

        # Even numbers, because video codecs halve the colour resolution.
        width, high = self.width // 2 * 2, HEIGHTS[self.against is not None, still, view]
        camera = self.camera or ("shot" if self.against is None else "striker")
        return Style(width, round(width * high) // 2 * 2, view, camera, smooth=still and view == "3d")

    def _write(self, shown: "Solo | Duel") -> "tuple[View, int]":
        """Draw everything that is asked for; a film's frames are drawn once, for all its files."""
        from blindsave.draw import pictures
        from blindsave.progress import Progress

        view = pictures.usable_view(self.view)
        stills = [path for path in self.out if path.suffix.lower() == ".png"]
        films = [path for path in self.out if path not in stills]
        images = [shown.still(self._style(view, still=True))] if stills else []
        for path in stills:
            write_png(path, images[0])
        if not films:
            return view, 1
        frames = []
        with Progress("drawing", pictures.film_length(len(shown), self.fps, self.slower)) as bar:
            for frame in shown.film(self._style(view, still=False), self.fps, self.slower):
                frames.append(frame)
                bar.advance()
        for path in films:
            write_film(path, frames, self.fps)
        return view, len(frames)

    def _pair(self) -> dict[str, Any]:
        from blindsave.draw.pairs import pair_image
        from blindsave.task.conditions import CLEAN

        if any(path.suffix.lower() != ".png" for path in self.out):
            raise BadInput(f"a pair is drawn as one picture: --out must end in .png, got '{self.out[-1].name}'")
        members = _family(str(self.pair))
        recordings = [_play("inactive", CLEAN.episode(shot, self.blackout)) for shot in members]
        family = str(members[0].alias_family)
        title = f"Two shots that look alike: {family.partition(':')[2]}, hidden for {20 * self.blackout} ms"
        for path in self.out:
            write_png(path, pair_image(recordings[0], recordings[1], title, self.width))
        shots = [shot.id for shot in members]
        return {
            "out": str(self.out[0]),
            "files": list(map(str, self.out)),
            "pair": family,
            "shots": shots,
            "view": "top",
            "pictures": 1,
        }

    def show(self, result: dict[str, Any]) -> None:
        """Say what was drawn."""
        played = [one for one in (result, result.get("against")) if one]
        said = [result["shot"], *(f"{one['policy']}: {one['outcome']}" for one in played)] if "shot" in result else []
        print(f"{result.get('pair') or ', '.join(said)} -> {', '.join(result['files'])}")


def _called(name: str) -> tuple[str, str]:
    """A policy in plain words and by its name in the catalogue."""
    from blindsave.draw.policy_looks import plain_words
    from blindsave.policies import resolve

    found = resolve(name).name
    return plain_words(found), found


def _play(policy: str, episode: Any, under: str = "clean") -> "Recording":
    from blindsave.diagnostics.record import record, title
    from blindsave.policies import load

    found = load(policy)
    return dataclasses.replace(record(found, episode), title=title(episode, found.name, under))


def _with_belief(recording: "Recording", policy: str, episode: Any) -> "Recording":
    """Add the positions that the teacher's world model imagines from the last sight of the puck on."""
    import numpy as np

    from blindsave.diagnostics.teacher_files import AGENT_FILE, find_teacher
    from blindsave.task.interface import to_table

    hidden = int((~episode.tracking.visible).sum())
    if not hidden:
        raise BadInput("--belief needs a blackout: nothing has to be imagined while the puck is seen")
    agent = find_teacher(policy).agent
    if agent is None:
        raise BadInput(
            f"--belief needs a teacher's world model: no {AGENT_FILE} that it was made of lies beside {policy}"
        )
    from blindsave.diagnostics import openloop
    from blindsave.learning.dreamer import checkpoint

    params, config = checkpoint.load_params(agent)
    (prediction,) = openloop.predict(params, config, [episode], steps=hidden)
    believed = np.full((len(recording), 2), np.nan)
    shown = min(len(prediction.mean), len(recording) - prediction.first_step)
    place = slice(prediction.first_step, prediction.first_step + shown)
    believed[place] = to_table(prediction.mean[:shown])
    return dataclasses.replace(recording, believed=believed, title=f"{recording.title}     blue: imagined")


def _family(family: str) -> list[Any]:
    """Both shots of a family, left post first; the distribution may be left out of its id."""
    from blindsave.task import shots

    return [shots.find(f"{family}:{target}") for target in shots.ALIAS_TARGETS]


def write_png(path: Path, image: "Image") -> None:
    """Write a picture, whole or not at all."""
    from PIL import Image as Pillow

    from blindsave.store import write_whole

    picture = Pillow.fromarray(image)
    write_whole(path, lambda temporary: picture.save(temporary, optimize=True))


def write_film(path: Path, frames: "list[Image]", fps: int) -> None:
    """Write an animated GIF or an MP4, whole or not at all."""
    from blindsave.store import write_whole

    write = _write_gif if path.suffix.lower() == ".gif" else _write_mp4
    write_whole(path, lambda temporary: write(temporary, frames, fps))


def _write_gif(path: Path, frames: "list[Image]", fps: int) -> None:
    from PIL import Image as Pillow

    palette = Pillow.fromarray(frames[len(frames) // 2]).quantize(255)
    pictures = [Pillow.fromarray(frame).quantize(palette=palette, dither=Pillow.Dither.NONE) for frame in frames]
    first, rest = pictures[0], pictures[1:]
    first.save(path, save_all=True, append_images=rest, duration=round(1000 / fps), loop=0, optimize=False)


def _write_mp4(path: Path, frames: "list[Image]", fps: int) -> None:
    """Encode with ffmpeg, started directly: imageio's own writer forks this process, which JAX's threads forbid."""
    import subprocess

    import numpy as np
    from imageio_ffmpeg import get_ffmpeg_exe

    height, width = (side // 2 * 2 for side in frames[0].shape[:2])  # the colour format halves both sides
    source = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {fps} -i -".split()
    target = ["-c:v", "libx264", "-crf", "20", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4"]
    command = [get_ffmpeg_exe(), "-y", "-v", "error", *source, *target, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stderr is not None
        with contextlib.suppress(BrokenPipeError):  # it has given up, and says why
            for frame in frames:
                process.stdin.write(np.ascontiguousarray(frame[:height, :width]).data)
            process.stdin.close()
        complaint = process.stderr.read().decode(errors="replace").strip().splitlines() or ["it said nothing"]
    if process.returncode:
        raise BadInput(f"ffmpeg could not write the film: {complaint[-1]}")
