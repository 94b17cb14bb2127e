from __future__ import annotations

from typing import Any

import pytest

from harness.judging.checks import VOCABULARY
from harness.judging.checks.named_tools import tool_names
from harness.types import Location

AT = Location(file="shop.yml", line=7)


@pytest.mark.parametrize(
    ("kind", "value", "named"),
    [
        ("must_call", "a", [("a", False)]),
        ("must_not_call", {"tool": "a", "allow_absent": True}, [("a", True)]),
        ("must_not_call", {"tool": "a", "allow_absent": False}, [("a", False)]),
        ("must_call_any", ["a", {"tool": "b", "allow_absent": True}], [("a", False), ("b", True)]),
        ("must_call_in_order", ["a", "b", "a"], [("a", False), ("b", False), ("a", False)]),
        ("graded", {"expected": ["a", "b"]}, [("a", False), ("b", False)]),
        (
            "end_state",
            {"tool": "a", "same_state_as": [{"tool": "b"}]},
            [("a", False), ("b", False)],
        ),
        ("end_state", {"tool": "a", "allow_absent": True, "path": "x", "value": 1}, [("a", True)]),
        ("any_of", [{"must_call": ["a"]}, {"must_not_call": ["b"]}], [("a", False), ("b", False)]),
        ("answer_contains", ["a"], []),
        ("max_replies", 3, []),
    ],
)
def test_every_tool_that_a_check_names_is_found(
    kind: str, value: Any, named: list[tuple[str, bool]]
) -> None:
    checks = [check.with_location(AT) for _, check in VOCABULARY.parse(kind, value)]
    found = [name for check in checks for name in tool_names(check)]
    assert [(name.tool, name.allow_absent) for name in found] == named
    assert {name.at for name in found} <= {AT}
