from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidValue
from harness.judging.matching.json_values import check_path, parse_path, select_values
from tests.judging.checks.strategies import JSON

VALUE = {"orders": [{"status": "open", "odd.key": 1}, {"status": "shipped"}], "total": 2}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("total", [2]),
        ("$", [VALUE]),
        ("$.total", [2]),
        ("orders[0].status", ["open"]),
        ("$.orders[-1].status", ["shipped"]),
        ("orders[*].status", ["open", "shipped"]),
        ('orders[0]["odd.key"]', [1]),
        ("orders[2]", []),
        ("orders[-3]", []),
        ("orders.status", []),
        ("total[0]", []),
        ("total.x", []),
        ("missing", []),
    ],
)
def test_a_path_leads_to_its_values(path: str, found: list[Any]) -> None:
    assert select_values(path, VALUE) == found


def test_a_path_into_a_list_begins_with_its_index() -> None:
    assert select_values("[1]", ["a", "b"]) == ["b"]
    assert select_values("$[*]", ["a", "b"]) == ["a", "b"]


@pytest.mark.parametrize(
    "path", ["", ".a", "a..b", "a[", "a[x]", "a]b", "$a", "a.", "a b[", '["a', "a[1.5]"]
)
def test_what_is_no_path_is_refused_with_an_example(path: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        check_path(path, ("path",))
    assert caught.value.path == ("path",)
    assert "orders[0].status" in str(caught.value.meant)


def test_a_path_that_is_no_string_is_refused() -> None:
    with pytest.raises(InvalidValue, match="a path is a string"):
        check_path(5)


@given(st.text(max_size=20), JSON)
def test_any_text_is_a_path_or_refused(text: str, value: Any) -> None:
    try:
        parse_path(text)
    except ValueError:
        return
    assert isinstance(select_values(text, value), list)
