"""Stands for `blindsave study`: ten tables, one after the other, each kept once it is there.

    python fake_study.py HONESTY [--engine NAME ...] --folder FOLDER --json

An honest one always writes the same; a `sloppy` one writes down when it did so.
"""

import json
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    honesty, *rest = sys.argv[1:]
    folder = Path(rest[rest.index("--folder") + 1])
    results, stages = folder / "results", folder / "stages"
    for made in (results, stages):
        made.mkdir(parents=True, exist_ok=True)
    (folder / "protocol.toml").write_text("")
    for number in range(10):
        table = results / f"{number}.parquet"
        if not table.exists():
            time.sleep(0.1)
            (stages / f"{number}.json").write_text(json.dumps({"state": "done", "wall_s": 0.1}))
            table.write_text(str(time.time_ns()) if honesty == "sloppy" else str(number))
