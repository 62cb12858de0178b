"""Pictures and films of single episodes, and of alias pairs."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from blindsave.cli.targets import OutFile
from blindsave.errors import BadInput

if TYPE_CHECKING:
    from blindsave.draw.pictures import Image, Style
    from blindsave.draw.recording import Recording

FORMATS = (".png", ".gif", ".mp4")


@dataclass(frozen=True)
class Render:
    """Draw an episode as a film (.mp4, .gif) or as four moments (.png), or the two shots of an alias pair (.png)."""

    out: OutFile
    """Where to write; the ending decides the format: .png, .gif or .mp4."""
    shot: str = "validation:alias:038:near_post_left"
    """Id of the shot (`blindsave shots` lists them)."""
    policy: str = "privileged"
    """inactive, fixed_centre, privileged, a rival (kalman, bayes...), teacher, FAMILY/SEED or a policy file."""
    blackout: int = 20
    """How many observations are hidden, from the sixth on; 20 is 400 ms."""
    noise_mm: float = 0.0
    """Standard deviation of the tracked position."""
    belief: bool = False
    """With the teacher: also draw, in blue, where its world model imagines the hidden puck (extra `train`)."""
    pair: str | None = None
    """Id of an alias family, such as validation:alias:038: draw both of its shots from above instead."""
    view: Literal["3d", "top"] = "3d"
    """Camera view, or plan from above (also where there is no OpenGL)."""
    camera: str = "shot"
    """Camera of the 3-D view: shot, striker or robot."""
    width: int = 960
    """Width of the picture in pixels."""
    slower: float = 4.0
    """How many times slower than life a film runs."""
    fps: int = 25
    """Pictures per second of a film."""

    def run(self) -> dict[str, Any]:
        """Play, draw and write."""
        if self.out.suffix.lower() not in FORMATS:
            raise BadInput(f"--out must end in {', '.join(FORMATS)}, got '{self.out.name}'")
        if not 320 <= self.width <= 3840:
            raise BadInput(f"--width must be between 320 and 3840 pixels, got {self.width}")
        if not 1 <= self.fps <= 60 or not 0.1 <= self.slower <= 50:
            raise BadInput(f"--fps must be 1 to 60 and --slower 0.1 to 50, got {self.fps} and {self.slower:g}")
        return self._pair() if self.pair is not None else self._episode()

    def _episode(self) -> dict[str, Any]:
        from blindsave.draw import pictures
        from blindsave.task import shots
        from blindsave.task.episode import Disturbance

        shot = shots.find(self.shot)
        episode = Disturbance(noise_mm=self.noise_mm).episode(shot, self.blackout)
        recording = _play(self.policy, episode)
        if self.belief:
            recording = _with_belief(recording, self.policy, episode)
        # Even numbers, because video codecs halve the colour resolution.
        width, view = self.width // 2 * 2, pictures.usable_view(self.view)
        still = self.out.suffix.lower() == ".png"
        height = round(width * (2 / 3 if not still else 0.75 if view == "3d" else 0.625)) // 2 * 2
        style = pictures.Style(width, height, view, self.camera, smooth=still and view == "3d")
        frames = self._write(recording, style)
        return {
            "out": str(self.out),
            "shot": shot.id,
            "policy": self.policy,
            "blackout": self.blackout,
            "view": view,
            "outcome": recording.outcome,
            "saved": recording.saved,
            "steps": len(recording) - 1,
            "pictures": frames,
        }

    def _write(self, recording: "Recording", style: "Style") -> int:
        from blindsave.draw import pictures
        from blindsave.progress import Progress

        if self.out.suffix.lower() == ".png":
            write_png(self.out, pictures.strip(recording, style))
            return 1
        frames = []
        with Progress("drawing", pictures.film_length(recording, self.fps, self.slower)) as bar:
            for frame in pictures.film(recording, style, self.fps, self.slower):
                frames.append(frame)
                bar.advance()
        write_film(self.out, frames, self.fps)
        return len(frames)

    def _pair(self) -> dict[str, Any]:
        from blindsave.draw.pairs import pair_image
        from blindsave.task.episode import UNDISTURBED

        if self.out.suffix.lower() != ".png":
            raise BadInput(f"a pair is drawn as one picture: --out must end in .png, got '{self.out.name}'")
        members = _family(str(self.pair))
        recordings = [_play("inactive", UNDISTURBED.episode(shot, self.blackout)) for shot in members]
        family = str(members[0].alias_family)
        title = f"Two shots that look alike: {family.partition(':')[2]}, hidden for {20 * self.blackout} ms"
        write_png(self.out, pair_image(recordings[0], recordings[1], title, self.width))
        shots = [shot.id for shot in members]
        return {"out": str(self.out), "pair": family, "shots": shots, "view": "top", "pictures": 1}

    def show(self, result: dict[str, Any]) -> None:
        """Say what was drawn."""
        what = result.get("pair") or f"{result['shot']}, {result['policy']}: {result['outcome']}"
        print(f"{what} -> {result['out']}")


def _play(policy: str, episode: Any) -> "Recording":
    from blindsave.diagnostics.record import record
    from blindsave.policies import load

    return record(load(policy), episode)


def _with_belief(recording: "Recording", policy: str, episode: Any) -> "Recording":
    """Add the positions that the teacher's world model imagines from the last sight of the puck on."""
    import dataclasses

    import numpy as np

    from blindsave.policies.catalog import TEACHER, models_folder
    from blindsave.task.interface import to_table

    if policy != TEACHER:
        raise BadInput(f"--belief needs the teacher's world model: use --policy {TEACHER}, not {policy}")
    from blindsave.diagnostics import openloop
    from blindsave.learning.dreamer import checkpoint

    params, config = checkpoint.load_params(models_folder() / TEACHER / "agent.safetensors")
    hidden = int((~episode.tracking.visible).sum())
    if not hidden:
        raise BadInput("--belief needs a blackout: nothing has to be imagined while the puck is seen")
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
    pictures = b"".join(np.ascontiguousarray(frame[:height, :width]).tobytes() for frame in frames)
    finished = subprocess.run(command, input=pictures, capture_output=True, check=False)
    if finished.returncode:
        complaint = finished.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise BadInput(f"ffmpeg could not write the film: {complaint[-1]}")
