"""Commands of the seal: freeze everything, then open the test exactly once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blindsave.cli.shared import Threads, print_saves
from blindsave.cli.targets import OutFile, OutFolder

RESULTS = Path("results")


@dataclass(frozen=True)
class Freeze:
    """Bind plan, checkpoints, datasets, validation, efficiency and code into one manifest."""

    plan: Path = Path("protocol.toml")
    """The analysis plan; it says what is bound."""
    root: Path = Path(".")
    """Folder below which everything bound lies."""
    out: OutFile = RESULTS / "freeze.json"
    """Where the manifest goes."""
    ledger: OutFile = RESULTS / "ledger.jsonl"
    """The append-only ledger."""

    def run(self) -> dict[str, Any]:
        """Hash everything and write the manifest."""
        from blindsave.evidence.freeze import freeze
        from blindsave.evidence.ledger import Ledger
        from blindsave.evidence.plan import load_plan

        frozen = freeze(load_plan(self.plan), self.root, self.out, Ledger(self.ledger))
        return {
            "freeze_sha256": frozen.sha256,
            "sealed_seed": frozen.sealed_seed,
            "bound": {group: len(files) for group, files in frozen.body["groups"].items()},
            "code_files": len(frozen.body["code"]),
            "manifest": str(self.out),
        }

    def show(self, result: dict[str, Any]) -> None:
        """Print the hash."""
        bound = ", ".join(f"{count} {group}" for group, count in result["bound"].items())
        print(f"frozen: {result['freeze_sha256']}")
        print(f"bound: {bound}, {result['code_files']} source files; manifest: {result['manifest']}")
        print(f"the sealed test will be drawn from seed {result['sealed_seed']}")


@dataclass(frozen=True)
class Release:
    """Verify everything frozen and open the test, once; a killed release is completed by the same command."""

    manifest: Path = RESULTS / "freeze.json"
    """The freeze manifest."""
    root: Path = Path(".")
    """Folder below which everything bound lies."""
    ledger: OutFile = RESULTS / "ledger.jsonl"
    """The append-only ledger."""
    out: OutFolder = RESULTS / "test"
    """Where the tables go, one per split."""
    work: OutFolder = Path("runs/release")
    """Folder of finished policies."""
    threads: Threads = None

    def run(self) -> dict[str, Any]:
        """Open the test."""
        from functools import partial

        from blindsave.evidence.freeze import open_frozen
        from blindsave.evidence.grid import grid
        from blindsave.evidence.ledger import Ledger
        from blindsave.evidence.release import opened_schedules, refuse_second, release
        from blindsave.progress import Progress

        refuse_second(Ledger(self.ledger))
        frozen = open_frozen(self.manifest, self.root)
        episodes = len(frozen.plan.runs) * sum(map(len, opened_schedules(frozen).values()))
        with Progress("playing the test", episodes) as bar:
            play = partial(grid, threads=self.threads, progress=bar.advance)
            done = release(self.manifest, self.root, Ledger(self.ledger), self.out, self.work, play=play)
        return done.to_dict()

    def show(self, result: dict[str, Any]) -> None:
        """Print save rates of every split."""
        for split, policies in result["save_rates"].items():
            print_saves(split, policies)
        print(f"opened {result['opening']['time']}; ledger entry {result['results']['sha256']}")
