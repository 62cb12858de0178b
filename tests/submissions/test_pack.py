"""What goes into a submission, and what cannot."""

import pytest

from blindsave import load, store
from blindsave.errors import BadInput
from blindsave.evidence import tables
from blindsave.policies.catalog import from_file, model_file, resolve
from blindsave.submissions.layout import CARD, CONFIG, ROWS, About, Submission, is_submission, published_plan, seed_of
from blindsave.submissions.pack import pack
from blindsave.verify.places import PLAN


def test_a_folder_to_share_holds_card_configuration_weights_plan_and_rows(packed):
    names = {path.name for path in (packed / "forgetful").iterdir()}
    weights = {"model-14303.safetensors", "model-14304.safetensors"}
    assert names == {CARD, CONFIG, ROWS, PLAN, *weights} and is_submission(packed / "forgetful")
    made = Submission.read(packed / "forgetful")
    assert made.policy == "feed_forward" and made.seeds == (14303, 14304) and made.weights == 5_602
    assert load(packed / "forgetful" / "model-14303.safetensors").name == "feed_forward/14303"
    assert (packed / "forgetful" / PLAN).read_bytes() == published_plan().path.read_bytes()


def test_rows_are_both_tests_of_every_seed(packed):
    table = tables.read(packed / "forgetful" / ROWS)
    assert table.num_rows == 2 * 2 * 10 * 6
    assert set(table["split"].to_pylist()) == {"principal_test", "sealed_test"}


def test_weights_decide_the_shots_of_the_sealed_test(packed):
    seeds = {name: Submission.read(packed / name).sealed_seed for name in ("forgetful", "teacher")}
    assert len(set(seeds.values())) == 2
    made = Submission.read(packed / "teacher")
    assert made.models[0].sha256 == store.sha256_file(model_file("teacher"))
    assert seeds["teacher"] == seed_of(published_plan().sha256, made.models)


def test_the_card_says_what_hubs_read_and_what_the_rows_give(packed):
    text = (packed / "forgetful" / CARD).read_text()
    assert text.startswith('---\nlicense: "mit"\nlibrary_name: blindsave\n')
    assert "By A. Nobody." in text and "| principal test |" in text and "240 episodes" in text


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], "name at least one policy"),
        (["structured_k0/14303", "gru_n64/14303"], "about one policy"),
        (["structured_k0/14303", "structured_k0/14303"], "takes part twice"),
        (["privileged"], "is told where the puck is"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_it_plays(names, words, tmp_path):
    with pytest.raises(BadInput, match=words):
        pack([resolve(name) for name in names], tmp_path / "out", About("x"), tmp_path / "work")
    assert not list(tmp_path.iterdir())


def test_a_folder_with_something_in_it_is_left_alone(forgetful, tmp_path):
    before = store.sha256_tree(forgetful)
    with pytest.raises(BadInput, match="already exists"):
        pack([from_file(forgetful / "model-14303.safetensors")], forgetful, About("x"), tmp_path / "work")
    assert store.sha256_tree(forgetful) == before


def test_a_policy_without_weights_can_be_packed(tmp_path):
    made = pack([resolve("fixed_centre")], tmp_path / "centre", About("Stays central"), tmp_path / "work")
    assert made.weights == 0 and made.models[0].file is None
    assert 'blindsave.load("fixed_centre")' in (tmp_path / "centre" / CARD).read_text()
