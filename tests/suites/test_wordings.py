"""``wordings:`` of a test: read, filled in, and refused where they lose an argument value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import InvalidInput
from harness.judging.checks import VOCABULARY
from harness.runner.planning.plan import describe_case
from harness.suites.in_python.case import PythonCase
from harness.suites.in_python.suite import read_object
from harness.suites.wordings import find_lost_values
from harness.types import Case
from tests.suites.files import read, refusal
from tests.support import a_case

SUITE = """\
suite: shop
tests:
  - name: open_orders
    prompt: Which orders of C001 are still open?
    wordings:
      - Open orders of C001?
      - {second}
    assertions:
      must_call: [{{tool: search, args: {{customer: C001, status: open, limit: 10}}}}]
"""


def test_wordings_are_read_and_leave_the_trial_s_question_as_it_was(tmp_path: Path) -> None:
    (case,) = read(tmp_path, SUITE.format(second="For C001, what is open?"), VOCABULARY).cases
    assert case.wordings == ("Open orders of C001?", "For C001, what is open?")
    assert "wordings" not in describe_case(case)


@pytest.mark.parametrize(
    ("second", "words"),
    [
        ("For c001, what is open?", "wording 2 of 'open_orders' no longer says 'C001'"),
        ("What is unshipped for C001?", "no longer says 'open', which must_call expects"),
        ("Open orders of C001?", "wording 2 of 'open_orders' says the same as wording 1"),
        ("Which orders of C001 are still open?", "says the same as the prompt"),
        ("7", "expected other words, found 7"),
    ],
)
def test_a_wording_that_asks_something_else_is_an_error_with_its_line(
    second: str, words: str, tmp_path: Path
) -> None:
    told = str(refusal(tmp_path, SUITE.format(second=second), VOCABULARY))
    assert words in told
    assert ":7:" in told


def test_wordings_are_filled_in_with_parameters(tmp_path: Path) -> None:
    text = """\
suite: shop
tests:
  - name: orders
    matrix: {who: [C001, C002]}
    prompt: Orders of ${{ who }}?
    wordings: ["What did ${{ who }} order?"]
    assertions: {must_call: [{tool: search, args: {customer: "${{ who }}"}}]}
"""
    first, second = read(tmp_path, text, VOCABULARY).cases
    assert first.wordings == ("What did C001 order?",)
    assert second.wordings == ("What did C002 order?",)
    fixed = text.replace("What did ${{ who }}", "What did C001")
    assert "no longer says 'C002'" in str(refusal(tmp_path, fixed, VOCABULARY))


def test_a_simulated_user_has_no_other_wordings(tmp_path: Path) -> None:
    text = """\
suite: shop
tests:
  - name: talk
    user: Wants a refund.
    wordings: [Refund me.]
    assertions: {must_call: [refund]}
"""
    told = str(refusal(tmp_path, text, VOCABULARY))
    assert "'talk' has 'wordings', but its user is simulated" in told
    assert ":5:" in told


def of(args: dict[str, Any], prompt: str) -> Case:
    (parsed,) = VOCABULARY.parse("must_call", [{"tool": "t", "args": args}])
    return a_case(prompt=prompt, checks=(parsed[1],))


@pytest.mark.parametrize(
    ("args", "prompt", "words", "lost"),
    [
        ({"n": 5}, "Take 5 of them.", "Take 15 of them.", [5]),
        ({"n": 5}, "Take 5 of them.", "Take 5.5 of them.", [5]),
        ({"n": 5}, "Take 5 of them.", "Of them, take 5.", []),
        ({"n": 5.0}, "Take 5 of them.", "Of them, take 5.", []),
        ({"n": 1}, "Take one of them.", "Take some.", []),
        ({"on": True}, "Is it True?", "Is it so?", []),
        ({"n": {"$gte": 5}}, "At least 5.", "At least six.", [5]),
        ({"n": {"$type": "string"}}, "Say a string.", "Say it.", []),
        ({"ids": ["A1", "B2"]}, "A1 and B2", "A1 and B3", ["B2"]),
        ({"to": "ann@x.org"}, "Write to ann@x.org.", "Mail ann@x.org!", []),
        ({"where": {"city": "Oslo"}}, "In Oslo?", "In the capital of Norway?", ["Oslo"]),
    ],
)
def test_a_value_is_kept_if_it_stands_there_literally(
    args: dict[str, Any], prompt: str, words: str, lost: list[Any]
) -> None:
    assert [value for value, _ in find_lost_values(of(args, prompt), words)] == lost


class Shop:
    name = "shop"
    server = "shop"

    def __init__(self, wordings: Any) -> None:
        self.wordings = wordings

    def cases(self) -> list[PythonCase]:
        asserted = {"must_call": [{"tool": "search", "args": {"customer": "C001"}}]}
        return [
            PythonCase(id="a", input="Orders of C001?", wordings=self.wordings, assertions=asserted)
        ]


def test_a_suite_in_python_has_wordings_too() -> None:
    (case,) = read_object(Shop(["What did C001 order?"]), VOCABULARY).cases
    assert case.wordings == ("What did C001 order?",)
    with pytest.raises(InvalidInput, match="wording 1 of 'a' no longer says 'C001'"):
        read_object(Shop(["What did they order?"]), VOCABULARY)
    with pytest.raises(InvalidInput, match="wordings: expected a list of texts"):
        read_object(Shop("What did C001 order?"), VOCABULARY)
