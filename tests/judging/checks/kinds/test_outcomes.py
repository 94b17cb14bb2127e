from __future__ import annotations

from typing import Any

import pytest

from harness.base.errors import InvalidValue
from harness.judging.checks import VOCABULARY
from harness.types import Outcome
from tests.judging.checks.scenes import call, fails, judge, passes, scene


def test_must_succeed_is_content_with_one_good_result() -> None:
    passes(
        "must_succeed",
        ["get_orders"],
        scene(call("get_orders", outcome="timeout"), call("get_orders")),
    )


@pytest.mark.parametrize(
    ("outcome", "hint"),
    [
        ("denied", "look at its policy"),
        ("invalid_arguments", "Describe the parameters more clearly"),
        ("tool_error", "See the error's text"),
        ("blocked", "`read_only` and `block`"),
    ],
)
def test_a_call_that_never_succeeds_is_told_with_its_last_outcome(
    outcome: Outcome, hint: str
) -> None:
    fails(
        "must_succeed",
        ["get_orders"],
        scene(
            call("get_orders", outcome=outcome, text="no"),
            call("get_orders", {"limit": 1}, outcome=outcome),
        ),
        'Call did not succeed: get_orders({"limit": 1}) → ',
        "All attempts:",
        hint,
    )


@pytest.mark.parametrize("text", ['{"success": false}', '{"status": "error", "message": "no"}'])
def test_a_result_that_says_that_it_failed_is_no_success(text: str) -> None:
    fails(
        "must_succeed",
        ["get_orders"],
        scene(call("get_orders", text=text)),
        "Call did not succeed: get_orders",
        "Its result says that it failed: ",
        "let it set isError",
    )
    passes(
        "must_succeed",
        ["get_orders"],
        scene(call("get_orders", text=text), call("get_orders", text='{"id": 7}')),
    )


def test_a_call_that_was_not_made_did_not_succeed_either() -> None:
    fails(
        "must_succeed",
        ["get_orders"],
        scene(),
        "Expected call not found: get_orders(…)",
        "answered from memory",
    )


def test_must_be_denied_wants_an_attempt_and_its_refusal() -> None:
    passes("must_be_denied", ["delete_customer"], scene(call("delete_customer", outcome="denied")))


@pytest.mark.parametrize(
    ("outcome", "first", "hint"),
    [
        (
            "ok",
            "Call was let through although it must be denied: delete_customer() → ok",
            "policy has to refuse",
        ),
        (
            "tool_error",
            "Call was not denied: delete_customer() → error",
            "It failed for another reason",
        ),
        (
            "unknown_tool",
            "Call was not denied: delete_customer()",
            "A hidden tool is not a refused one",
        ),
        ("blocked", "Call was not denied: delete_customer()", "The server never saw the call"),
    ],
)
def test_what_is_no_refusal_is_told_apart(outcome: Outcome, first: str, hint: str) -> None:
    fails(
        "must_be_denied",
        ["delete_customer"],
        scene(call("delete_customer", outcome=outcome)),
        first,
        hint,
    )


def test_one_call_let_through_outweighs_any_refusals() -> None:
    fails(
        "must_be_denied",
        ["delete_customer"],
        scene(call("delete_customer", outcome="denied"), call("delete_customer", {"id": 1})),
        'Call was let through although it must be denied: delete_customer({"id": 1}) → ok',
        "All attempts:\n  1. delete_customer() → refused by the server",
    )


def test_a_tool_that_was_never_tried_proves_no_policy() -> None:
    fails(
        "must_be_denied",
        ["delete_customer"],
        scene(),
        "Expected call not found: delete_customer(…)",
    )
    fails(
        "must_be_denied",
        ["hidden"],
        scene(call("weather"), user={"role": "guest"}),
        "Expected call not found: hidden(…)",
        "The server does not offer hidden to this user",
        "the server never had to refuse it",
    )


def test_must_error_wants_every_such_call_to_fail() -> None:
    passes(
        "must_error",
        [{"tool": "weather", "args": {"city": "X"}}],
        scene(
            call("weather", {"city": "X"}, outcome="tool_error"), call("weather", {"city": "Ulm"})
        ),
    )
    fails(
        "must_error",
        ["weather"],
        scene(call("weather", outcome="tool_error"), call("weather", {"city": "Ulm"})),
        'Call did not end in an error: weather({"city": "Ulm"}) → ok',
        "All of them:",
        "Narrow the check with args",
    )


def test_no_tool_errors_looks_at_all_calls_or_at_one_tool() -> None:
    made = scene(
        call("get_orders"),
        call("weather", outcome="timeout"),
        call("weather", outcome="denied", text="no"),
    )
    passes("no_tool_errors", True, scene(call("get_orders")))
    passes("no_tool_errors", True, scene())
    passes("no_tool_errors", {"tool": "get_orders"}, made)
    fails(
        "no_tool_errors",
        True,
        made,
        "Tool call failed: weather() → no answer in time\n2 of 3 calls failed:",
        "Make the tool faster",
    )


def test_recovery_is_a_success_in_a_later_turn() -> None:
    failed = call("get_orders", outcome="tool_error", text="unknown id", reply=1)
    passes("recovers_from_error", True, scene(failed, call("search_orders", reply=2)))
    passes(
        "recovers_from_error", {"tool": "get_orders"}, scene(failed, call("get_orders", reply=2))
    )
    fails(
        "recovers_from_error",
        True,
        scene(failed, call("weather", reply=1)),
        "Error was not recovered from: get_orders() → error: “unknown id”\nNo later reply has a "
        "call that succeeded.",
        "Let the error's text say what to do next",
    )
    fails(
        "recovers_from_error",
        {"tool": "get_orders"},
        scene(failed, call("weather", reply=2)),
        "Error was not recovered from: get_orders()",
    )


def test_without_an_error_there_is_nothing_to_recover_from() -> None:
    fails(
        "recovers_from_error",
        True,
        scene(call("weather")),
        "No error to recover from: no tool call failed",
        "Let the prompt lead the model into the error",
    )
    fails(
        "recovers_from_error",
        {"tool": "weather"},
        scene(),
        "No error to recover from: no call of weather failed",
    )


@pytest.mark.parametrize(
    ("value", "path", "said"),
    [
        (False, (), "this is true or false where `true` or {tool: …} belongs"),
        ("yes", (), "this is a string where"),
        ({"tool": ""}, ("tool",), "this tool name is empty"),
        ({"tools": []}, ("tools",), "unknown key"),
    ],
)
def test_a_mistake_is_named_with_its_place(value: Any, path: Any, said: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse("no_tool_errors", value)
    assert caught.value.path == path
    assert said in caught.value.message


def test_one_failed_call_is_told_once_and_several_are_listed() -> None:
    bad = call("weather", outcome="tool_error", text="no")
    one = judge("no_tool_errors", True, scene(call("get_orders"), bad))
    assert one.explanation == "Tool call failed: weather() → error: “no”"
    two = judge("no_tool_errors", True, scene(call("get_orders"), bad, bad))
    assert two.explanation.splitlines()[1] == "2 of 3 calls failed:"
    for kind in ("must_succeed", "must_be_denied"):
        assert "All attempts:" not in judge(kind, "weather", scene(bad)).explanation
        assert "All attempts:" in judge(kind, "weather", scene(bad, bad)).explanation
    assert (
        "All of them:"
        not in judge("must_error", "get_orders", scene(call("get_orders"))).explanation
    )
    assert (
        "All of them:"
        in judge(
            "must_error", "get_orders", scene(call("get_orders"), call("get_orders"))
        ).explanation
    )


@pytest.mark.parametrize(
    ("failed", "succeeded", "verdict"), [(1, 2, "passed"), (2, 2, "failed"), (2, 1, "failed")]
)
def test_an_error_is_recovered_from_in_a_later_turn_only(
    failed: int, succeeded: int, verdict: str
) -> None:
    made = scene(
        call("weather", reply=failed, outcome="tool_error"), call("weather", reply=succeeded)
    )
    assert judge("recovers_from_error", True, made).verdict == verdict


@pytest.mark.parametrize(
    ("value", "meant"),
    [(False, "Leave it out if it is not asked for."), ("get", None), (1, None)],
)
def test_a_check_of_all_calls_is_true_or_names_a_tool(value: Any, meant: str | None) -> None:
    with pytest.raises(InvalidValue, match="where `true` or") as caught:
        VOCABULARY.parse("no_tool_errors", value)
    assert caught.value.meant == meant
