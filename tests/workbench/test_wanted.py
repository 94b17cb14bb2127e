"""The tool that a case wants called first."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks import VOCABULARY
from harness.types import Check
from harness.workbench.wanted import wanted_first, wanted_tool
from tests.support import a_case


def checks(**assertions: Any) -> tuple[Check, ...]:
    return tuple(
        check for name, value in assertions.items() for _, check in VOCABULARY.parse(name, value)
    )


@pytest.mark.parametrize(
    ("assertions", "tools"),
    [
        ({"must_call": ["a"]}, {"a"}),
        ({"must_call": ["a", {"tool": "a", "args": {"x": 1}}]}, {"a"}),
        ({"must_call": ["a", "b"]}, {"a", "b"}),
        ({"must_call_any": ["a", "b"]}, {"a", "b"}),
        ({"must_call": ["a", "b"], "must_call_in_order": ["b", "a"]}, {"b"}),
        ({"must_succeed": ["a"], "must_not_call": ["b"]}, {"a"}),
        ({"must_be_denied": ["a"]}, {"a"}),
        ({"all_of": [{"must_call": ["a"]}]}, {"a"}),
        ({"any_of": [{"must_call": ["a"]}, {"must_call": ["b"]}]}, {"a", "b"}),
        ({"not": {"must_call": ["a"]}, "answer_contains": ["x"]}, set()),
    ],
)
def test_the_tools_that_are_right_first(assertions: dict[str, Any], tools: set[str]) -> None:
    case = a_case(checks=checks(**assertions))
    assert wanted_first(case) == tools
    assert wanted_tool(case) == (next(iter(tools)) if len(tools) == 1 else None)
