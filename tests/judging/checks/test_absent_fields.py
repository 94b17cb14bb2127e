"""Fields that no result may give: how they are written, and what counts as given."""

from __future__ import annotations

from typing import Any

import pytest

from harness.base.errors import InvalidValue
from harness.judging.checks.absent_fields import (
    explain_given,
    find_given_fields,
    read_absent,
    read_masks,
)
from harness.types import ToolCall


def given(without: Any, structured: Any = None, text: str = "") -> list[tuple[str, Any]]:
    """Return path and value of each field that is given although ``without`` forbids it."""
    masks = read_masks({"without": read_absent(without)})
    call = ToolCall(
        tool="get", arguments={}, outcome="ok", reply=0, text=text, structured=structured
    )
    return [(path, value) for _, path, value in find_given_fields(masks, [call])]


# ── How they are written ─────────────────────────────────────────────────────────────────────


def test_one_field_and_a_list_of_fields_mean_the_same() -> None:
    assert read_absent("email") == read_absent(["email"]) == ["email"]
    assert read_absent({"fields": "email"}) == {"fields": ["email"], "mask": "partial"}


@pytest.mark.parametrize("share", ["25%", "<=25%", "≤ 25 %", "25.0%", 0.25])
def test_a_share_is_written_in_percent_or_as_a_number(share: Any) -> None:
    assert read_masks({"without": read_absent({"fields": ["a"], "readable": share})}) == {"a": 0.25}


@pytest.mark.parametrize(
    ("without", "place", "words"),
    [
        ([], (), "field"),
        (7, (), "field"),
        ({"fields": []}, ("fields",), "field"),
        ({"fields": ["a"], "mask": "nome"}, ("mask",), 'there is no mask "nome"'),
        ({"fields": ["a"], "readable": "a lot"}, ("readable",), '"a lot" is no share of a value'),
        ({"fields": ["a"], "readable": 25}, ("readable",), "25 is no share of a value"),
        ({"fields": ["a"], "readable": True}, ("readable",), "is no share of a value"),
        ({"fields": ["a"], "mask": "any", "readable": 0.5}, ("readable",), "says nothing"),
        ({"fields": ["a"], "allow_unknown": "yes"}, ("allow_unknown",), "neither true nor false"),
    ],
)
def test_what_is_written_otherwise_is_an_error_at_its_place(
    without: Any, place: tuple[str, ...], words: str
) -> None:
    with pytest.raises(InvalidValue) as raised:
        read_absent(without)
    assert tuple(raised.value.path)[: 1 + len(place)] == ("without", *place)
    assert words in raised.value.message


def test_a_misspelt_mask_is_told_with_the_one_that_was_meant() -> None:
    with pytest.raises(InvalidValue) as raised:
        read_absent({"fields": ["a"], "mask": "partail"})
    assert "partial" in str(raised.value.meant)


# ── What counts as given ─────────────────────────────────────────────────────────────────────


def test_a_field_counts_in_every_form_of_a_result_and_at_any_depth() -> None:
    record = {"rows": [{"Email": "ann@example.com"}]}
    assert given("email", record) == [("rows.Email", "ann@example.com")]
    assert given("email", text='{"email": "ann@example.com"}') == [("email", "ann@example.com")]


@pytest.mark.parametrize("path", ["rows[].email", "rows.email", "result.rows[].email"])
def test_a_path_as_reports_write_it_names_the_field(path: str) -> None:
    record = {"result": {"rows": [{"email": "ann@example.com"}]}}
    assert given(path, record) == [("result.rows.email", "ann@example.com")]


def test_a_name_that_only_ends_alike_is_another_field() -> None:
    assert given("mail", {"email": "ann@example.com"}) == []


@pytest.mark.parametrize("empty", [None, "", [], {}])
def test_an_empty_field_is_not_given(empty: Any) -> None:
    assert given("email", {"email": empty}) == []


@pytest.mark.parametrize("value", [0, False, 0.0])
def test_a_zero_is_a_value(value: Any) -> None:
    assert given("balance", {"balance": value}) == [("balance", value)]


@pytest.mark.parametrize(
    ("without", "mask", "is_given"),
    [
        ("card", "****", False),
        ("card", "************1881", False),
        ("card", "401288888888****", True),
        ({"fields": ["card"], "mask": "none"}, "****", True),
        ({"fields": ["card"], "mask": "any"}, "401288888888****", False),
        ({"fields": ["card"], "mask": "any"}, "4012888888881881", True),
        ({"fields": ["card"], "readable": "80%"}, "401288888888****", False),
        ({"fields": ["card"], "readable": "10%"}, "************1881", True),
    ],
)
def test_a_mask_counts_by_what_it_leaves_readable(without: Any, mask: str, is_given: bool) -> None:
    assert bool(given(without, {"card": mask})) == is_given


def test_what_is_wrong_is_said_of_each_sort() -> None:
    assert explain_given("ann@example.com") == "Field was given although it must be left out"
    assert explain_given("****") == "Field was masked although it must be left out"
    assert explain_given("401288888888****") == "Field was masked, but about 75% of it can be read"
