"""Which calls a check describes, and which plain values stand in their arguments."""

from __future__ import annotations

from typing import Any

import pytest

from harness.judging.matching.calls import described_calls, plain_values


@pytest.mark.parametrize(
    ("params", "calls"),
    [
        ({"tool": "a", "args": {"x": 1}}, [("a", {"x": 1})]),
        ({"tool": "a"}, []),
        ({"args": {"x": 1}}, []),
        ({"calls": [{"tool": "a", "args": {}}, {"tool": "b", "args": {}}]}, [("a", {}), ("b", {})]),
        ({"expected": ({"tool": "a", "args": {}},)}, [("a", {})]),
        ({"calls": "a", "expected": {"tool": "a", "args": {}}}, []),
        ({"calls": ["a", {"tool": "b", "args": {}}]}, [("b", {})]),
        (
            {"tool": "a", "args": {}, "calls": [{"tool": "b", "args": {}}]},
            [("a", {}), ("b", {})],
        ),
    ],
)
def test_every_call_with_a_tool_and_arguments_is_described(
    params: dict[str, Any], calls: list[Any]
) -> None:
    assert list(described_calls(params)) == calls


@pytest.mark.parametrize(
    ("pattern", "values"),
    [
        ("a", ["a"]),
        (1.5, [1.5]),
        (True, []),
        (None, []),
        ({"x": ["a", {"y": 2}], "z": False}, ["a", 2]),
        (("a", "b"), ["a", "b"]),
        ({"$one_of": ["a", 3]}, ["a", 3]),
        ({"$type": "string"}, []),
        ({"$type": "string", "$contains": "a"}, ["a"]),
    ],
)
def test_texts_and_numbers_are_plain_values_and_the_names_of_types_are_not(
    pattern: Any, values: list[Any]
) -> None:
    assert list(plain_values(pattern)) == values
