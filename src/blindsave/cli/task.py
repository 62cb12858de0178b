"""Commands about the task itself: its shots, its difficulty and its ambiguity."""

from dataclasses import asdict, dataclass
from typing import Any

from blindsave.cli.shared import print_table


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
        print(f"{result['split']}: {len(result['shots'])} shots, seed {result['seed']}; metres, seconds")
        print(f"{'shot':<46}{'x':>8}{'y':>8}{'vx':>8}{'vy':>8}{'target y':>10}{'approach':>10}")
        for shot in result["shots"]:
            motion = "".join(f"{shot[key]:8.3f}" for key in ("x", "y", "vx", "vy"))
            name = shot["id"].partition(":")[2]
            print(f"{name:<46}{motion}{shot['target_y']:10.3f}{shot['approach_time_s']:10.3f}")


@dataclass(frozen=True)
class ListConditions:
    """List the faults that conditions are made of; join several by +, as in latency_2+outliers_3percent."""

    def run(self) -> dict[str, Any]:
        """Look them up."""
        from blindsave.task.conditions import kinds

        return {"faults": {name: {"usage": one.usage, "about": one.about} for name, one in kinds().items()}}

    def show(self, result: dict[str, Any]) -> None:
        """Print one row per fault."""
        rows = [[one["usage"], one["about"]] for one in result["faults"].values()]
        print_table("conditions: clean, or faults joined by +", ["written", "what happens"], rows)


@dataclass(frozen=True)
class Calibrate:
    """Play every shot of a split with three rules: do nothing, stay central, know everything."""

    split: str = "calibration"
    """Which shots."""
    locked_steps: int = 5
    """Control steps at the start during which the mallet holds its place."""

    def run(self) -> dict[str, Any]:
        """Simulate 3 x 216 episodes."""
        from blindsave.evidence.calibrate import calibrate

        return calibrate(self.split, locked_steps=self.locked_steps)

    def show(self, result: dict[str, Any]) -> None:
        """Print one row per rule."""
        rows = []
        for rule in ("inactive", "fixed_centre", "privileged"):
            counts = [str(result[rule][what]) for what in ("conceded", "saved", "faults")]
            rows.append([rule, *counts, ", ".join(f"{n} {label}" for label, n in result[rule]["outcomes"].items())])
        title = f"{result['split']}: {result['shots']} shots, {result['locked_steps']} locked steps"
        print_table(title, ["rule", "conceded", "saved", "faults", "outcomes"], rows)
        if result["approach_time_s"]:
            first, last = result["approach_time_s"]
            reached = result["reached_approach_plane"]
            print(f"{reached} shots reach the approach plane, after {first:.2f} to {last:.2f} s")


@dataclass(frozen=True)
class Audit:
    """Check that the two shots of every alias family look the same when the puck disappears."""

    split: str = "calibration"
    """Which shots."""

    def run(self) -> dict[str, Any]:
        """Simulate the visible prefix of every pair."""
        from blindsave.task.audit import audit

        return audit(self.split)

    def show(self, result: dict[str, Any]) -> None:
        """Print the figures against their limits."""
        from blindsave.task import audit

        identical = f"{result['identical_first_hidden_observations']} of {result['families']} identical"
        difference = f"{result['max_first_hidden_observation_difference']:g} ({identical})"
        last_visible = f"{result['max_last_visible_separation_mm']:.2f} mm"
        distance = f"{result['min_privileged_action_distance']:.3f}"
        rows = [
            ["families", str(result["families"]), f"at least {audit.MIN_FAMILIES}"],
            ["pucks apart, last visible", last_visible, f"at most {audit.MAX_LAST_VISIBLE_MM:g} mm"],
            ["pucks apart, first hidden", f"{result['max_first_hidden_separation_mm']:.2f} mm", ""],
            ["first hidden observations differ by", difference, f"at most {audit.MAX_OBSERVATION_DIFFERENCE:g}"],
            ["right answers apart", distance, f"at least {audit.MIN_ACTION_DISTANCE:g}"],
            ["targets apart", f"{result['min_target_separation_m']:.3f} m", ""],
        ]
        print_table(f"{result['split']}: alias audit", ["alias pairs", "measured", "limit"], rows)
        print("passed" if result["passed"] else "FAILED")
