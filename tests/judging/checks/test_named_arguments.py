from __future__ import annotations

from typing import Any

import pytest

from harness.judging.checks import VOCABULARY
from harness.judging.checks.named_arguments import valid_calls
from harness.judging.checks.witness.patterns import find_names


@pytest.mark.parametrize(
    ("kind", "value", "names"),
    [
        ("must_call", ["a"], [("a", ())]),
        ("must_call", [{"tool": "a", "args": {"x": 1, "y": {"$gt": 1}}}], [("a", ("x", "y"))]),
        ("must_not_call", [{"tool": "a", "args": {"$equals": {"x": 1}}}], [("a", ("x",))]),
        (
            "must_not_call",
            [{"tool": "a", "args": {"$path": {"x.y": 1, "$": {"$any": True}}}}],
            [("a", ("x",))],
        ),
        ("must_call_in_order", ["a", {"tool": "b", "args": {"x": 1}}], [("a", ()), ("b", ("x",))]),
        ("tool_result", {"tool": "a", "args": {"x": 1}, "path": "y"}, [("a", ("x",))]),
        ("tool_result", {"path": "y"}, []),
        (
            "any_of",
            [{"must_call": [{"tool": "a", "args": {"x": 1}}]}, {"not": {"only_call": ["b"]}}],
            [("a", ("x",)), ("b", ())],
        ),
        ("answer_contains", ["a"], []),
    ],
)
def test_the_arguments_that_a_check_names_are_found(
    kind: str, value: Any, names: list[Any]
) -> None:
    ((_, check),) = VOCABULARY.parse(kind, value)
    assert [(tool, tuple(find_names(args))) for tool, args in valid_calls(check)] == names
