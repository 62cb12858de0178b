"""Make a finished study the main one of the repository: move the present one aside, install, derive everything again.

    make main-study STUDY=runs/study/paper ASIDE=terminated_7303 TRAINING=runs/teachers/7303
    python docs/_tools/main_study.py install STUDY --aside NAME [--training RUN]
    python docs/_tools/main_study.py derive [--only STEP...]        # what each step runs: --list

The present study goes to results/teachers/NAME and models/teachers/NAME, where `blindsave verify results/teachers/NAME`
finds it; what can be drawn or fitted again (report, pictures, probes) stays behind. Both studies must verify before
anything is touched. `derive` recomputes whatever is made from the main study's policies or tables, then the numbers in
the pages; prose is for people.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from blindsave import store
from blindsave.errors import BadFile, BadInput, BlindsaveError
from blindsave.policies.students.registry import PAPER_FAMILIES
from blindsave.verify import verify
from blindsave.verify.places import PLAN, TEACHER, locate

ROOT = Path(__file__).resolve().parents[2]
RESULTS, MODELS = ROOT / "results", ROOT / "models"
STUDY_PARTS = ("datasets", "efficiency", "memory", "noise", "test", "training", "validation")
STUDY_FILES = (
    "freeze.json",
    "ledger.jsonl",
    "left_out.json",
    "replays.json",
    "spent.json",
    "splits.json",
    "statement.md",
)
MADE_AGAIN = (".png", ".svg", ".html")
SWAPS = ("swap", "leave", "hold")
RIVALS = ("differences", "least_squares", "kalman", "kalman_gated", "bayes")
COMPARED = ("structured_k0/14303", "teacher")


def install(study: Path, aside: str, training: Path | None) -> None:
    """Put a study (its folder, or where further studies lie) in the place of the main one, which goes to the others."""
    place = {"results": RESULTS / "teachers" / aside, "models": MODELS / "teachers" / aside}
    for folder in place.values():
        if folder.exists():
            raise BadInput(f"{folder} exists: choose another name for the study that moves aside")
    for folder in (study, ROOT):
        found = verify(folder, report=False)
        if not found.ok or not found.released:
            reason = found.failures[0] if found.failures else "its test was never opened"
            raise BadFile(f"{folder} does not verify: {reason}")
    new = locate(study)
    about = _training_files(new.path(TEACHER), training)
    _move_aside(place["results"], place["models"])
    for name in (*STUDY_PARTS, *STUDY_FILES):
        _copy(new.results / name, RESULTS / name)
    _copy(new.models / "students", MODELS / "students")
    _copy(new.path(TEACHER), ROOT / TEACHER)
    _copy(new.plan, ROOT / PLAN)
    for source, target in about.items():
        _copy(source, target)
    _rename_fingerprint(aside)


def _move_aside(results: Path, models: Path) -> None:
    for name in (*STUDY_PARTS, *STUDY_FILES, "teacher"):
        if (RESULTS / name).exists():
            results.mkdir(parents=True, exist_ok=True)
            (RESULTS / name).rename(results / name)
    for name in SWAPS:  # further studies keep them here
        if (results / "memory" / f"{name}.json").is_file():
            (results / "memory" / f"{name}.json").rename(results / f"{name}.json")
    if (RESULTS / "probe" / "probe.json").is_file():
        (RESULTS / "probe" / "probe.json").rename(results / "probe.json")
    for folder in (RESULTS / "report", RESULTS / "probe"):
        shutil.rmtree(folder, ignore_errors=True)
    for path in sorted(results.rglob("*")):
        if path.suffix in MADE_AGAIN:
            path.unlink()
    shutil.copy(ROOT / PLAN, results / PLAN)
    models.mkdir(parents=True)
    for name in ("teacher", "students"):
        (MODELS / name).rename(models / name)
    for name in (*PAPER_FAMILIES, "teacher.safetensors"):  # probes of the controls stay: they are nobody's students
        path = MODELS / "probes" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    elif source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _training_files(teacher: Path, training: Path | None) -> dict[Path, Path]:
    """What is kept of the teacher's training, and where: as it lies here among other teachers', or from its folder.

    The whole agent, world model included, is in the training's folder alone.
    """
    sha256 = store.sha256_file(teacher)
    others = sorted((MODELS / "teachers").glob("*/teacher/teacher.safetensors"))
    same = (path.parents[1].name for path in others if store.sha256_file(path) == sha256)
    known = next((RESULTS / "teachers" / name / "teacher" for name in same), training)
    if known is None:
        raise BadInput("nothing is known of this study's teacher: name its training's folder with --training")
    files = {known / name: RESULTS / "teacher" / name for name in ("config.json", "metrics.jsonl", "validation.json")}
    if training is not None:
        from blindsave.learning.dreamer.freeze import selected_step

        agent = training / "params" / f"{selected_step(training):09}.safetensors"
        if not agent.is_file():
            raise BadFile(f"{training} does not hold the selected agent {agent.name}")
        files[agent] = MODELS / "teacher" / "agent.safetensors"
    return files


def _rename_fingerprint(aside: str) -> None:
    """The teacher that was called `teacher` is called like its study; fingerprints do not depend on names."""
    path = RESULTS / "teachers" / "fingerprints.json"
    if not path.is_file():
        return
    found = store.read_json(path)
    if "teacher" in found["teachers"]:
        found["teachers"][aside] = found["teachers"].pop("teacher")
        found["command"] = found["command"].replace("fingerprint teacher ", f"fingerprint models/teachers/{aside} ")
        store.write_json(path, found)


def blindsave(*words: str | Path, out: str | None = None) -> None:
    """Run a command in the repository; `out` keeps the JSON it prints."""
    order = [sys.executable, "-m", "blindsave", *map(str, words), *(["--json"] if out else [])]
    print("+ blindsave", *map(str, words), *([f"--json > {out}"] if out else []), file=sys.stderr, flush=True)
    done = subprocess.run(order, cwd=ROOT, stdout=subprocess.PIPE if out else None, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)
    if out:
        store.write_whole(ROOT / out, done.stdout)


def swaps() -> None:
    """Exchanged memories, arms sent away, arms held: a quarter of an hour on two cores."""
    blindsave("memory-swap", "--out", "results/memory/swap.json")
    few = ("teacher", "structured_k0", "finite_stack_10")
    blindsave("memory-swap", *few, "--how", "leave", "--out", "results/memory/leave.json")
    moments = "7,9,11,13,15,17,19,21"
    blindsave("memory-swap", "--how", "hold", "--steps", moments, "--out", "results/memory/hold.json")


def swap_pictures() -> None:
    """Both pictures of docs/memory-tests.md, from the stored figures."""
    from blindsave.diagnostics import swap_figure
    from blindsave.draw import figure_files

    for name in ("swap", "hold"):
        rows = store.read_json(RESULTS / "memory" / f"{name}.json")["rows"]
        figure_files.save(lambda rows=rows: swap_figure.draw(rows), RESULTS / "memory" / f"{name}.png")


def probes() -> None:
    """A linear probe of every policy that has none, its figures and picture."""
    blindsave("probe")


def integers() -> None:
    """Students in whole numbers against themselves."""
    blindsave("bench", "integers", "--split", "principal_test", out="results/bench/integers.json")


def boards() -> None:
    """Two policies on emulated microcontrollers."""
    for name, flag in (("board", "-Os"), ("board_O2", "-O2")):
        policies = ("structured_k0/14303", "gru_n64/14303")
        blindsave("bench", "board", *policies, f"--optimise={flag}", out=f"results/bench/{name}.json")


def drive() -> None:
    """The loop against a robot."""
    blindsave("bench", "drive", out="results/bench/drive.json")


def rivals() -> None:
    """A student and its teacher beside classical rivals, and the picture of docs/rivals.md."""
    table = "runs/main-study/rivals.parquet"
    lengths, told = "0,5,10,15,20,25", ("planner", "privileged")
    kept = {}
    for split, policies, blackouts in (
        ("validation", (*RIVALS, *told, *COMPARED), lengths),
        ("train", (*RIVALS, *COMPARED), "20"),
    ):
        kept[split] = f"runs/main-study/rivals-{split}.json"
        options = ("--split", split, "--blackouts", blackouts, "--noise-mm", "0,5")
        blindsave("evaluate", *policies, *options, out=kept[split])
    found = {split: json.loads((ROOT / name).read_text("utf-8"))["policies"] for split, name in kept.items()}
    store.write_json(RESULTS / "bench" / "rivals.json", found)
    blindsave("evaluate", *RIVALS, *COMPARED, "--blackouts", "20", "--noise-mm", "0,1,2,5,10", "--out", table)


def rival_picture() -> None:
    """The picture of docs/rivals.md."""
    blindsave("rivals", "figure", "runs/main-study/rivals.parquet", "--out", "runs/main-study")
    shutil.copy(ROOT / "runs/main-study/rivals.png", ROOT / "docs/images/rivals.png")


def submissions() -> None:
    """Every family and the teacher, packed anew under the words they had."""
    for name in (*PAPER_FAMILIES, "teacher"):
        folder = ROOT / "submissions" / name
        about = store.read_json(folder / "config.json")["about"]
        words = [word for key, value in about.items() if value for word in (f"--{key}", value)]
        made = ROOT / "runs/main-study/submissions" / name
        shutil.rmtree(made, ignore_errors=True)
        blindsave("submit", name, *words, "--out", made)
        shutil.rmtree(folder)
        made.rename(folder)


def leaderboard() -> None:
    """Every submission played again, and the table."""
    blindsave("leaderboard", "submissions")


def teacher_pictures() -> None:
    """The teacher's learning curve, and what its world model believes."""
    blindsave("teacher", "curve", "--folder", "results/teacher")
    agent = MODELS / "teacher" / "agent.safetensors"
    if agent.is_file():
        blindsave("teacher", "belief", agent, "--out", "results/teacher/belief.png")


def pictures() -> None:
    """The pictures of docs/pictures.md."""
    images, bad = "docs/images", "feed_forward/14303"
    film = ("--width", "800", "--fps", "16", "--slower", "5")
    blindsave("render", "--against", bad, *film, "--out", f"{images}/film.gif")
    blindsave("render", "--width", "1200", "--out", f"{images}/saved.png")
    blindsave("render", "--policy", bad, "--width", "1200", "--out", f"{images}/conceded.png")
    shot = ("--condition", "noise_5mm", "--shot", "validation:alias:038:near_post_right", "--view", "top")
    blindsave("render", *shot, "--width", "1200", "--out", f"{images}/from_above.png")


def report() -> None:
    """Every table, figure and the page; the failures it shows came with the study."""
    blindsave("report")


def pages() -> None:
    """Numbers in README and docs."""
    subprocess.run([sys.executable, ROOT / "docs/_tools/pages.py"], cwd=ROOT, check=True)


PLAYED = (swaps, probes, integers, rivals, submissions, boards, drive)
"""They need the policies alone, and most of the time."""
SHOWN = (swap_pictures, rival_picture, teacher_pictures, pictures, report, leaderboard, pages)
STEPS: dict[str, Callable[[], None]] = {step.__name__: step for step in (*PLAYED, *SHOWN)}


def main(words: Sequence[str] | None = None) -> None:
    """Parse and do."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    orders = parser.add_subparsers(dest="order", required=True)
    one = orders.add_parser("install", help="move the main study aside and install another")
    one.add_argument("study", type=Path)
    one.add_argument("--aside", required=True, help="name of the study that moves aside, such as terminated_7303")
    one.add_argument("--training", type=Path, help="folder of the new teacher's training, with its agent")
    two = orders.add_parser("derive", help="recompute what is made from the main study")
    two.add_argument("--only", nargs="+", choices=tuple(STEPS), default=tuple(STEPS))
    two.add_argument("--list", action="store_true", help="only say what the steps are")
    given = parser.parse_args(words)
    if given.order == "install":
        install(given.study.resolve(), given.aside, given.training)
    elif given.list:
        print("\n".join(f"{name}: {step.__doc__}" for name, step in STEPS.items()))
    else:
        for name in given.only:
            STEPS[name]()


if __name__ == "__main__":
    try:
        main()
    except BlindsaveError as error:
        raise SystemExit(f"main_study: {error}") from error
