from __future__ import annotations

from typing import Any

import pytest

from harness.leaderboards.bfcl.checker.calls import find_argument_fault, find_calls_fault
from harness.leaderboards.bfcl.transcript_steps import OutputCall

FLOAT, TUPLE = {"type": "float"}, {"type": "tuple", "items": {"type": "integer"}}


@pytest.mark.parametrize(
    ("value", "schema", "answers", "message"),
    [
        (1, FLOAT, [1.0], None),
        (True, FLOAT, [1.0], "parameter 'x' needs float, got bool: True"),
        (10**400, FLOAT, [1.0], f"parameter 'x' needs float, got int: {10**400}"),
        ((1, 2), TUPLE, [[1, 2]], None),
        ([1, 2], TUPLE, [[1, 2]], None),
        ((1, 2), {"type": "integer"}, [3], "parameter 'x' needs integer, got tuple: (1, 2)"),
        (1.0, {"type": "integer"}, [1], "parameter 'x' needs integer, got float: 1.0"),
    ],
)
def test_a_value_is_taken_as_python_takes_it(
    value: Any, schema: Any, answers: Any, message: str | None
) -> None:
    fault = find_argument_fault("python", "x", value, schema, answers)
    assert (fault.message if fault else None) == message


@pytest.mark.parametrize("language", ["java", "javascript"])
def test_a_value_of_a_written_language_stands_in_a_text(language: Any) -> None:
    assert find_argument_fault(language, "x", "5", {"type": "integer"}, [5]) is None
    fault = find_argument_fault(language, "x", 5, {"type": "integer"}, [5])
    assert fault is not None
    assert fault.message == "parameter 'x' must be a string, got int: 5"
    assert fault.error_type == {"java": "type_error:java", "javascript": "type_error:js"}[language]
    float_fault = find_argument_fault(language, "x", "5", {"type": "integer"}, [5.0])
    assert float_fault is None or float_fault.error_type.startswith("type_error")


FUNCTION = {"name": "f", "parameters": {"required": [], "properties": {"x": {"type": "integer"}}}}


@pytest.mark.parametrize(
    ("category", "calls", "expected", "error_type"),
    [
        ("simple", 1, 1, None),
        ("simple", 0, 1, "simple_function_checker:wrong_count"),
        ("simple", 2, 1, "simple_function_checker:wrong_count"),
        ("multiple", 1, 1, None),
        ("multiple", 2, 1, "multiple_function_checker:wrong_count"),
        ("multiple", 0, 1, "multiple_function_checker:wrong_count"),
        ("parallel", 2, 2, None),
        ("parallel", 1, 2, "parallel_function_checker_no_order:wrong_count"),
        ("parallel", 3, 2, "parallel_function_checker_no_order:wrong_count"),
        ("parallel_multiple", 2, 2, None),
    ],
)
def test_as_many_calls_are_right_as_the_category_asks_for(
    category: str, calls: int, expected: int, error_type: str | None
) -> None:
    made = [OutputCall("f", {"x": 1})] * calls
    fault = find_calls_fault(category, "python", [FUNCTION], made, [{"f": {"x": [1]}}] * expected)
    assert (fault.error_type if fault else None) == error_type
    if fault is not None:
        assert fault.message == f"{calls} calls were made, {expected} expected"


def test_each_call_stands_for_one_expected_call() -> None:
    wanted = [{"f": {"x": [1]}}, {"f": {"x": [1]}}]
    fault = find_calls_fault(
        "parallel",
        "python",
        [FUNCTION],
        [OutputCall("f", {"x": 1}), OutputCall("f", {"x": 2})],
        wanted,
    )
    assert fault is not None
    assert fault.error_type == "parallel_function_checker_no_order:cannot_find_match"
    assert "f: parameter 'x' is 2; expected one of [1]" in fault.message
