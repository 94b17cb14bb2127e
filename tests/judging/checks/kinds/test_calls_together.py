"""TODO."""

from __future__ import annotations

from typing import Any

import pytest

from harness.base.errors import InvalidValue
from harness.judging.checks import VOCABULARY
from tests.judging.checks.scenes import call, fails, judge, passes, scene

# ── must_call_any ────────────────────────────────────────────────────────────────────────────


def test_one_of_several_right_ways_is_enough() -> None:
    ways = ["get_orders", {"tool": "search_orders", "args": {"query": "C1"}}]
    passes("must_call_any", ways, scene(call("weather"), call("search_orders", {"query": "C1"})))


def test_none_of_the_right_ways_is_told_with_what_was_called() -> None:
    fails(
        "must_call_any",
        ["get_orders", "nope"],
        scene(call("weather")),
        "Expected call not found: any of get_orders(…), nope(…)",
        "There is no tool nope on this server.",
        "Called instead, in order:\n  1. weather() → ok",
    )
    fails(
        "must_call_any",
        ["get_orders"],
        scene(),
        "Expected call not found: any of",
        "answered from memory",
    )


def test_a_right_tool_with_wrong_arguments_is_told_side_by_side() -> None:
    fails(
        "must_call_any",
        ["weather", {"tool": "get_orders", "args": {"limit": 1}}],
        scene(call("get_orders", {"limit": 2})),
        "Expected call not found: any of",
        "Tool called with unexpected arguments: get_orders",
        "  limit     1         2",
    )


# ── only_call ────────────────────────────────────────────────────────────────────────────────


def test_the_listed_calls_and_no_calls_at_all_pass() -> None:
    passes("only_call", ["get_orders", "weather"], scene(call("get_orders"), call("get_orders")))
    passes("only_call", ["get_orders"], scene())
    passes("only_call", [], scene())


def test_a_call_that_is_not_listed_is_told() -> None:
    fails(
        "only_call",
        ["get_orders"],
        scene(call("get_orders"), call("weather", {"city": "Ulm"}, outcome="denied")),
        'Tool was called although it must not be: weather({"city": "Ulm"}) → refused by the server',
        "Only these calls are expected: get_orders(…)",
        "add it to the list",
    )
    fails(
        "only_call",
        [],
        scene(call("weather")),
        "Tool was called",
        "these calls are expected: none",
        "not needed",
    )
    fails(
        "only_call",
        [{"tool": "weather", "args": {"city": "Ulm"}}],
        scene(call("weather", {"city": "Bonn"})),
        "Tool was called although it must not be",
        "weather is expected, but not with these arguments",
    )


# ── max_calls ────────────────────────────────────────────────────────────────────────────────


def test_as_many_calls_as_allowed_pass() -> None:
    made = scene(call("get_orders"), call("weather"))
    passes("max_calls", 2, made)
    passes("max_calls", [{"limit": 1, "tool": "weather"}], made)
    passes("max_calls", 0, scene())


def test_more_calls_than_allowed_are_told_with_what_helps() -> None:
    fails(
        "max_calls",
        1,
        scene(call("get_orders"), call("get_orders")),
        "Too many tool calls: 2, at most 1 expected\nIn order:\n  1. get_orders() → ok",
        "1 of 2 repeat an earlier call word for word",
    )
    fails(
        "max_calls",
        1,
        scene(call("weather", outcome="timeout"), call("weather")),
        "Too many",
        "1 of them failed",
    )
    fails(
        "max_calls",
        {"limit": 1, "tool": "weather"},
        scene(call("weather", {"city": "A"}), call("weather", {"city": "B"})),
        "Too many calls of weather: 2, at most 1 expected",
        "how to filter and page",
    )


@pytest.mark.parametrize(
    ("kind", "value", "path", "said"),
    [
        ("must_call_any", "a", (), "this is a string where a list of tools belongs"),
        ("must_call_any", [], (), "this list needs at least 1 tool"),
        (
            "must_call_any",
            {"calls": [5]},
            ("calls", 0),
            "this is a number where a tool name belongs",
        ),
        ("must_call_any", {"tools": ["a"]}, ("tools",), "unknown key 'tools'"),
        (
            "must_call_any",
            [{"tool": "a", "severity": "warn"}],
            (0, "severity"),
            "belongs to the whole check",
        ),
        ("only_call", None, (), "this is empty where a list of tools belongs"),
        ("max_calls", -1, (), "-1 is less than 0"),
        ("max_calls", True, (), "this is true or false where a number belongs"),
        ("max_calls", [{"tool": "a"}], (0,), "'limit' is missing"),
        ("max_calls", [1, 2], (1,), "there are two limits for all calls"),
        (
            "max_calls",
            [{"limit": 1, "tool": 5}],
            (0, "tool"),
            "this is a number where a tool name belongs",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(kind: str, value: Any, path: Any, said: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse(kind, value)
    assert caught.value.path == path
    assert said in caught.value.message


def test_the_long_form_carries_a_severity() -> None:
    result = judge(
        "only_call", {"calls": ["get_orders"], "severity": "warn"}, scene(call("weather"))
    )
    assert (result.verdict, result.severity) == ("failed", "warn")


@pytest.mark.parametrize(("made", "verdict"), [(0, "passed"), (2, "passed"), (3, "failed")])
def test_the_limit_itself_is_allowed(made: int, verdict: str) -> None:
    result = judge("max_calls", 2, scene(*[call("weather")] * made))
    assert (result.verdict, result.actual) == (verdict, made)


@pytest.mark.parametrize(
    ("made", "more"), [(6, None), (7, "  … and 1 more"), (9, "  … and 3 more")]
)
def test_the_first_six_calls_are_listed_and_the_others_counted(made: int, more: str | None) -> None:
    lines = judge("max_calls", 0, scene(*[call("weather")] * made)).explanation.splitlines()
    assert [line for line in lines if ". weather()" in line] == [
        f"  {n}. weather() → ok" for n in range(1, 7)
    ]
    assert (lines[-1] if more else None) == more
    assert len(lines) == 8 + (more is not None)


@pytest.mark.parametrize(("absent", "told"), [(3, 3), (4, 3)])
def test_of_ways_that_are_not_offered_three_are_told(absent: int, told: int) -> None:
    names = [f"nope{n}" for n in range(absent)]
    result = fails(
        "must_call_any", names, scene(call("weather")), "Expected call not found: any of"
    )
    lines = [
        line for line in result.explanation.splitlines() if line.startswith("There is no tool")
    ]
    assert len(lines) == told


@pytest.mark.parametrize("size", [1, 5_000])
def test_calls_repeat_one_another_only_if_they_are_equal_to_the_last_character(size: int) -> None:
    twins = [call("weather", {"q": "a" * size}) for _ in range(2)]
    fails("max_calls", 1, scene(*twins), "Too many tool calls: 2", "1 of 2 repeat an earlier call")
    others = [call("weather", {"q": "a" * size + end}) for end in "xy"]
    fails("max_calls", 1, scene(*others), "Too many tool calls: 2", "Let one call return")
    namesakes = [call(name, {"q": "a" * size}) for name in ("weather", "get_orders")]
    fails("max_calls", 1, scene(*namesakes), "Too many tool calls: 2", "Let one call return")


STEPS = ["search_orders", "get_orders"]
STRICT = {"calls": STEPS, "strict": True}


def test_calls_in_order_pass_with_others_between() -> None:
    made = scene(
        call("weather"), call("search_orders"), call("weather"), call("get_orders"), call("weather")
    )
    passes("must_call_in_order", STEPS, made)


def test_a_step_may_be_found_after_an_attempt_that_does_not_count() -> None:
    passes(
        "must_call_in_order",
        STEPS,
        scene(call("get_orders"), call("search_orders"), call("get_orders")),
    )


def test_strict_calls_stand_in_a_row_somewhere() -> None:
    passes(
        "must_call_in_order",
        STRICT,
        scene(call("search_orders"), call("search_orders"), call("get_orders")),
    )


def test_a_call_between_strict_steps_is_told() -> None:
    fails(
        "must_call_in_order",
        STRICT,
        scene(call("search_orders"), call("weather"), call("get_orders")),
        "Unexpected call between expected ones: weather()",
        "Expected with nothing between: search_orders(…) → get_orders(…)",
        "Leave `strict` out",
    )


def test_calls_out_of_order_are_told() -> None:
    fails(
        "must_call_in_order",
        STEPS,
        scene(call("get_orders"), call("search_orders")),
        "Expected call not found: get_orders(…) after search_orders(); it was made, but out of "
        "order",
        "Expected order: search_orders(…) → get_orders(…)",
        "Called, in order:\n  1. get_orders() → ok",
        "what it needs from the tools before it",
    )


def test_a_step_that_was_never_made_is_explained_like_any_missing_call() -> None:
    fails(
        "must_call_in_order",
        ["search_orders", {"tool": "get_orders", "args": {"limit": 1}}],
        scene(call("search_orders"), call("get_orders", {"limit": 2})),
        "Tool called with unexpected arguments: get_orders",
        'It is step 2 of 2: search_orders(…) → get_orders({"limit": 1})',
    )


@pytest.mark.parametrize(
    ("value", "path", "said"),
    [
        (["a"], (), "this list needs at least 2 tools"),
        (
            {"calls": ["a", "b"], "strict": "yes"},
            ("strict",),
            "strict is a string, not true or false",
        ),
        ({"strict": True}, (), "'calls' is missing"),
    ],
)
def test_a_mistake_in_an_order_is_named_with_its_place(value: Any, path: Any, said: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse("must_call_in_order", value)
    assert caught.value.path == path
    assert said in caught.value.message


def test_strict_steps_that_begin_again_at_the_last_call_are_no_row() -> None:
    made = scene(call("search_orders"), call("weather"), call("get_orders"), call("search_orders"))
    fails("must_call_in_order", STRICT, made, "Unexpected call between expected ones: weather()")
