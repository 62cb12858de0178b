"""Put a finished study where further studies lie, and name what is left out of it.

    python docs/_tools/shipping.py RUN/TEACHER GROUP [--seed N]

copies results/ to results/GROUP/TEACHER and students to models/GROUP/TEACHER, where `blindsave verify
results/GROUP/TEACHER` finds them; its teacher is shipped once, as models/teachers/TEACHER, and what is known of its
training stays beside it: the group `teachers` is for a teacher's main study. With `--seed` only that training seed's
students go along, and `left_out.json` names the others, whose hashes stay in the freeze.
"""

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

from blindsave.errors import BadInput
from blindsave.store import read_json, sha256_file, write_json
from blindsave.verify.left_out import SCHEMA
from blindsave.verify.places import FREEZE, LEFT_OUT, PLAN
from blindsave.verify.study import require_verified

ROOT = Path(__file__).resolve().parents[2]
STAYS = shutil.ignore_patterns(".*", "report")
"""Locks and unfinished work; a report can be drawn again."""
TEACHER = "teacher"
TEACHER_FILE = Path(TEACHER, "teacher.safetensors")


def ship(study: Path, group: str, seed: int | None = None) -> Path:
    """Copy a study, which has to verify before and after; returns where its results are now."""
    require_verified(study)
    results, models = (ROOT / part / group / study.name for part in ("results", "models"))
    there = models / TEACHER_FILE
    if there.exists() and sha256_file(there) != sha256_file(study / "models" / TEACHER_FILE):
        raise BadInput(f"{models} holds another teacher, whose study this is not: choose another group")
    for target in (results, models):
        _clear(target)
    shutil.copytree(study / "results", results, ignore=STAYS, dirs_exist_ok=True)
    shutil.copy(study / PLAN, results)
    for name in ("students", "guests"):
        if (study / "models" / name).is_dir():
            shutil.copytree(study / "models" / name, models / name)
    if seed is not None:
        _leave_out(results, models, seed)
    require_verified(results)
    return results


def _clear(folder: Path) -> None:
    """Remove what an earlier shipping left, but not the teacher and what is known of its training."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name != TEACHER:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _leave_out(results: Path, models: Path, seed: int) -> None:
    """Drop the students of all other training seeds."""
    frozen = read_json(results / FREEZE)["body"]["groups"]
    bound = {name for names in frozen.values() for name in names}
    chosen = [path for path in sorted((models / "students").rglob("*.safetensors")) if path.stem != str(seed)]
    files = [f"models/{path.relative_to(models).as_posix()}" for path in chosen]
    assert bound >= set(files), "only what the freeze names can be left out"
    for path in chosen:
        path.unlink()
    why = f"students of one training seed ({seed}) are shipped, to keep the repository small"
    write_json(results / LEFT_OUT, {"schema": SCHEMA, "files": files, "why": why})


def main(arguments: Sequence[str] | None = None) -> None:
    """Ship one study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=Path)
    parser.add_argument("group")
    parser.add_argument("--seed", type=int)
    given = parser.parse_args(arguments)
    print(ship(given.study, given.group, given.seed).relative_to(ROOT))


if __name__ == "__main__":
    main()
