from __future__ import annotations

from typing import Any

import pytest

from harness.base.errors import InvalidValue
from harness.judging.checks import VOCABULARY
from tests.judging.checks.scenes import call, fails, passes, scene

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
def test_a_mistake_is_named_with_its_place(value: Any, path: Any, said: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse("must_call_in_order", value)
    assert caught.value.path == path
    assert said in caught.value.message


def test_strict_steps_that_begin_again_at_the_last_call_are_no_row() -> None:
    made = scene(call("search_orders"), call("weather"), call("get_orders"), call("search_orders"))
    fails("must_call_in_order", STRICT, made, "Unexpected call between expected ones: weather()")
