"""A manifest says what ran."""

import json
import os

from store_cases import make

from blindsave import store


def test_the_manifest_says_what_ran_but_not_where(tmp_path):
    text = (make(tmp_path).folder / store.MANIFEST).read_text()
    seen = json.loads(text)["provenance"]
    assert {"numpy", "mujoco"} <= seen["libraries"].keys()
    assert {"cpu", "cores", "os"} == seen["machine"].keys()
    assert os.uname().nodename not in text or len(os.uname().nodename) < 4
