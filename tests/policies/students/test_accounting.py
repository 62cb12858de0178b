"""The cost table of the paper, counted from the programs."""

import numpy as np
import pytest

from blindsave.policies.students import PAPER_FAMILIES, families, family
from blindsave.policies.students.accounting import cost, cost_table, macs

PAPER = {
    "feed_forward": (5602, 0, 0, 0, 5440),
    "finite_stack_10": (7330, 0, 120, 0, 7168),
    "structured_k0": (12002, 2304, 264, 256, 11776),
    "structured_k1": (12165, 2467, 264, 256, 11938),
    "structured_k2": (12328, 2630, 264, 256, 12100),
    "structured_k4": (12654, 2956, 264, 256, 12424),
    "gru_n64": (28898, 19200, 264, 256, 28352),
}


@pytest.mark.parametrize("name", PAPER_FAMILIES)
def test_costs_equal_the_papers(name):
    found = cost_table(families())[name]
    assert tuple(found.values()) == PAPER[name]


def test_macs_do_not_depend_on_the_parameters():
    kind = family("structured_k4")
    zero = {name: np.zeros(shape, np.float32) for name, shape in kind.shapes.items()}
    assert macs(kind.program(zero)) == macs(kind.program(kind.init(3))) == PAPER["structured_k4"][-1]


def test_the_complex_core_counts_its_rotation_and_scaling():
    assert cost(family("lru_n32")).macs == 19 * 64 + 64 * 32 + 34 * 64 + 64 + 4 * 32 + 96 * 64 + 64 * 2
