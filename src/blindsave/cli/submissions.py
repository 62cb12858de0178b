"""Commands that compare a policy with others: pack it, and make the table of everybody's."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from blindsave.cli.shared import Threads, print_saves, print_table
from blindsave.cli.targets import OutFolder, refuse_unwritable
from blindsave.progress import Progress


@dataclass(frozen=True)
class Submit:
    """Play the plan's tests with a policy and pack weights, plan, rows and a model card into one folder to share."""

    policies: tyro.conf.Positional[tuple[str, ...]]
    """Policies as in `evaluate`: one, or one for each training seed; a family's name means all its shipped seeds."""
    out: OutFolder | None = None
    """Where the folder goes; `submissions/NAME` by default."""
    title: str | None = None
    """What the leaderboard calls it; the policy's name by default."""
    authors: str = ""
    """Whose it is."""
    description: str = ""
    """A sentence for its card."""
    link: str = ""
    """Where more is said of it."""
    license: str = ""
    """Its licence, as model hubs name it (mit, apache-2.0)."""
    work: OutFolder = Path("runs/submit")
    """Folder of finished policies: a killed command goes on where it stood."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Play and pack."""
        from blindsave.draw.policy_looks import family_words
        from blindsave.evidence.release import save_rates
        from blindsave.evidence.tables import of_split, read
        from blindsave.policies.catalog import resolve
        from blindsave.submissions.layout import ROWS, About
        from blindsave.submissions.pack import episodes_of, pack, refuse_unfit

        chosen = [resolve(name) for name in self._names()]
        name = chosen[0].family if chosen else ""
        out = self.out or Path("submissions") / name
        refuse_unfit(chosen, out)
        refuse_unwritable(out, "folder")
        about = About(self.title or family_words(name), self.authors, self.description, self.link, self.license)
        with Progress(f"playing {name}", episodes_of(chosen)) as bar:
            made = pack(chosen, out, about, self.work, threads=self.threads, progress=bar.advance)
        table = read(out / ROWS)
        splits = sorted(table["split"].unique().to_pylist())
        rates = {split: save_rates(of_split(table, split))[name] for split in splits}
        return {"submission": str(out), "policy": name, "training_seeds": list(made.seeds), "save_rates": rates}

    def show(self, result: dict[str, Any]) -> None:
        """Print the rates and where the folder is."""
        for split, cells in result["save_rates"].items():
            print_saves(split, {result["policy"]: cells})
        print(f"packed: {result['submission']} (`blindsave verify {result['submission']}` plays every row again)")

    def _names(self) -> list[str]:
        """The policies, shipped families by their seeds."""
        from blindsave.policies.catalog import shipped

        names = []
        for name in self.policies:
            names += [one for one in shipped() if one.startswith(f"{name}/")] or [name]
        return names


@dataclass(frozen=True)
class Leaderboard:
    """Verify every submission of a folder and make a table of those that pass: Markdown, a static page, JSON.

    A submission that does not verify is named with what is wrong, and the exit status is 1.
    """

    folder: tyro.conf.Positional[Path]
    """Folder of submissions, each a folder that `blindsave submit` made."""
    out: OutFolder | None = None
    """Where the table goes; the folder itself by default."""
    work: OutFolder = Path("runs/leaderboard")
    """Remembers what was verified, so that only new submissions are played."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Verify, compare, write."""
        from blindsave.submissions import board_files
        from blindsave.submissions.board import board, folders
        from blindsave.submissions.layout import published_plan

        found, out = folders(self.folder), self.out or self.folder
        refuse_unwritable(out, "folder")
        made = board(found, published_plan(), self.work, self.threads)
        written = board_files.write(made, out)
        files = {name: str(path) for name, path in written.items()}
        return {"ok": not made.refused, **board_files.document(made), **files}

    def show(self, result: dict[str, Any]) -> None:
        """Print the table, and who was refused."""
        end, reference = str(result["endpoint"]), result["reference"]
        rows = [
            [
                str(place),
                one["title"],
                f"{one['weights']:,}",
                str(len(one["training_seeds"])),
                _percent(one["rates"][end]),
                "" if one["difference"] is None else _points(one["difference"]),
                _percent(one["sealed"]),
            ]
            for place, one in enumerate(result["entries"], 1)
        ]
        heads = ["", "policy", "weights", "seeds", "principal", f"minus {reference}", "sealed"]
        print_table(f"saves in % and points, puck hidden for {20 * int(end)} ms", heads, rows)
        for name, failures in result["refused"].items():
            print(f"REFUSED {name}: {failures[0]['file']}: {failures[0]['reason']} ({len(failures)} in all)")
        print(f"the table: {result['markdown']}; the page: {result['page']}")


def _percent(rate: dict[str, float]) -> str:
    return f"{100 * rate['estimate']:.1f} [{100 * rate['low']:.1f}, {100 * rate['high']:.1f}]"


def _points(apart: dict[str, float]) -> str:
    return f"{100 * apart['estimate']:+.1f} [{100 * apart['low']:+.1f}, {100 * apart['high']:+.1f}]"
