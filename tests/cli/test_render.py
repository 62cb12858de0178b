import json

import numpy as np
import pytest
from studies import TERMINATED_MODELS

from blindsave.cli import execute
from blindsave.cli.render import write_film
from blindsave.errors import BadInput
from blindsave.task.episode import Episode

Image = pytest.importorskip("PIL.Image")
FAST = ["--view", "top", "--width", "320"]


def render(capsys, *args: str) -> dict:
    execute(["render", *args, "--json"])
    return json.loads(capsys.readouterr().out)


def test_png_shows_moments_of_the_episode(capsys, tmp_path):
    out = tmp_path / "strip.png"
    result = render(capsys, "--out", str(out), *FAST, "--policy", "privileged", "--blackout", "20")
    assert result["outcome"] == "returned" and result["saved"] and result["view"] == "top"
    with Image.open(out) as picture:
        assert picture.size == (320, 200)


def test_gif_and_mp4_are_films(capsys, tmp_path):
    for name in ("film.gif", "film.mp4"):
        out = tmp_path / name
        result = render(capsys, "--out", str(out), *FAST, "--policy", "inactive", "--slower", "1", "--fps", "10")
        assert result["outcome"] == "goal_conceded" and result["pictures"] > 15
        assert out.stat().st_size > 5000
    with Image.open(tmp_path / "film.gif") as film:
        assert film.n_frames > 5
    assert (tmp_path / "film.mp4").read_bytes()[4:8] == b"ftyp"


def test_the_default_shows_a_trained_policy_that_saves(capsys, tmp_path):
    result = render(capsys, "--out", str(tmp_path / "x.png"), *FAST)
    assert result["policy"] == "structured_k0/14303" and result["saved"]


def test_two_policies_are_filmed_side_by_side_in_several_formats_at_once(capsys, tmp_path, monkeypatch):
    from blindsave.draw.duel import Duel

    drawn, frame = [], Duel.frame
    monkeypatch.setattr(Duel, "frame", lambda self, moment, style: drawn.append(moment) or frame(self, moment, style))
    files = [str(tmp_path / name) for name in ("film.mp4", "film.gif", "end.png")]
    slow = ["--slower", "1", "--fps", "10"]
    result = render(capsys, "--against", "feed_forward/14303", "--out", *files, *FAST, *slow)
    assert result["files"] == files and result["out"] == files[0]
    assert result["saved"] and not result["against"]["saved"]
    assert result["against"]["policy"] == "feed_forward/14303"
    assert len(drawn) == len(set(drawn)) + 1, "one drawing for both films, and one for the still"
    assert (tmp_path / "film.mp4").read_bytes()[4:8] == b"ftyp"
    with Image.open(tmp_path / "film.gif") as film, Image.open(tmp_path / "end.png") as end:
        assert film.n_frames > 3 and film.size == end.size


def test_a_film_is_written_beside_threads_that_forbid_forking(tmp_path):
    pytest.importorskip("jax").numpy.zeros(1).block_until_ready()  # warns, here an error, when the process forks
    frames = [np.full((33, 47, 3), shade, np.uint8) for shade in (0, 128, 255)]
    write_film(tmp_path / "film.mp4", frames, 10)
    assert (tmp_path / "film.mp4").stat().st_size > 500


def test_a_pair_is_drawn_from_above(capsys, tmp_path):
    out = tmp_path / "pair.png"
    result = render(capsys, "--pair", "validation:alias:003", "--out", str(out), "--width", "640")
    assert [shot.rpartition(":")[2] for shot in result["shots"]] == ["near_post_left", "near_post_right"]
    with Image.open(out) as picture:
        assert picture.width == 640


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["--out", "x.bmp"], "must end in"),
        (["--out", "x.png", "x.bmp"], "must end in"),
        (["--out", "x.png", "--against", "nobody"], "no policy"),
        (["--out", "x.png", "--against", "inactive", "--pair", "validation:alias:003"], "choose one"),
        (["--out", "x.png", "--width", "10"], "--width"),
        (["--out", "x.png", "--shot", "validation:alias:999:near_post_left"], "no shot"),
        (["--out", "x.png", "--blackout", "126"], "blackout of 126 steps"),
        (["--out", "x.png", "--blackout", "-1"], "--blackout must be at least 0"),
        (["--out", "x.png", "--noise-mm", "-3"], "noise"),
        (["--out", "x.png", "--policy", "nobody"], "no policy"),
        (["--out", "x.gif", "--pair", "validation:alias:003"], "must end in .png"),
        (["--out", "x.png", "--pair", "validation:alias:003", "--blackout", "0"], "at least one step"),
        (["--out", "x.gif", "--fps", "1000", "--view", "top"], "fps"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(args, complaint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=complaint):
        execute(["render", *args])
    assert not list(tmp_path.iterdir())


def test_the_teachers_belief_is_drawn_where_the_puck_is_hidden(tmp_path):
    pytest.importorskip("jax")
    from blindsave.cli.render import _play, _with_belief
    from blindsave.task import shots
    from blindsave.task.tracking import blackout

    episode = Episode(shots.find("validation:alias:033:near_post_right"), blackout(20))
    teacher = str(TERMINATED_MODELS / "teacher/teacher.safetensors")
    recording = _with_belief(_play(teacher, episode), teacher, episode)
    assert recording.believed is not None
    told = np.isfinite(recording.believed).all(1)
    assert told.sum() >= 15
    assert not recording.visible[told].any()
    # A world model that lost the puck would be off by the length of the table, not by a few puck widths.
    assert np.linalg.norm(recording.believed - recording.puck, axis=1)[told].mean() < 0.15


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--policy", "inactive"], "world model"),
        (["--policy", "teacher"], r"no agent\.safetensors .* beside teacher"),
        (["--policy", "teacher", "--blackout", "0"], "blackout"),
    ],
)
def test_belief_without_a_world_model_or_a_blackout_is_refused(tmp_path, arguments, word):
    with pytest.raises(BadInput, match=word):
        execute(["render", "--out", str(tmp_path / "x.png"), "--belief", *arguments])
    assert not list(tmp_path.iterdir())
