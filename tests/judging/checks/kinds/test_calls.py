from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from harness.base.errors import InvalidValue
from harness.judging.checks import VOCABULARY
from harness.judging.checks.kind import Evidence
from harness.types import Check, Outcome, Tool, ToolList, ToolProblem
from tests.judging.checks.scenes import TOOLS, call, fails, judge, judge_all, passes, scene

FAILURES: tuple[Outcome, ...] = (
    "tool_error",
    "denied",
    "unknown_tool",
    "invalid_arguments",
    "timeout",
    "server_lost",
    "blocked",
)


# ── must_call: reading ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "item", ["get_orders", {"tool": "get_orders"}, {"tool": "get_orders", "args": {}}]
)
def test_a_call_is_asked_for_by_name_or_by_mapping(item: Any) -> None:
    assert VOCABULARY.parse("must_call", [item]) == (
        ((0,), Check(kind="must_call", params={"tool": "get_orders", "args": {}})),
    )


def test_each_item_is_a_check_of_its_own_with_its_place() -> None:
    parsed = VOCABULARY.parse(
        "must_call", ["a", {"tool": "b", "args": {"x": 1}, "severity": "warn"}]
    )
    assert [(path, check.params) for path, check in parsed] == [
        ((0,), {"tool": "a", "args": {}}),
        ((1,), {"tool": "b", "args": {"x": 1}, "severity": "warn"}),
    ]


def test_a_lone_item_needs_no_list() -> None:
    assert VOCABULARY.parse("must_call", "a") == (
        ((), Check(kind="must_call", params={"tool": "a", "args": {}})),
    )


@pytest.mark.parametrize(
    ("value", "path", "said", "meant"),
    [
        (None, (), "there is no value", "Write a list"),
        ([5], (0,), "this is a number where a tool name belongs", 'Quote it: "5".'),
        ([True], (0,), "this is true or false where a tool name belongs", 'Quote it: "true".'),
        (["  "], (0,), "this tool name is empty", None),
        ([["a"]], (0,), "this is a list where a tool name belongs", None),
        ([{"args": {}}], (0,), "'tool' is missing", "It takes tool, args"),
        ([{"name": "a"}], (0, "name"), "unknown key 'name'", "Did you mean 'tool'?"),
        ([{"tool": "a", "arguments": {}}], (0, "arguments"), "unknown key", "Did you mean 'args'?"),
        ([{"get_orders": {"id": 1}}], (0, "get_orders"), "unknown key", "write `tool: get_orders`"),
        ([{"tool": "a", "arg": {}}], (0, "arg"), "unknown key", "Did you mean 'args'?"),
        ([{"tool": "a", "args": None}], (0, "args"), "args is empty", "Leave it out"),
        ([{"tool": "a", "args": [1]}], (0, "args"), "args is a list", None),
        (
            [{"tool": "a", "args": {"x": {"$gtt": 1}}}],
            (0, "args", "x", "$gtt"),
            "there is no matcher",
            "$gt",
        ),
        (
            [{"tool": "a", "severity": "low"}],
            (0, "severity"),
            'severity is fail or warn, not "low"',
            None,
        ),
        ([{"tool": "a", "times": 0}], (0, "times"), "0 is less than 1", None),
        ([{"tool": "a", "times": 1.5}], (0, "times"), "1.5 is not a whole number", None),
        (
            [{"tool": "a", "times": "2"}],
            (0, "times"),
            "this is a string where a number belongs",
            None,
        ),
        ([{"tool": "a", "times": 2, "max_times": 3}], (0,), "write one or the others", None),
        (
            [{"tool": "a", "min_times": 3, "max_times": 2}],
            (0,),
            "min_times is more than max_times",
            None,
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(
    value: Any, path: Any, said: str, meant: str | None
) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse("must_call", value)
    assert caught.value.path == path
    assert said in caught.value.message
    assert (meant or "") in (caught.value.meant or "")


# ── must_call: judging ───────────────────────────────────────────────────────────────────────


def test_a_call_with_the_arguments_among_others_passes() -> None:
    made = call("get_orders", {"customer_id": "C1", "limit": 5.0, "status": "open"})
    passes(
        "must_call",
        [{"tool": "get_orders", "args": {"customer_id": "C1", "limit": 5}}],
        scene(made),
    )


@pytest.mark.parametrize("outcome", FAILURES)
def test_a_call_that_failed_satisfies_and_is_told(outcome: Outcome) -> None:
    result = judge("must_call", ["get_orders"], scene(call("get_orders", outcome=outcome)))
    assert result.verdict == "passed"
    assert result.explanation.startswith(
        "The call was made, but it did not succeed: get_orders() → "
    )


def test_nothing_is_told_of_a_failed_call_when_another_succeeded() -> None:
    passes(
        "must_call",
        ["get_orders"],
        scene(call("get_orders", outcome="timeout"), call("get_orders")),
    )


def test_no_call_at_all_means_that_the_model_answered_from_memory() -> None:
    fails(
        "must_call",
        [{"tool": "get_orders", "args": {"customer_id": "C1"}}],
        scene(answer="They bought shoes."),
        'Expected call not found: get_orders({"customer_id": "C1"})\n',
        "No tool was called: the model answered from memory.",
        "Its answer begins: “They bought shoes.”",
        "Ask for data that only get_orders can know",
    )


@pytest.mark.parametrize(
    ("stop", "told", "hint"),
    [
        ("refusal", "ended with the model's refusal", "The model declined to go on"),
        ("time_limit", "ended at the time limit", "raise that limit"),
    ],
)
def test_a_conversation_that_was_cut_off_is_not_called_an_answer_from_memory(
    stop: Any, told: str, hint: str
) -> None:
    fails(
        "must_call",
        ["get_orders"],
        scene(stop=stop),
        "Expected call not found: get_orders(…)",
        told,
        hint,
    )


def test_calls_made_instead_are_told_in_order_with_outcome_and_the_tool_taken_for_it() -> None:
    result = fails(
        "must_call",
        ["get_orders"],
        scene(
            call("search_orders", {"query": "C1"}),
            call("weather", outcome="denied", text="not for guests"),
        ),
        "Expected call not found: get_orders(…)",
        'Called instead, in order:\n  1. search_orders({"query": "C1"}) → ok\n'
        "  2. weather() → refused by the server: “not for guests”\n",
        "The model may have confused it with search_orders (both speak of customer, orders):\n"
        "  get_orders: Return the orders of one customer.\n  search_orders: Search the orders",
        "Say in the descriptions of get_orders and search_orders when to use which",
    )
    assert result.expected == {"tool": "get_orders", "args": {}}
    assert result.actual == [
        {"tool": "search_orders", "arguments": {"query": "C1"}, "outcome": "ok"},
        {"tool": "weather", "arguments": {}, "outcome": "denied"},
    ]


def test_tools_that_are_nothing_alike_are_not_said_to_be_confused() -> None:
    result = fails(
        "must_call",
        ["get_orders"],
        scene(call("weather")),
        "Expected call not found: get_orders(…)",
    )
    assert "confused" not in result.explanation
    assert "Say more clearly in the description of get_orders" in str(result.hint)


@pytest.mark.parametrize(
    ("ours", "theirs", "confused"),
    [
        (10, 10, 3),  # three words of ten are enough, two are not
        (10, 20, 3),  # it is the shorter description that counts
        (20, 10, 3),
        (4, 20, 2),
        (1, 20, 1),
    ],
)
def test_tools_are_confused_when_three_tenths_of_the_shorter_description_are_the_same_words(
    ours: int, theirs: int, confused: int
) -> None:
    words = [
        f"{first}{second}q" for first in "bcdfghjklm" for second in "aeiou"
    ]  # of which no name has a letter pair
    for shared in range(min(ours, theirs) + 1):
        mine = words[:ours]
        other = words[ours - shared : ours - shared + theirs]
        tools = ToolList(
            tools=(
                Tool(name="x_1", description=" ".join(mine), input_schema={}),
                Tool(name="y_2", description=" ".join(other), input_schema={}),
            )
        )
        told = judge("must_call", ["x_1"], scene(call("y_2"), tools=tools)).explanation
        assert ("confused it with y_2" in told) == (shared >= confused), shared


def test_a_call_that_failed_before_may_be_where_the_model_stopped() -> None:
    fails(
        "must_call",
        ["get_orders"],
        scene(call("weather", outcome="tool_error", text="no such city")),
        "Expected call not found",
        "The call to weather failed before (tool_error)",
    )


@pytest.mark.parametrize(
    ("name", "user", "told", "hint"),
    [
        (
            "get_order",
            None,
            "no tool get_order among those that this user is offered. Did you mean 'get_orders'?",
            "name",
        ),
        ("get_order", {"role": "guest"}, "Did you mean 'get_orders'?", "Correct the tool's name"),
        (
            "drop_table",
            None,
            "no tool drop_table on this server. It offers: get_orders, search_orders",
            "Correct the",
        ),
        (
            "drop_table",
            {"role": "guest"},
            "The server does not offer drop_table to this user",
            "the server's policy",
        ),
    ],
)
def test_a_tool_that_was_not_on_offer_is_told_so(
    name: str, user: Any, told: str, hint: str
) -> None:
    fails(
        "must_call",
        [name],
        scene(call("weather"), user=user),
        f"Expected call not found: {name}(…)\n",
        told,
        hint,
    )


def test_a_tool_that_the_server_lists_but_cannot_be_offered_is_told_so() -> None:
    broken = ToolList(
        tools=TOOLS.tools,
        problems=(ToolProblem(tool="export", problem="its inputSchema is no object"),),
    )
    fails(
        "must_call",
        ["export"],
        scene(call("weather"), tools=broken),
        "Expected call not found: export(…)",
        "The server lists export, but it cannot be offered to a model: its inputSchema is no "
        "object",
    )
    fails(
        "must_call",
        ["export"],
        scene(tools=ToolList(tools=())),
        "Expected",
        "offers this user no tool at all",
    )


def test_differing_arguments_stand_side_by_side_with_what_is_different() -> None:
    args = {
        "customer_id": "C1",
        "limit": 10,
        "status": "open",
        "filter": {"tags": ["a", "b"], "max": 3},
    }
    far = call("get_orders", {"customer_id": "C2"})
    near = call(
        "get_orders",
        {
            "customerId": "C1",
            "limit": "10",
            "status": "Open",
            "filter": {"tags": ["a", "c"], "max": 3, "z": 1},
        },
        outcome="tool_error",
        text="unknown parameter",
    )
    result = fails(
        "must_call",
        [{"tool": "get_orders", "args": args}],
        scene(far, near),
        'Tool called with unexpected arguments: get_orders({"customerId": "C1"',
        "  argument        expected  actual\n",
        '  customer_id     "C1"      (not given)  the value was given as "customerId"\n',
        '  limit           10        "10"         "10" (string) instead of 10 (number)\n',
        '  status          "open"    "Open"       differs only in case\n',
        '  filter.tags[1]  "b"       "c"\n',
        "  filter.z        (none)    1            not expected here\n",
        "The call ended so: error: “unknown parameter”",
        "That is the closest of 2 calls to it:",
        "which one takes this value, and mark customer_id as required",
    )
    assert len(result.actual) == 2


@pytest.mark.parametrize(
    ("args", "given", "told", "hint"),
    [
        (
            {"limit": 10},
            {"limit": "10"},
            '"10" (string) instead of 10 (number)',
            "get_orders declares limit as integer and",
        ),
        (
            {"status": "open"},
            {"status": 5},
            '5 (number) instead of "open" (string)',
            "get_orders declares status as string and the model sent another type",
        ),
        (
            {"either": "1"},
            {"either": 1},
            "1 (number)",
            "declares either as integer or null, which is what the model",
        ),
        (
            {"either": 1},
            {"either": "1"},
            '"1" (string)',
            "declares either as integer or null and the model sent",
        ),
        (
            {"limit": "10"},
            {"limit": 10},
            '10 (number) instead of "10" (string)',
            "correct the type in the assertion",
        ),
        (
            {"limit": "10"},
            {"limit": [10]},
            "[10] (array) instead of",
            "get_orders declares limit as integer and the model sent another type",
        ),
        (
            {"limit": True},
            {"limit": 1},
            "1 (number) instead of true (boolean)",
            "correct the type in the assertion",
        ),
        (
            {"status": None},
            {"status": ""},
            '"" (string) instead of null (null)',
            "correct the type in the assertion",
        ),
        ({"filter": {"a": 1}}, {"filter": {"a": "1"}}, "filter.a", "Declare the type of filter"),
        ({"status": "open"}, {"status": "OPEN"}, "differs only in case", '{$iequals: "open"}'),
        (
            {"status": "a b"},
            {"status": "a  b"},
            "differs only in white space",
            "how its values are written",
        ),
        (
            {"status": "é"},
            {"status": "e\u0301"},
            "differs only in the form of letters",
            "how its values are written",
        ),
        ({"status": "open"}, {"status": "late"}, '"late"', "how its values are written"),
        ({"status": "open"}, {}, "(not given)", "when it is to be filled"),
        (
            {"statsu": "open"},
            {},
            "(not given)",
            "get_orders has no parameter 'statsu' (it has customer_id, limit",
        ),
        (
            {"filter": [1, 2]},
            {"filter": [2, 1]},
            "the same elements in another order",
            "how its values are written",
        ),
        (
            {"filter": [1, 2]},
            {"filter": [1]},
            "1 elements instead of 2",
            "how its values are written",
        ),
        ({"limit": {"$gte": 5}}, {"limit": 3}, "at least 5", "how its values are written"),
        (
            {"limit": {"$gte": 5}},
            {"limit": "7"},
            "'7' is not a number",
            "how its values are written",
        ),
        (
            {"$equals": {"limit": 5}},
            {"limit": 5, "status": "a"},
            "(all arguments)",
            "how its values are written",
        ),
    ],
)
def test_the_hint_fits_the_difference(args: Any, given: Any, told: str, hint: str) -> None:
    fails(
        "must_call",
        [{"tool": "get_orders", "args": args}],
        scene(call("get_orders", given)),
        "Tool called with unexpected arguments: get_orders(",
        told,
        hint,
    )


_TWO_TYPES = {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}
_FITS, _EITHER, _NEITHER, _ODD, _NONE = (
    "which is what the model sent: correct the type in the assertion",
    "the model may send either: say in the description when to send which",
    "the assertion expects yet another: correct the assertion",
    "and the model sent another type: give an example",
    "Declare the type of",
)


@pytest.mark.parametrize(
    ("schema", "wanted", "given", "types", "hint"),
    [
        ({"type": "integer"}, "5", 5, "integer", _FITS),
        ({"type": "integer"}, "5", 5.0, "integer", _FITS),
        ({"type": "integer"}, "5", 5.5, "integer", _NEITHER),
        ({"type": "number"}, "5", 5.5, "number", _FITS),
        ({"type": "integer"}, "5", None, "integer", _NEITHER),
        ({"type": "integer"}, 5, True, "integer", _ODD),
        ({"type": ["integer", "null"]}, 5, None, "integer or null", _EITHER),
        (_TWO_TYPES, 5, None, "integer or null", _EITHER),
        (_TWO_TYPES, None, "5", "integer or null", _ODD),
        (_TWO_TYPES, "5", None, "integer or null", _FITS),
        ({"oneOf": [{"type": "string"}]}, "a", ["a"], "string", _ODD),
        ({"anyOf": [{"type": "string"}, {}]}, "a", 1, "", _NONE),
        ({"type": 5}, "a", 1, "", _NONE),
        (True, "a", 1, "", _NONE),
        ({"enum": ["a", 1]}, "a", 1, "", _NONE),
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_the_hint_tells_what_a_tool_declares_of_a_value_of_another_type(
    schema: Any, wanted: Any, given: Any, types: str, hint: str, inside: bool
) -> None:
    """Whether it is an argument itself or lies inside of one."""
    path = "of[0].n" if inside else "of"
    if inside:
        schema = {"type": "array", "items": {"type": "object", "properties": {"n": schema}}}
        wanted, given = [{"n": wanted}], [{"n": given}]
    tool = Tool(name="ask", input_schema={"type": "object", "properties": {"of": schema}})
    result = judge(
        "must_call",
        [{"tool": "ask", "args": {"of": wanted}}],
        scene(call("ask", {"of": given}), tools=ToolList(tools=(tool,))),
    )
    said = f"ask declares {path} as {types}" if types else f"{_NONE} {path} in the tool's input"
    assert said in str(result.hint)
    assert hint in str(result.hint)


def test_what_an_argument_has_too_many_is_not_called_a_wrong_type() -> None:
    made = call("get_orders", {"filter": {"year": 2025, "z": 1}})
    fails(
        "must_call",
        [{"tool": "get_orders", "args": {"filter": {"year": 2025}}}],
        scene(made),
        "Tool called with unexpected arguments",
        "{$contains: …}, which allows filter.z.",
    )


def test_of_two_long_strings_the_stretch_where_they_part_is_shown() -> None:
    same = "SELECT something FROM a_table WHERE " * 3
    fails(
        "must_call",
        [{"tool": "get_orders", "args": {"status": same + "x = 1"}}],
        scene(call("get_orders", {"status": same + "y = 1"})),
        "Tool called with unexpected arguments",
        'x = 1"',
        'y = 1"',
    )


def test_a_count_of_calls_is_held_to() -> None:
    once = scene(call("get_orders", {"customer_id": "C1"}))
    thrice = scene(
        *[call("get_orders", {"customer_id": "C1"}, outcome="tool_error", text="busy")] * 3
    )
    assert judge("must_call", [{"tool": "get_orders", "times": 1}], once).verdict == "passed"
    assert judge("must_call", [{"tool": "get_orders", "min_times": 2}], thrice).verdict == "passed"
    fails(
        "must_call",
        [{"tool": "get_orders", "times": 2}],
        once,
        "Expected call not found: get_orders(…) twice; it was made once.",
        "Name every item in the prompt",
    )
    fails(
        "must_call",
        [{"tool": "get_orders", "max_times": 2}],
        thrice,
        "Tool was called too often: get_orders(…) 3 times, expected twice at most.",
        "3 of these calls failed",
    )
    fails(
        "must_call",
        [{"tool": "get_orders", "max_times": 1}],
        scene(*[call("get_orders")] * 2),
        "Tool was",
        "raise max",
    )


@pytest.mark.parametrize(
    ("asked", "right"),
    [
        ({}, {1, 2, 3, 4}),
        ({"times": 1}, {1}),
        ({"times": 3}, {3}),
        ({"min_times": 2}, {2, 3, 4}),
        ({"max_times": 2}, {1, 2}),
        ({"min_times": 2, "max_times": 3}, {2, 3}),
    ],
)
def test_as_many_calls_pass_as_are_asked_for(asked: dict[str, int], right: set[int]) -> None:
    item = [{"tool": "get_orders", **asked}]
    found = {
        count
        for count in range(5)
        if judge("must_call", item, made_often(count)).verdict == "passed"
    }
    assert found == right


def made_often(count: int) -> Evidence:
    return scene(*[call("get_orders")] * count)


@pytest.mark.parametrize("key", ["times", "min_times", "max_times"])
def test_an_editor_knows_from_the_schema_how_small_a_count_may_be(key: str) -> None:
    schema = Draft202012Validator(VOCABULARY.schema("must_call"))
    assert [schema.is_valid([{"tool": "a", key: count}]) for count in (0, 1, 2)] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("milder", ["denied", "blocked", "unknown_tool", "tool_error", "timeout"])
def test_a_call_that_was_carried_out_is_graver_than_one_that_was_not(milder: Outcome) -> None:
    for calls in (
        (call("weather", {"a": 1}), call("weather", {"a": 2}, outcome=milder)),
        (call("weather", {"a": 2}, outcome=milder), call("weather", {"a": 1})),
    ):
        told = judge("must_not_call", "weather", scene(*calls)).explanation
        assert told.startswith('Tool was called although it must not be: weather({"a": 1})')


def test_an_attempt_that_failed_for_another_reason_is_graver_than_a_refused_one() -> None:
    calls = (
        call("weather", {"a": 1}, outcome="denied"),
        call("weather", {"a": 2}, outcome="tool_error"),
    )
    told = judge("must_not_call", "weather", scene(*calls)).explanation
    assert told.startswith('Tool was called although it must not be: weather({"a": 2})')


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        ("must_not_call", [{"tool": "a", "allow_absent": True}], True),
        ("answer_contains", [{"text": "a", "allow_absent": True}], False),
    ],
)
def test_only_what_names_a_tool_may_say_that_it_is_absent(
    kind: str, value: Any, fits: bool
) -> None:
    assert Draft202012Validator(VOCABULARY.schema(kind)).is_valid(value) == fits


def test_too_few_are_told_apart_from_too_many() -> None:
    bounds = [{"tool": "get_orders", "min_times": 2, "max_times": 3}]
    assert (
        "get_orders(…) twice; it was made once."
        in judge("must_call", bounds, made_often(1)).explanation
    )
    assert (
        "get_orders(…) 4 times, expected 3 times at most."
        in judge("must_call", bounds, made_often(4)).explanation
    )


def test_only_calls_with_these_arguments_count() -> None:
    made = scene(call("get_orders", {"limit": 1}), call("get_orders", {"limit": 2}))
    passes("must_call", [{"tool": "get_orders", "args": {"limit": 1}, "times": 1}], made)


def test_a_severity_in_the_suite_is_the_severity_of_the_result() -> None:
    made = scene(call("weather"))
    assert judge("must_call", ["get_orders"], made).severity == "fail"
    assert judge("must_call", [{"tool": "get_orders", "severity": "warn"}], made).severity == "warn"


# ── must_not_call ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("args", "sent", "verdict"),
    [
        ({"since": {"$gte": "2024-01-01"}}, "tomorrow", "not_judged"),
        ({"since": {"$gte": "2024-01-01"}}, 1704067200, "not_judged"),
        ({"since": {"$gte": "2024-01-01"}}, "20231231", "passed"),
        ({"since": {"$gte": "2024-01-01"}}, "Jan 2, 2024", "failed"),
        ({"since": {"$gte": "2024-01-01"}}, None, "passed"),
        ({"since": {"$gt": 100}}, "500", "not_judged"),
        ({"since": {"$gt": 100}, "id": 8}, "500", "passed"),
        ({"since": {"$not": {"$lt": "2024-01-01"}}}, "tomorrow", "failed"),
        ({"since": 1042}, "1042", "not_judged"),
        ({"since": "true"}, True, "not_judged"),
        ({"since": 1042}, "1043", "passed"),
        ({"since": "a"}, 5, "passed"),
        ({}, "a", "failed"),
    ],
)
def test_a_call_whose_values_are_only_of_another_kind_than_the_forbidden_ones_is_not_judged(
    args: dict[str, Any], sent: Any, verdict: str
) -> None:
    held = scene(call("get_orders", {"since": sent, "id": 7}))
    found = judge("must_not_call", [{"tool": "get_orders", "args": args}], held)
    assert found.verdict == verdict
    assert (verdict == "not_judged") == ("cannot be known: get_orders(" in found.explanation)
    refused = scene(call("get_orders", {"since": sent, "id": 7}, outcome="invalid_arguments"))
    after = judge("must_not_call", [{"tool": "get_orders", "args": args}], refused).verdict
    assert after == ("failed" if verdict == "failed" else "passed")


def test_a_tool_that_was_left_alone_passes() -> None:
    passes("must_not_call", ["delete_customer"], scene(call("get_orders")))
    passes(
        "must_not_call",
        [{"tool": "get_orders", "args": {"limit": {"$gt": 100}}}],
        scene(call("get_orders", {"limit": 100})),
    )


@pytest.mark.parametrize(
    ("outcome", "told", "hint"),
    [
        ("ok", "The server carried it out: “gone”", "Say in the description of delete_customer"),
        ("denied", "The model tried; the server refused it: “gone”", "The policy held"),
        (
            "unknown_tool",
            "The model tried; the server has no such tool for this user.",
            "hidden or does not exist",
        ),
        (
            "blocked",
            "The model tried; the harness held the call back",
            "mark it with destructiveHint",
        ),
        ("tool_error", "The model tried; it ended so: error: “gone”", "Say in the description"),
        ("timeout", "The model tried; it ended so: no answer in time", "Say in the description"),
    ],
)
def test_an_attempt_violates_whatever_came_of_it(outcome: Outcome, told: str, hint: str) -> None:
    fails(
        "must_not_call",
        ["delete_customer"],
        scene(call("delete_customer", {"id": "C1"}, outcome=outcome, text="gone")),
        'Tool was called although it must not be: delete_customer({"id": "C1"})\n',
        told,
        hint,
    )


def test_the_gravest_of_several_attempts_is_told_first() -> None:
    fails(
        "must_not_call",
        ["delete_customer"],
        scene(
            call("delete_customer", {"id": 1}, outcome="denied"),
            call("delete_customer", {"id": 2}),
            user={"role": "guest"},
        ),
        'Tool was called although it must not be: delete_customer({"id": 2})\nThe server carried '
        "it out.",
        "All calls, in order:",
        "The server let it through.",
    )


def test_a_call_with_forbidden_arguments_violates() -> None:
    fails(
        "must_not_call",
        [{"tool": "get_orders", "args": {"limit": {"$gt": 100}}}],
        scene(call("get_orders", {"limit": 101})),
        'Tool was called although it must not be: get_orders({"limit": 101})',
    )


# ── for both ─────────────────────────────────────────────────────────────────────────────────


def test_an_explanation_stays_bounded_and_harmless_whatever_was_called() -> None:
    big = {f"key{place}": "\x1b[31m" + "x" * 10_000 for place in range(50)}
    wild = [
        call("get_orders", big, outcome="tool_error", text="\x07\u202e" + "y" * 100_000)
        for _ in range(50)
    ]
    tools = ToolList(
        tools=(*TOOLS.tools, Tool(name="big", description="z" * 50_000, input_schema={}))
    )
    for kind, value in (
        ("must_call", [{"tool": "get_orders", "args": {"a": 1}}, "big", "nothing"]),
        ("must_not_call", ["get_orders"]),
    ):
        for result in judge_all(kind, value, scene(*wild, tools=tools, answer="w" * 10_000)):
            assert result.verdict == "failed"
            assert len(result.explanation) <= 1_500
            assert not set(result.explanation) & set("\x1b\x07\u202e")
            assert len(str(result.actual)) < 100_000


def test_many_calls_are_counted_and_not_all_listed() -> None:
    fails(
        "must_call",
        ["get_orders"],
        scene(*[call("weather")] * 9),
        "Expected call not found",
        "  … and 3 more",
    )


@pytest.mark.parametrize("made", [1, 2])
def test_other_calls_of_the_tool_are_listed_where_there_are_any(made: int) -> None:
    calls = [call("get_orders", {"limit": limit}) for limit in range(made)]
    told = judge("must_call", [{"tool": "get_orders", "args": {"limit": 7}}], scene(*calls))
    assert (f"That is the closest of {made} calls to it:" in told.explanation) is (made > 1)


def test_nobody_is_advised_to_hide_a_tool_that_is_hidden() -> None:
    hidden = judge("must_not_call", ["drop_all"], scene(call("drop_all", outcome="denied")))
    shown = judge(
        "must_not_call", ["delete_customer"], scene(call("delete_customer", outcome="denied"))
    )
    assert "hide the tool" in (shown.hint or "")
    assert "hidden from this user already" in (hidden.hint or "")
