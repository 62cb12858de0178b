"""The command that checks a study's evidence."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from blindsave.errors import BadInput


@dataclass(frozen=True)
class Verify:
    """Check that plan, freeze, ledger, models, tables and shots of a study fit together; play rows again if asked to.

    Of a submission (`blindsave submit`) plan, weights, rows and card are checked, and every row is played again.

    Every failure is named with its file. The exit status is 1 where there is one.
    """

    folder: tyro.conf.Positional[Path | None] = None
    """A study's folder, a checkout, a folder of results such as results/teachers/seed_7304, or a submission; by default
    the shipped study. Each teacher's study of a study file is verified."""
    replay: int | None = None
    """Play so many rows of the test tables again, chosen at random, and compare them bit for bit."""
    every: Annotated[bool, tyro.conf.arg(name="all")] = False
    """Play every row of the test tables again (minutes on two cores)."""
    seed: int = 0
    """Chooses the rows of `--replay`."""
    threads: int | None = None
    """Threads; all cores by default."""

    def run(self) -> dict[str, Any]:
        """Verify every study of the folder."""
        from blindsave.stages.joint import study_folders
        from blindsave.submissions import is_submission, verify_submission
        from blindsave.verify import verify
        from blindsave.verify.places import shipped
        from blindsave.verify.replay import Replay

        if self.replay is not None and (self.replay < 1 or self.every):
            raise BadInput("--replay takes the number of rows to play, at least 1; --all plays every row")
        again = Replay(self.replay, self.seed, self.threads) if self.replay or self.every else None
        if self.folder is not None and is_submission(self.folder):
            return verify_submission(self.folder, again or Replay(None, threads=self.threads)).to_dict()
        folders = study_folders(shipped() if self.folder is None else self.folder)
        found = {name: verify(folder, replay=again) for name, folder in folders.items()}
        if len(found) == 1:
            return next(iter(found.values())).to_dict()
        return {
            "ok": all(one.ok for one in found.values()),
            "checked": {what: sum(one.checked.get(what, 0) for one in found.values()) for what in _every_count(found)},
            "failures": [vars(f) | {"file": f"{name}/{f.file}"} for name, one in found.items() for f in one.failures],
            "notes": [f"{name}: {note}" for name, one in found.items() for note in one.notes],
            "folder": str(self.folder),
        }

    def show(self, result: dict[str, Any]) -> None:
        """Print what was checked, what is wrong, and what else to know."""
        print(", ".join(f"{count} {what.replace('_', ' ')}" for what, count in result["checked"].items()))
        for failure in result["failures"]:
            print(f"FAILED {failure['file']}: {failure['reason']}")
        for note in result["notes"]:
            print(f"note: {note}")
        print(f"{result['folder']}: {'verified' if result['ok'] else 'does not verify'}")


def _every_count(found: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(what for one in found.values() for what in one.checked))
