"""The regime test: the hint for a failing case, and the cause that follows from its result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.descriptions.workbench.improving.regime import failing_cases, hinted_arm, write_hint
from harness.types import SimulatedUser, Variant
from tests.descriptions.workbench.benches import bench, case, measured, tool

TOOLS = [tool("find"), tool("weather")]
FIND = {"must_call": [{"tool": "find", "args": {"id": 7}}]}


@pytest.mark.parametrize(
    ("assertions", "told"),
    [
        (FIND, 'Use the tool find with {"id": 7}.'),
        ({"must_call": ["find", "weather"]}, "Use the tool find.\nThen: Use the tool weather."),
        ({"must_call_any": ["find", "weather"]}, "Use the tool find."),
        ({"must_call": [{"tool": "find", "args": {"id": {"$gt": 3}}}]}, "Use the tool find."),
        ({"must_not_call": ["find"]}, None),
        ({"answer_contains": ["x"]}, None),
    ],
)
def test_a_hint_names_the_calls_that_the_checks_require_and_their_plain_values(
    assertions: dict[str, Any], told: str | None
) -> None:
    assert write_hint(case("c", **assertions)) == told


def hinted(folder: Path, clean: str, then: str, called: str | None) -> Any:
    """Return what follows when case ``c`` ends as ``clean``, and with a hint as ``then``."""
    on = bench([case("c", **FIND)], TOOLS)
    before = measured(folder, (None, {"c": [(letter, "weather") for letter in clean]}))
    arm = hinted_arm(on, before)
    if arm is None:
        return failing_cases(on, before)
    (folder / "again").mkdir()
    again = measured(
        folder / "again",
        (None, {"c": [(letter, "weather") for letter in clean]}),
        (arm.variant, {"c": [(letter, called) for letter in then]}),
    )
    return failing_cases(on, again)


@pytest.mark.parametrize(
    ("clean", "then", "called", "cause"),
    [
        ("f", "p", "find", "words"),
        ("f", "f", "weather", "model"),
        ("f", "f", None, "model"),
        ("f", "f", "find", "server or check"),
        ("pff", "ppf", "find", "words"),
        ("pff", "pff", "find", "server or check"),
        ("f", "e", None, "unknown"),
    ],
)
def test_a_case_that_a_hint_does_not_help_is_no_problem_of_a_description(
    tmp_path: Path, clean: str, then: str, called: str | None, cause: str
) -> None:
    [found] = hinted(tmp_path, clean, then, called)
    assert found.cause == cause
    assert found.may_be_words == (cause in {"words", "unknown"})


def test_a_case_that_passes_gets_no_hint(tmp_path: Path) -> None:
    assert hinted(tmp_path, "pp", "p", "find") == ()


def test_a_case_without_an_expected_call_or_a_prompt_gets_no_hint_and_is_told(
    tmp_path: Path,
) -> None:
    played = replace(case("played", **FIND), user=SimulatedUser(scenario="x"))
    on = bench([case("free", answer_contains=["x"]), played], TOOLS)
    before = measured(tmp_path, (None, {"free": [("f", None)], "played": [("f", None)]}))
    assert hinted_arm(on, before) is None
    assert [(one.cause, one.text) for one in failing_cases(on, before)] == [
        ("unknown", "No hint was tried: no check says which call is right."),
        ("unknown", "No hint was tried: its user is simulated."),
    ]


def test_the_hint_stands_behind_the_prompt_and_only_failing_cases_are_asked(
    tmp_path: Path,
) -> None:
    on = bench([case("a", **FIND), case("b", **FIND)], TOOLS)
    arm = hinted_arm(on, measured(tmp_path, (None, {"a": [("f", None)], "b": [("p", "find")]})))
    assert arm is not None
    assert arm.cases == frozenset({"a"})
    assert isinstance(arm.variant, Variant)
    assert arm.variant.prompts == {"a": 'a\n\nUse the tool find with {"id": 7}.'}
    assert arm.variant.tools == {}
