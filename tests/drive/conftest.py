"""One compiled loop for all tests of this folder."""

import pytest

from blindsave.deploy.toolchain import compiler
from blindsave.drive.sources import build, write_sources
from blindsave.policies import load


@pytest.fixture(scope="session")
def policy():
    return load("structured_k0/14303")


@pytest.fixture(scope="session")
def program(tmp_path_factory, policy):
    if compiler() is None:
        pytest.skip("no C compiler")
    return build(write_sources(policy, tmp_path_factory.mktemp("drive")))
