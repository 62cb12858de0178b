"""What killed processes left is removed, and nobody else's."""

import os

from store_cases import CONFIGURATION, INPUTS, make

from blindsave import store


def test_only_old_leftovers_of_dead_processes_are_swept(tmp_path):
    name = store.address("grid", CONFIGURATION, INPUTS)
    (tmp_path / "grid").mkdir()
    dead, fresh, alive = (
        tmp_path / "grid" / f"{store.TEMPORARY}{pid}-{token}-{name}"
        for pid, token in ((2**22 + 7, "a"), (2**22 + 7, "b"), (os.getpid(), "c"))
    )
    for folder in (dead, fresh, alive):
        folder.mkdir()
    for folder in (dead, alive):
        os.utime(folder, (0, 0))
    make(tmp_path)
    assert (dead.exists(), fresh.exists(), alive.exists()) == (False, True, True)
