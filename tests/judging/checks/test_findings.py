"""One conversation, judged by every check of calls, results and costs: expected and found."""

from __future__ import annotations

from typing import Any

import pytest

from harness.types import Usage, Verdict
from tests.judging.checks.scenes import call, judge, scene

ANSWER = "The total is 7 and the sky is grey."
SEEN = scene(
    call(
        "get_orders",
        {"customer_id": "C1", "limit": 2},
        structured={"orders": [{"id": 1}, {"id": 2}]},
    ),
    call("weather", reply=2, outcome="tool_error", text="no such city"),
    call("get_orders", {"customer_id": "C2"}, reply=3, text="total: 7"),
    answer=ANSWER,
    replies=4,
    usage=Usage(input_tokens=100, output_tokens=20, cost_usd=0.5),
    latency_s=3.0,
)
FIRST, WEATHER, LAST = (
    {"tool": made.tool, "arguments": dict(made.arguments), "outcome": made.outcome}
    for made in SEEN.transcript.tool_calls
)
ORDERS, FORECAST = {"tool": "get_orders", "args": {}}, {"tool": "weather", "args": {}}


@pytest.mark.parametrize(
    ("kind", "value", "verdict", "label", "expected", "actual"),
    [
        ("must_call", "get_orders", "passed", "get_orders", ORDERS, [FIRST, LAST]),
        (
            "must_call",
            {"tool": "get_orders", "args": {"limit": 2}, "times": 1},
            "passed",
            "get_orders",
            {"tool": "get_orders", "args": {"limit": 2}, "times": 1},
            [FIRST],
        ),
        (
            "must_call",
            "search_orders",
            "failed",
            "search_orders",
            {"tool": "search_orders", "args": {}},
            ...,
        ),
        ("must_not_call", "weather", "failed", "weather", {"not": FORECAST}, [WEATHER]),
        (
            "must_not_call",
            "search_orders",
            "passed",
            "search_orders",
            {"not": {"tool": "search_orders", "args": {}}},
            [],
        ),
        (
            "must_succeed",
            "get_orders",
            "passed",
            "get_orders",
            ORDERS | {"outcome": "ok"},
            [FIRST, LAST],
        ),
        ("must_succeed", "weather", "failed", "weather", FORECAST | {"outcome": "ok"}, [WEATHER]),
        (
            "must_be_denied",
            "weather",
            "failed",
            "weather",
            FORECAST | {"outcome": "denied"},
            [WEATHER],
        ),
        ("must_error", "weather", "passed", "weather", FORECAST | {"outcome": "error"}, [WEATHER]),
        (
            "must_error",
            "get_orders",
            "failed",
            "get_orders",
            ORDERS | {"outcome": "error"},
            [FIRST, LAST],
        ),
        ("no_tool_errors", True, "failed", "", "no failed call", [WEATHER]),
        ("no_tool_errors", {"tool": "get_orders"}, "passed", "get_orders", "no failed call", []),
        (
            "recovers_from_error",
            True,
            "passed",
            "",
            "a failed call, and a successful one after it",
            ...,
        ),
        ("recovers_from_error", {"tool": "weather"}, "failed", "weather", ..., [WEATHER]),
        ("recovers_from_error", {"tool": "get_orders"}, "failed", "get_orders", ..., [FIRST, LAST]),
        (
            "must_call_any",
            ["delete_customer", "weather"],
            "passed",
            "delete_customer, weather",
            {"any_of": [{"tool": "delete_customer", "args": {}}, FORECAST]},
            [WEATHER],
        ),
        ("must_call_any", ["a", "b"], "failed", "a, b", ..., [FIRST, WEATHER, LAST]),
        (
            "must_call_in_order",
            ["get_orders", "weather"],
            "passed",
            "get_orders → weather",
            ...,
            [FIRST, WEATHER, LAST],
        ),
        (
            "must_call_in_order",
            ["weather", "get_orders", "weather"],
            "failed",
            "weather → get_orders → weather",
            {"in_order": [FORECAST, ORDERS, FORECAST], "strict": False},
            [FIRST, WEATHER, LAST],
        ),
        ("only_call", ["get_orders", "weather"], "passed", "get_orders, weather", ..., ...),
        ("only_call", ["get_orders"], "failed", "get_orders", ..., [WEATHER]),
        ("max_calls", 3, "passed", "3", ..., ...),
        ("max_calls", 2, "failed", "2", ..., ...),
        ("max_calls", {"limit": 1, "tool": "weather"}, "passed", "1 weather", ..., ...),
        ("max_calls", {"limit": 1, "tool": "get_orders"}, "failed", "1 get_orders", ..., ...),
        ("max_calls", {"limit": 2, "tool": "get_orders"}, "passed", "2 get_orders", ..., ...),
        ("answer_contains", ["total"], "passed", '"total"', {"contains": "total"}, ANSWER),
        ("answer_not_contains", ["grey"], "failed", '"grey"', {"not_contains": "grey"}, ANSWER),
        (
            "answer_contains_any",
            ["a", "total"],
            "passed",
            '"a", "total"',
            {"contains_any": ["a", "total"]},
            ANSWER,
        ),
        ("answer_matches", "^The", "passed", "^The", {"matches": "^The"}, ANSWER),
        ("answer_equals", "x", "failed", '"x"', {"equals": "x"}, ANSWER),
        (
            "tool_result_contains",
            "total",
            "passed",
            '"total"',
            {"contains": "total"},
            [{"tool": "get_orders", "outcome": "ok", "text": "total: 7"}],
        ),
        (
            "tool_result_not_contains",
            "city",
            "failed",
            '"city"',
            {"not_contains": "city"},
            [{"tool": "weather", "outcome": "tool_error", "text": "no such city"}],
        ),
        (
            "tool_result",
            {"tool": "get_orders", "path": "orders[0].id", "value": 1},
            "passed",
            "get_orders orders[0].id 1",
            {"tool": "get_orders", "args": {}, "path": "orders[0].id", "value": 1},
            [{"tool": "get_orders", "values": [1]}, {"tool": "get_orders", "values": []}],
        ),
        ("max_replies", 3, "failed", "3", {"at_most": 3, "unit": "replies"}, 4),
        ("max_replies", 4, "passed", "4", {"at_most": 4, "unit": "replies"}, 4),
        ("max_tokens", 119, "failed", "119", {"at_most": 119, "unit": "tokens"}, 120),
        ("max_tokens", 120, "passed", "120", {"at_most": 120, "unit": "tokens"}, 120),
        ("max_cost", 0.4, "failed", "0.4", {"at_most": 0.4, "unit": "dollars"}, 0.5),
        ("max_cost", 0.5, "passed", "0.5", {"at_most": 0.5, "unit": "dollars"}, 0.5),
        ("max_seconds", 2.9, "failed", "2.9", ..., 3.0),
        ("max_seconds", 3, "passed", "3", ..., 3.0),
    ],
)
def test_a_check_says_what_it_wanted_and_what_it_found(
    kind: str, value: Any, verdict: Verdict, label: str, expected: Any, actual: Any
) -> None:
    found = judge(kind, value, SEEN)
    assert (found.verdict, found.label) == (verdict, f"{kind} {label}".rstrip())
    if expected is not ...:
        assert found.expected == expected
    if actual is not ...:
        assert found.actual == actual
    assert bool(found.explanation) == (verdict == "failed")
    assert bool(found.hint) == (verdict == "failed")


def test_a_report_lists_the_first_twenty_calls() -> None:
    for made, listed in ((20, 20), (21, 20)):
        found = judge("must_call", "get_orders", scene(*[call("weather")] * made))
        assert len(found.actual) == listed
