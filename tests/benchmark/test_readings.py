import pytest

from blindsave.benchmark.readings import bits, horizon_ms, summary


def curve(*kept: float) -> dict:
    return {"hold_ms": [100 * i for i in range(len(kept))], "alias_kept_out": [{"rate": rate} for rate in kept]}


def test_the_horizon_is_the_longest_hold_before_the_first_failure():
    assert horizon_ms(curve(1.0, 0.95, 0.9, 0.5, 1.0)) == 200
    assert horizon_ms(curve(0.5, 1.0)) is None
    assert horizon_ms(curve(1.0, 0.8), enough=0.75) == 100


@pytest.mark.parametrize(("kept", "left"), [(1.0, 1.0), (0.5, 0.0), (0.2, 0.0), (0.89, 0.5)])
def test_bits_are_what_is_left_of_which_post(kept, left):
    assert bits(kept) == pytest.approx(left, abs=0.01)


def test_a_summary_names_the_worst_fault_and_the_rate_at_400_ms():
    found = {
        "core": "x",
        "cost": None,
        "horizon": curve(1.0, 0.5),
        "paper": {"hidden_ms": [0, 400, 500], "saved": [{"rate": rate} for rate in (1.0, 0.8, 0.7)]},
        "faults": {"faults": ["stale", "frozen"], "saved": [{"rate": 0.6}, {"rate": 0.3}]},
    }
    told = summary(found)
    assert (told["saved"], told["worst_fault"], told["horizon_ms"], told["bits"]) == (0.8, "frozen", 0, [1.0, 0.0])
