import hashlib
import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blindsave.errors import BadInput
from blindsave.task import shots as module
from blindsave.task.manifest import manifest_sha256
from blindsave.task.shots import SPLITS, Counts, find, generate, shots

MANIFESTS = {
    "calibration": ("359b093d97d213d52764ad553b9c81478296d8600a9edd7379edc005bcd88c9a", ""),
    "train": ("1cd25ca8", "2131"),
    "validation": ("8dad29fa", "b850"),
    "test": ("b1569330", "548f"),
    "principal_test": ("be9989d7", "f140"),
    "noise_test": ("20a40b6b", "273a"),
}
FIRST = {
    "calibration": "support:right:near_post_right:011",
    "train": "alias:152:near_post_right",
    "validation": "alias:038:near_post_left",
    "test": "alias:086:near_post_right",
    "principal_test": "alias:065:near_post_right",
    "noise_test": "alias:088:near_post_right",
}
TOTALS = {
    "calibration": 216,
    "train": 900,
    "validation": 225,
    "test": 225,
    "principal_test": 225,
    "noise_test": 225,
}


@pytest.mark.parametrize("name", SPLITS)
def test_published_manifest_hash_is_reproduced(name):
    digest = manifest_sha256(SPLITS[name], shots(name))
    start, end = MANIFESTS[name]
    assert digest.startswith(start)
    assert digest.endswith(end)


def test_published_principal_schedule_hash_is_reproduced():
    grid = [
        {"shot_id": shot.id, "blackout_steps": length}
        for shot in shots("principal_test")
        for length in (0, 5, 10, 15, 20, 25)
    ]
    text = json.dumps(grid, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert digest == "f73664bef2f49c3fb52cd3a8b3e0028ae640acc2814fce466b48fa0737d5177b"


@pytest.mark.parametrize("name", SPLITS)
def test_split_starts_with_the_published_shot_and_has_its_size(name):
    members = shots(name)
    assert members[0].id == f"{SPLITS[name].distribution}:{name}:{FIRST[name]}"
    assert len(members) == TOTALS[name] == SPLITS[name].counts.total
    assert len({shot.id for shot in members}) == len(members)


def test_first_shots_have_the_published_launches():
    train, principal = shots("train")[0], shots("principal_test")[0]
    assert train.launch == (0.560603764729, -0.017476634449, 0.0, -2.536636198424, 0.174766344488, 0.0)
    assert principal.launch == (0.535074949995, -0.016847301, 0.0, -2.327579132297, 0.168473009999, 0.0)


@pytest.mark.parametrize("name", SPLITS)
def test_alias_families_meet_and_part(name):
    families: dict[str, list[module.Shot]] = {}
    for shot in shots(name):
        if shot.alias_family is not None:
            families.setdefault(shot.alias_family, []).append(shot)
    assert len(families) == SPLITS[name].counts.alias_families
    for members in families.values():
        left, right = sorted(members, key=lambda shot: shot.target_y)
        assert left.unit == right.unit == left.alias_family
        assert left.rendezvous == right.rendezvous
        for shot in (left, right):
            assert shot.x + 0.1 * shot.vx == pytest.approx(shot.rendezvous[0], abs=1e-11)
            assert shot.y + 0.1 * shot.vy == pytest.approx(0.0, abs=1e-11)
        assert right.target_y - left.target_y >= 0.176


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**63))
def test_any_seed_gives_a_valid_split_of_its_own(seed):
    counts = SPLITS["principal_test"].counts
    members = generate("sealed_test", "direct_launch_v3_sealed", seed, counts)
    assert len(members) == 225
    assert members == generate("sealed_test", "direct_launch_v3_sealed", seed, counts)
    for shot in members:
        assert shot.id.startswith("direct_launch_v3_sealed:sealed_test:")
        assert 0.45 <= shot.x <= 0.65
        assert -0.36 <= shot.y <= 0.36
        assert shot.vx < 0
        goal_time = (-0.974 - shot.x) / shot.vx
        assert shot.y + goal_time * shot.vy == pytest.approx(shot.target_y, abs=1e-9)
        assert shot.unit == (shot.alias_family or shot.id)


def test_other_counts_are_possible():
    members = generate("tiny", "mine", 7, Counts(2, {("left", "goal_centre"): 3}))
    assert len(members) == 7
    assert sum(shot.alias_family is None for shot in members) == 3


def test_support_columns_are_latin_hypercubes():
    members = [s for s in shots("train") if ":support:left:near_post_left:" in s.id]
    strata = np.sort([int((s.x - 0.45) / 0.2 * len(members)) for s in members])
    assert strata.tolist() == list(range(80))


@pytest.mark.parametrize("name", SPLITS)
def test_find_returns_every_shot_by_full_and_short_id(name):
    for shot in shots(name)[:20]:
        assert find(shot.id) is shot
        assert find(shot.id.partition(":")[2]) is shot


@pytest.mark.parametrize(
    ("call", "fragment"),
    [
        (lambda: shots("validaton"), "did you mean 'validation'"),
        (lambda: find("validation:alias:38:near_post_left"), "did you mean"),
        (lambda: find("nonsense"), "not a shot id"),
        (lambda: generate("x", "y", -1, SPLITS["test"].counts), "negative"),
    ],
)
def test_unknown_names_are_refused_in_one_sentence(call, fragment):
    with pytest.raises(BadInput, match=fragment) as caught:
        call()
    assert "\n" not in str(caught.value)


def blindsave(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "blindsave", *args], capture_output=True, text=True, check=False)


def test_command_prints_the_contract():
    printed = json.loads(blindsave("shots", "--split", "validation", "--json").stdout)
    assert (printed["split"], printed["seed"]) == ("validation", 3303)
    assert set(printed["shots"][0]) == {
        "id", "x", "y", "vx", "vy", "launch_region", "target_region", "target_y",
        "approach_time_s", "speed", "angle_deg", "alias_family", "rendezvous",
    }  # fmt: skip
    assert [shot["id"] for shot in printed["shots"]] == [shot.id for shot in shots("validation")]
    support = next(shot for shot in printed["shots"] if ":support:" in shot["id"])
    assert support["alias_family"] is None
    assert support["rendezvous"] is None


def test_command_refuses_an_unknown_split_with_one_sentence():
    failed = blindsave("shots", "--split", "everything", "--json")
    assert failed.returncode != 0
    assert failed.stdout == ""
    assert failed.stderr.startswith("blindsave: there is no split 'everything'")
    assert failed.stderr.count("\n") == 1
