"""Where a study lies, and what it does not let be overwritten."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import tiny_study

from blindsave import store
from blindsave.errors import BadFile
from blindsave.policies.catalog import MODELS_VARIABLE
from blindsave.policies.students.student import Student
from blindsave.stages.site import Site, once, players


def test_a_site_travels_as_json_and_means_the_same_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    site = Site(Path("study"), tiny_study.TINY, Path("teacher.safetensors"), threads=2, quiet=True)
    found = Site.from_dict(json.loads(json.dumps(site.to_dict())))
    assert (found.folder, found.teacher) == (tmp_path / "study", tmp_path / "teacher.safetensors")
    assert (found.scale, found.threads, found.quiet) == (site.scale, 2, True)
    assert Site.from_dict(replace(site, teacher=None).to_dict()).teacher is None


def test_everything_published_lies_apart_from_what_can_be_made_again(tmp_path):
    site = tiny_study.site(tmp_path)
    published = (site.results, site.models, site.plan, site.manifest, site.ledger.path, site.teacher_file)
    assert not any(path.is_relative_to(site.work) for path in published)
    assert all(path.is_relative_to(tmp_path) for path in (*published, site.work))


def test_players_are_every_student_and_the_teacher_with_seed_zero(tmp_path):
    scale = replace(tiny_study.TINY, families=("gru_n8", "feed_forward"), training_seeds=(3, 4))
    assert players(scale) == [("gru_n8", 3), ("gru_n8", 4), ("feed_forward", 3), ("feed_forward", 4), ("teacher", 0)]
    assert Site(tmp_path, scale).students() == players(scale)[:-1]


def test_a_teacher_given_goes_before_the_shipped_one(tmp_path, monkeypatch):
    monkeypatch.setenv(MODELS_VARIABLE, str(tmp_path / "models"))
    site = tiny_study.site(tmp_path)
    assert replace(site, teacher=tmp_path / "mine").teacher_source == tmp_path / "mine"
    assert site.teacher_source.is_relative_to(tmp_path / "models")


def test_a_student_is_opened_from_the_studys_own_copy(tmp_path):
    site = tiny_study.site(tmp_path)
    with pytest.raises(BadFile, match=r"feed_forward/14303\.safetensors"):
        site.policy("feed_forward", 14303)
    Student.untrained("feed_forward", 14303).save(site.student_file("feed_forward", 14303))
    found = site.policy("feed_forward", 14303)
    assert (found.family, found.training_seed) == ("feed_forward", 14303)
    assert found.sha256 == store.sha256_file(site.student_file("feed_forward", 14303))


def test_a_published_file_is_replaced_until_the_test_is_open(tmp_path):
    site, path = tiny_study.site(tmp_path), tmp_path / "models" / "x"
    for content in (b"one", b"two"):
        assert site.publish(path, content).read_bytes() == content
    site.ledger.append("opening", {})
    before = path.stat().st_mtime_ns
    assert site.publish(path, b"two") == path and path.stat().st_mtime_ns == before
    with pytest.raises(BadFile, match=f"{path} was frozen before the test was opened"):
        site.publish(path, b"three")
    assert path.read_bytes() == b"two"


def test_something_slow_is_made_once_until_the_site_forgets(tmp_path):
    made = []

    def make(site: Site) -> int:
        made.append(site.folder)
        return len(made)

    site = tiny_study.site(tmp_path)
    site.forget()
    assert [once(site, make), once(tiny_study.site(tmp_path), make)] == [1, 1]
    assert once(tiny_study.site(tmp_path / "other"), make) == 2
    site.forget()
    assert once(site, make) == 3
