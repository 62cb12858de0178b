"""Where the published studies lie that tests speak of by their numbers."""

from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
ASIDE = "terminated_7303"


def _first(*paths: Path) -> Path:
    return next(path for path in paths if path.exists())


TERMINATED = _first(REPOSITORY / "results/teachers" / ASIDE, REPOSITORY / "results")
"""Results of the study whose teacher's time-outs terminated, wherever the main study is: its numbers do not change."""
TERMINATED_MODELS = _first(REPOSITORY / "models/teachers" / ASIDE, REPOSITORY / "models")
