"""The studies in this repository verify, and rows of theirs come out again."""

import json
from pathlib import Path

import pytest
from sealed_study import Study

from blindsave import cli
from blindsave.evidence import tables
from blindsave.evidence.plan import load_plan
from blindsave.verify import verify
from blindsave.verify.places import locate
from blindsave.verify.played import schedules
from blindsave.verify.replay import Replay, choose
from blindsave.verify.seal import Seal

REPOSITORY = Path(__file__).parents[2]


OTHERS = sorted(path.parent for path in (REPOSITORY / "results" / "teachers").glob("*/freeze.json"))


@pytest.mark.parametrize("folder", [".", "results", *(str(path.relative_to(REPOSITORY)) for path in OTHERS)])
def test_a_shipped_study_verifies(folder: str):
    found = verify(REPOSITORY / folder)
    assert found.failures == ()
    policies = len(load_plan(locate(REPOSITORY / folder).plan).runs) - len(found.absent)
    assert policies == 36 or "teachers" in folder
    assert (found.checked["checkpoints"], found.checked["tables"], found.checked["sealed_shots"]) == (policies, 4, 225)


def test_rows_of_every_test_table_come_out_again():
    found = verify(REPOSITORY, replay=Replay(40, seed=3))
    assert found.failures == () and found.checked["rows_played_again"] == 40


def test_the_rows_played_again_are_chosen_by_the_seed_over_all_tables():
    names = [f"results/test/{split}.parquet" for split in ("principal_test", "sealed_test")]
    played = {name: tables.read(REPOSITORY / name) for name in names}
    one, same, other = (choose(played, Replay(50, seed)) for seed in (1, 1, 2))
    assert one == same != other
    assert sum(map(len, one.values())) == 50 and {name for name, _, _ in one} == set(names)
    assert sum(map(len, choose(played, Replay(None)).values())) == sum(table.num_rows for table in played.values())


def test_a_row_that_was_not_played_so_is_found_by_playing_it_again(tmp_path: Path):
    """Against a forger who rewrites every hash: one value off by one bit, in a row that is played again."""
    import numpy as np
    import pyarrow as pa

    from blindsave.store import read_json
    from blindsave.verify.findings import Findings
    from blindsave.verify.replay import replay_rows

    place = locate(REPOSITORY)
    frozen = read_json(place.results / "freeze.json")
    seal = Seal(load_plan(place.plan), frozen["body"], frozen["freeze_sha256"], ())
    rows = tables.read(place.results / "noise" / "noise_test.parquet").slice(0, 60)
    reward = rows["reward"].to_numpy().copy()
    reward[7] = np.nextafter(reward[7], 9)
    at = rows.schema.get_field_index("reward")
    forged = rows.set_column(at, rows.schema.field("reward"), pa.array(reward))
    for table, wrong in ((rows, 0), (forged, 1)):
        found = Findings()
        replay_rows(place, seal, {"noise": table}, schedules(seal), Replay(None), found)
        assert len(found.failures) == wrong and found.checked["rows_played_again"] == 60
    assert f"shot_id={rows['shot_id'][7]}" in found.failures[0].reason and "reward" in found.failures[0].reason


def test_the_command_prints_the_contract_and_exits_with_1_where_something_is_wrong(study: Study, capsys):
    cli.execute(["verify", str(study.root), "--json"])
    result = json.loads(capsys.readouterr().out)
    assert result["ok"] is True and result["failures"] == [] and result["checked"]["ledger_lines"] == 3
    (study.root / "models/teacher/teacher.safetensors").unlink()
    for words in (["--json"], []):
        with pytest.raises(SystemExit) as stopped:
            cli.execute(["verify", str(study.root), *words])
        assert stopped.value.code == 1
        said = capsys.readouterr().out
        assert "models/teacher/teacher.safetensors" in said and "missing" in said
    with pytest.raises(SystemExit) as stopped:
        cli.execute(["verify", str(study.root), "--json"])
    failure = {"file": "models/teacher/teacher.safetensors", "reason": "was frozen and is now missing"}
    assert json.loads(capsys.readouterr().out)["failures"] == [failure]


def test_a_frozen_study_whose_test_is_closed_verifies_and_says_so(tmp_path: Path):
    closed = Study(tmp_path / "closed").prepare()
    closed.freeze()
    found = verify(closed.root)
    assert found.ok and not found.released and "No test has been opened" in found.sentence


def test_a_folder_without_a_study_does_not_verify(tmp_path: Path):
    found = verify(tmp_path)
    assert not found.ok and not found.sealed
    assert {failure.file for failure in found.failures} >= {"results/ledger.jsonl", "results/freeze.json"}
