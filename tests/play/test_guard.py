import pytest

from blindsave.play import guard


@pytest.mark.parametrize("value", [1, 0.5, True, "left", [1.0, 2.0], -(1 << 52)])
def test_plain_settings_pass(value):
    assert guard.is_plain({"value": value})


@pytest.mark.parametrize(
    "updates",
    [
        {}, None, 3, {"value": 1, "update_cb": 2}, {"update_cb": []}, {"value": "x" * 201}, {"value": {"a": 1}},
        {"value": [[1]]}, {"value": None}, {"value": 1 << 60}, {"value": list(range(9))}, {"value": b"bytes"},
    ],
)  # fmt: skip
def test_anything_else_is_refused(updates):
    assert not guard.is_plain(updates)


@pytest.mark.parametrize(
    "headers, same",
    [
        ({"Host": "localhost:8080"}, True),
        ({"Host": "localhost:8080", "Origin": "http://localhost:8080"}, True),
        ({"Host": "localhost:8080", "Origin": "https://elsewhere.example"}, False),
        ({"Host": "localhost:8080", "Origin": "http://localhost:9090"}, False),
        ({"Host": "localhost:8080", "Origin": "null"}, False),
    ],
)
def test_only_our_own_page_may_connect(headers, same):
    assert guard.same_site(headers) is same
