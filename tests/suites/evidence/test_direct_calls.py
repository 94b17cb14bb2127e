"""``call:`` of a test: calls without a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.judging import VOCABULARY
from tests.suites.files import problems, read

HEAD = "suite: shop\nserver: shop\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("look", [("look", {})]),
        ("{tool: look, args: {id: 1}}", [("look", {"id": 1})]),
        ("[look, {tool: write, args: {id: 1}}]", [("look", {}), ("write", {"id": 1})]),
    ],
)
def test_a_test_makes_one_call_or_several_in_place_of_a_prompt(
    folder: Path, written: str, expected: list[tuple[str, object]]
) -> None:
    tests = f"tests:\n  - name: a\n    call: {written}\n    assertions: {{must_succeed: look}}\n"
    (case,) = read(folder, HEAD + tests, VOCABULARY).cases
    assert [(call.tool, call.arguments) for call in case.calls] == expected
    assert (case.prompt, case.prompts) == ("", ())
    assert case.calls[0].at is not None
    assert case.calls[0].at.line == 5


def test_what_the_defaults_ask_of_a_model_holds_for_questions_alone(folder: Path) -> None:
    text = (
        HEAD
        + """\
defaults: {assertions: {answer_contains: hi, no_tool_errors: true, not: {must_call: look}}}
tests:
  - {name: a, call: look, assertions: {must_succeed: look}}
  - {name: b, prompt: Hello}
"""
    )
    called, asked = read(folder, text, VOCABULARY).cases
    assert [check.kind for check in called.checks] == ["must_succeed", "no_tool_errors"]
    assert [check.kind for check in asked.checks] == ["answer_contains", "no_tool_errors", "not"]


@pytest.mark.parametrize(
    ("test", "line", "message"),
    [
        ("prompt: hi\n    call: look", 5, "has both 'prompt' and 'call'"),
        ("call: look\n    turns: [{prompt: hi}]", 6, "has both 'turns' and 'call'"),
        ("call: look\n    max_tokens: 3", 6, "has 'max_tokens', but its calls are made without"),
        ("call: []", 5, "there are no calls"),
        ("call: {tool: look, argz: {}}", 5, "unknown key 'argz' in call of test 'a'"),
        ("call: [look, {args: {}}]", 5, "number 2 of call of test 'a'"),
        ("call: [look, 7]", 5, "number 2 of call of test 'a': expected a tool's name"),
    ],
)
def test_a_mistake_is_reported_at_its_line(
    folder: Path, test: str, line: int, message: str
) -> None:
    text = f"{HEAD}tests:\n  - name: a\n    {test}\n    assertions: {{must_succeed: look}}\n"
    found = problems(folder, text, VOCABULARY)
    assert any(message in one and one.startswith(f"{line}:") for one in found), found


@pytest.mark.parametrize(
    "check",
    [
        "must_call: look",
        "answer_contains: x",
        "max_replies: 2",
        "expected_answer: yes",
        "any_of: [{must_succeed: look}, {not: {refuses: true}}]",
    ],
)
def test_a_check_of_a_model_is_a_mistake_at_its_line_once_for_all_identities(
    folder: Path, check: str
) -> None:
    text = (
        HEAD
        + f"""\
identities: {{a: {{}}, b: {{role: x}}}}
tests:
  - name: a
    call: look
    as: [a, b]
    assertions:
      {check}
"""
    )
    (found,) = problems(folder, text, VOCABULARY)
    assert "judges a model, and 'call:' asks none" in found
    assert found.startswith("9:")
