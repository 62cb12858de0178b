"""Commands about the task itself: its shots, its difficulty and its ambiguity."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Shots:
    """List the shots of a split in schedule order."""

    split: str = "validation"
    """calibration, train, validation, test, principal_test or noise_test."""

    def run(self) -> dict[str, Any]:
        """Generate the split."""
        from blindsave.task import shots

        chosen = shots.split_named(self.split)
        members = shots.shots(chosen.name)
        return {"split": chosen.name, "seed": chosen.seed, "shots": [asdict(shot) for shot in members]}

    def show(self, result: dict[str, Any]) -> None:
        """Print one line per shot."""
        from rich.console import Console
        from rich.table import Table

        table = Table(title=f"{result['split']}: {len(result['shots'])} shots, seed {result['seed']}")
        for column in ("shot", "x m", "y m", "vx m/s", "vy m/s", "target y m", "approach s"):
            table.add_column(column, justify="left" if column == "shot" else "right", no_wrap=True)
        for shot in result["shots"]:
            numbers = ("x", "y", "vx", "vy", "target_y", "approach_time_s")
            name = shot["id"].partition(":")[2]
            table.add_row(name, *(f"{shot[number]:.3f}" for number in numbers))
        Console(soft_wrap=True).print(table)
