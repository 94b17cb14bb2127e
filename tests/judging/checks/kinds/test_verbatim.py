from __future__ import annotations

from typing import Any

import pytest

from harness.base.errors import InvalidValue
from harness.judging.checks import VOCABULARY
from tests.judging.checks.scenes import fails, judge, scene

KIND = "answer_verbatim"


@pytest.mark.parametrize(
    ("value", "answer", "verdict"),
    [
        ({"contains": "Apple"}, "an Apple", "passed"),
        ({"contains": "apple"}, "an Apple", "failed"),
        ({"contains": "apple", "ignore_case": True}, "an Apple", "passed"),
        ({"contains": "it's"}, "it’s", "failed"),
        ({"contains": "bold"}, "**bo**ld", "failed"),
        ({"contains": " "}, "a b", "passed"),
        ({"equals": "42"}, "42", "passed"),
        ({"equals": "42"}, "42\n", "failed"),
        ({"equals": "a", "ignore_case": True}, "A", "passed"),
        ({"starts_with": "The"}, "The end", "passed"),
        ({"starts_with": "The"}, " The end", "failed"),
        ({"matches": "^a.c$"}, "abc", "passed"),
        ({"matches": "^a.c$"}, "ABC", "failed"),
        ({"equals": "42", "tag": "r"}, "<r>1</r> x <r> 42 </r>", "passed"),
        ({"equals": "42", "tag": "r"}, "42", "failed"),
        ({"matches": "^4", "tag": "r"}, "x<r>42</r>", "passed"),
    ],
)
def test_letters_are_compared_as_they_are_written(
    value: dict[str, Any], answer: str, verdict: str
) -> None:
    assert judge(KIND, value, scene(answer=answer)).verdict == verdict


def test_a_failure_says_what_was_compared() -> None:
    result = fails(
        KIND,
        {"contains": "apple"},
        scene(answer="Apple"),
        'Answer does not contain exactly this: "apple"',
        "It begins: “Apple”",
        "answer_contains overlooks case",
    )
    assert result.actual == "Apple"


def test_an_answer_without_the_tag_is_told_so() -> None:
    result = judge(KIND, {"equals": "42", "tag": "r"}, scene(answer="42"))
    assert result.explanation.startswith("Answer has no <r>…</r>")


def test_many_open_tags_are_searched_in_no_time() -> None:
    # quadratic work would run for minutes
    assert (
        judge(KIND, {"equals": "x", "tag": "r"}, scene(answer="<r>" * 300_000)).verdict == "failed"
    )


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("apple", "where a mapping belongs"),
        ({}, "it takes one of equals, contains, starts_with, matches"),
        ({"equals": "a", "contains": "b"}, "it takes one of"),
        ({"equals": ""}, "not a text"),
        ({"equals": 5}, "not a text"),
        ({"equals": "a", "tag": ""}, "not a text"),
        ({"contains": "a", "ignore_case": 1}, "true or false"),
        ({"matches": ".*"}, "every answer matches"),
        ({"matches": "("}, "missing"),
        ({"matches": "a", "ignore_case": True}, "its own case"),
        ({"has": "a"}, "unknown key"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(value: Any, told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        VOCABULARY.parse(KIND, value)
