import re

from blindsave.benchmark.budget import STANDARD
from blindsave.benchmark.page import page


def figures(core: str, kept: float) -> dict:
    def points(count: int, rate: float) -> dict:
        point = {"rate": rate, "low": max(0.0, rate - 0.1), "high": min(1.0, rate + 0.1), "by_seed": [1], "shots": 1}
        return {name: [point] * count for name in ("saved", "alias_saved", "alias_kept_out")}

    cost = {"parameters": 1234, "carry_bytes": 40}
    return {
        "core": core,
        "cost": cost,
        "paper": {"hidden_ms": [0, 200, 400], **points(3, 0.9)},
        "horizon": {"hold_ms": [0, 100, 200, 300, 400], **points(5, kept)},
        "faults": {"faults": ["stale", "noise_5mm"], **points(2, 0.7)},
    }


def test_the_page_shows_the_core_beside_references_and_needs_no_other_file():
    made = page([figures("mine_n8", 0.95)], [figures("structured_k0", 1.0), figures("mine_n8", 0.1)], STANDARD)
    assert "mine" in made and "Structured k = 0" in made
    assert made.count("<svg") == 4
    assert "400 ms" in made and "0.71 bit" in made  # 1 - H(0.95)
    assert not re.search(r'(src|href)="?(?!data:|#)[^"#>]*\.(js|css|png|svg)', made)
    assert "http://" not in made.replace("http://www.w3.org", "")
    assert "prefers-color-scheme:dark" in made


def test_equal_figures_give_equal_bytes():
    own, others = [figures("mine_n8", 0.6)], [figures("gru_n64", 0.9)]
    assert page(own, others, STANDARD) == page(own, others, STANDARD)
