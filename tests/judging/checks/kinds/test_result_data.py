from __future__ import annotations

from typing import Any

import pytest

from harness.base.errors import InvalidValue
from harness.judging.checks import VOCABULARY
from tests.judging.checks.scenes import call, fails, judge, passes, scene

ORDERS = {"orders": [{"id": 1, "status": "shipped"}, {"id": 2, "status": "open"}]}
CUT = "0" * 64


# ── tool_result_contains ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "result",
    [
        {"text": "Name: Zoë Müller"},
        {"text": '{"name": "Zo\\u00eb M\\u00fcller"}'},
        {"structured": {"people": [{"name": "Zoë  Müller"}]}},
        {"structured": {"Zoë Müller": 1}},
        {"text": "zoe\u0308 MÜLLER not found", "outcome": "tool_error"},
    ],
)
def test_a_text_is_found_in_every_form_of_a_result(result: Any) -> None:
    made = scene(call("get_orders", **result))
    passes("tool_result_contains", ["Zoë Müller"], made)
    fails(
        "tool_result_not_contains",
        ["Zoë Müller"],
        made,
        'Tool result contains forbidden text: "Zoë Müller"',
    )


def test_a_text_that_no_tool_returned_is_told_with_what_they_did_return() -> None:
    fails(
        "tool_result_contains",
        ["total: 98"],
        scene(call("get_orders", text="The total: 97 euros"), call("weather", text="sunny")),
        'Tool result does not contain expected text: "total: 98"',
        "get_orders() returned “The total: 97 euros”, its nearest passage",
        "weather() returned “sunny”",
        "See whether the server's data changed",
    )


def test_only_the_results_of_the_named_tool_count() -> None:
    made = scene(call("weather", text="sunny"))
    passes("tool_result_contains", {"text": "sunny", "tool": "weather"}, made)
    passes("tool_result_not_contains", {"text": "sunny", "tool": "get_orders"}, made)
    fails(
        "tool_result_contains",
        {"text": "sunny", "tool": "get_orders"},
        made,
        'Tool result does not contain expected text: "sunny"',
        "Expected call not found: get_orders(…)",
    )
    fails("tool_result_contains", ["sunny"], scene(), "Tool result does not", "No tool was called")


# ── tool_result_not_contains ─────────────────────────────────────────────────────────────────


def test_a_leak_that_the_answer_does_not_repeat_is_a_leak() -> None:
    fails(
        "tool_result_not_contains",
        ["555-1234"],
        scene(call("get_orders", {"id": 1}, text='{"phone": "555-1234"}'), answer="I may not say."),
        'Tool result contains forbidden text: "555-1234"\n'
        'get_orders({"id": 1}) returned “{"phone": "555-1234"}”\n'
        "The answer does not repeat it, but the model has seen it.",
        "mask or leave out the field in its policy",
    )


def test_a_leak_that_the_answer_repeats_is_said_to_be_repeated() -> None:
    made = scene(call("get_orders", text="555-1234"), answer="It is 555-1234.")
    fails(
        "tool_result_not_contains",
        ["555-1234"],
        made,
        "Tool result contains",
        "The answer repeats it.",
    )


def test_a_result_that_echoes_the_arguments_is_told_so() -> None:
    made = scene(
        call("get_orders", {"q": "555-1234"}, text="nothing for 555-1234", outcome="tool_error")
    )
    fails(
        "tool_result_not_contains",
        ["555-1234"],
        made,
        "Tool result contains",
        "may merely echo them",
    )


def test_no_leak_passes() -> None:
    passes("tool_result_not_contains", ["555-1234"], scene(call("get_orders", text="***")))


@pytest.mark.parametrize("kind", ["tool_result_contains", "tool_result_not_contains"])
def test_a_result_of_which_only_a_part_was_kept_is_not_judged_by_what_is_missing(kind: str) -> None:
    result = judge(kind, ["555"], scene(call("get_orders", text="start…", result_sha256=CUT)))
    assert result.verdict == "not_judged"
    assert result.explanation.startswith("Only a part of the result of get_orders() was kept")


def test_a_leak_in_the_part_that_was_kept_is_a_leak() -> None:
    made = scene(call("get_orders", text="555…", result_sha256=CUT))
    fails("tool_result_not_contains", ["555"], made, "Tool result contains forbidden text")


# ── tool_result ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "value",
    [
        {"path": "orders[*].status", "value": "open"},
        {
            "path": "orders",
            "value": {"$every": {"$contains": {"status": {"$one_of": ["open", "shipped"]}}}},
        },
        {"path": "orders", "value": {"$length": 2}},
        {"path": "orders[0].price", "value": {"$absent": True}},
        {"path": "orders"},
        {"value": ORDERS},
        {"tool": "get_orders", "args": {"limit": 5}, "path": "orders[1].id", "value": 2},
    ],
)
def test_a_value_in_a_result_passes(value: Any) -> None:
    passes("tool_result", value, scene(call("get_orders", {"limit": 5}, structured=ORDERS)))


def test_a_result_without_structure_is_read_as_json_or_as_text() -> None:
    passes("tool_result", {"path": "a", "value": 1}, scene(call("weather", text='{"a": 1}')))
    passes("tool_result", {"value": {"$contains": "sun"}}, scene(call("weather", text="sunny")))


def test_a_value_that_is_not_there_is_told_with_what_is() -> None:
    made = scene(call("get_orders", structured=ORDERS))
    fails(
        "tool_result",
        {"tool": "get_orders", "path": "orders[*].status", "value": "late"},
        made,
        'Tool result is not as expected: orders[*].status should be "late"\n'
        'get_orders() → orders[*].status is "shipped"; "open"',
        "See whether the server's data changed",
    )
    fails(
        "tool_result",
        {"path": "order.x"},
        made,
        "Tool result is not as expected: order.x should be anything\n"
        "get_orders() → order.x is nothing; the result has the keys orders",
        "The path leads nowhere",
    )
    fails(
        "tool_result",
        {"path": "a"},
        scene(call("weather", text="sunny")),
        "Tool result",
        'the result is "sunny"',
    )
    fails("tool_result", {"path": "a"}, scene(), "Tool result", "No tool was called")
    fails(
        "tool_result",
        {"tool": "weather", "path": "a"},
        made,
        "Tool result",
        "Expected call not found: weather(…)",
    )


def test_a_part_of_a_result_decides_only_when_the_value_is_in_it() -> None:
    cut = call("get_orders", text="start…", result_sha256=CUT)
    for value in (
        {},
        {"value": {"$absent": True}},
        {"value": {"$not": "x"}},
        {"value": {"$type": "string"}},
    ):
        assert judge("tool_result", {"path": "a", **value}, scene(cut)).verdict == "not_judged"
    assert (
        judge("tool_result", {"value": {"$not": {"$contains": "555"}}}, scene(cut)).verdict
        == "not_judged"
    )
    assert judge("tool_result", {"value": {"$contains": "start"}}, scene(cut)).verdict == "passed"
    kept = call("get_orders", structured={"a": 1}, result_sha256=CUT)  # only its text was cut
    assert (
        judge("tool_result", {"path": "b", "value": {"$absent": True}}, scene(kept)).verdict
        == "passed"
    )
    assert (
        judge(
            "tool_result", {"path": "orders"}, scene(cut, call("weather", structured=ORDERS))
        ).verdict
        == "passed"
    )


@pytest.mark.parametrize(
    ("value", "path", "said"),
    [
        ({"tool": "a"}, (), "neither a path nor a value"),
        ({"path": "a..b"}, ("path",), "is wrong at character"),
        ({"path": 5}, ("path",), "a path is a string"),
        ({"path": "a", "args": {}}, ("args",), "args need a tool"),
        ([{"path": "a", "value": {"$gtt": 1}}], (0, "value", "$gtt"), "there is no matcher"),
        ("a", (), "this is a string where a mapping belongs"),
    ],
)
def test_a_mistake_is_named_with_its_place(value: Any, path: Any, said: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse("tool_result", value)
    assert caught.value.path == path
    assert said in caught.value.message


# ── output_schema_valid ──────────────────────────────────────────────────────────────────────


def test_results_that_fit_their_schema_pass() -> None:
    made = scene(call("get_orders"), call("weather"), call("get_orders", outcome="denied"))
    passes("output_schema_valid", True, made)
    passes("output_schema_valid", {"tool": "get_orders"}, made)


def test_a_result_that_breaks_its_schema_is_told_with_its_errors() -> None:
    fails(
        "output_schema_valid",
        True,
        scene(call("get_orders", output_errors=("$: 'orders' is a required property",))),
        "Tool result breaks the tool's output schema: get_orders()\n  $: 'orders' is a required "
        "property",
        "the outputSchema that it declares",
    )


def test_a_result_that_could_not_be_validated_is_not_judged() -> None:
    made = scene(
        call("get_orders", result_not_validated="to validate it takes more than 400,000 steps")
    )
    found = judge("output_schema_valid", True, made)
    assert found.verdict == "not_judged"
    assert found.explanation == (
        "Tool result was not validated: get_orders()\n  to validate it takes more than 400,000 "
        "steps"
    )


def test_a_named_tool_must_have_a_schema_and_a_result() -> None:
    kind = "output_schema_valid"
    fails(
        kind,
        {"tool": "weather"},
        scene(call("weather")),
        "Tool declares no output schema: weather",
        "drop the check",
    )
    fails(kind, {"tool": "weather"}, scene(), "Expected call not found: weather(…)")
    failed = scene(call("weather", outcome="denied", text="no"))
    fails(
        kind,
        {"tool": "weather"},
        failed,
        "Tool call failed: weather() → refused by the server: “no”",
    )


def test_the_first_five_errors_of_a_result_are_told() -> None:
    errors = tuple(f"$.a{place}: wrong" for place in range(7))
    found = judge("output_schema_valid", True, scene(call("get_orders", output_errors=errors)))
    assert found.explanation.splitlines()[1:] == [f"  {error}" for error in errors[:5]]
    assert found.actual == [{"tool": "get_orders", "errors": list(errors[:5])}]


def test_a_result_of_which_a_part_was_read_is_judged_only_by_what_is_wrong_in_it() -> None:
    part = judge("output_schema_valid", True, scene(call("get_orders", cut="the first 64 MB")))
    assert part.verdict == "not_judged"
    wrong = judge(
        "output_schema_valid",
        True,
        scene(call("get_orders", output_errors=("$: wrong",), cut="the first 64 MB")),
    )
    assert wrong.verdict == "failed"


def test_the_first_calls_and_values_are_told() -> None:
    calls = [
        call("weather", {"n": n}, text=f"text {n}", structured={"a": [*range(7)]}) for n in range(7)
    ]
    found = judge("tool_result", {"path": "a[*]", "value": 9}, scene(*calls))
    assert found.actual == [{"tool": "weather", "values": [0, 1, 2, 3, 4]}] * 5
    lines = [f'weather({{"n": {n}}}) → a[*] is 0; 1; 2' for n in range(3)]
    assert found.explanation.splitlines()[1:] == lines
    found = judge("tool_result_contains", "zzz", scene(*calls))
    assert [one["text"] for one in found.actual] == [f"text {n}" for n in range(5)]
    assert found.explanation.splitlines()[1:] == [
        f'weather({{"n": {n}}}) returned “text {n}”' for n in range(3)
    ]
    found = judge("tool_result_not_contains", "text", scene(*calls))
    assert [one["text"] for one in found.actual] == [f"text {n}" for n in range(5)]
    told = [f'weather({{"n": {n}}}) returned “text {n}”' for n in range(3)]
    assert found.explanation.splitlines()[1:4] == told
    assert found.explanation.splitlines()[4].startswith("The answer does not repeat it")


@pytest.mark.parametrize(("size", "text"), [(1_000, "x" * 1_000), (1_001, "x" * 999 + "…")])
def test_a_result_is_reported_up_to_a_thousand_characters(size: int, text: str) -> None:
    assert (
        judge("tool_result_contains", "x", scene(call("weather", text="x" * size))).actual[0][
            "text"
        ]
        == text
    )


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        ("It is secret.", "Lines crossed: what the server allowed, and what the user saw."),
        ("No.", "Line crossed: what the server allowed."),
    ],
)
def test_a_leak_is_told_with_the_lines_that_it_crossed(answer: str, lines: str) -> None:
    made = scene(call("weather", text="secret"), answer=answer)
    assert lines in judge("tool_result_not_contains", "secret", made).explanation


@pytest.mark.parametrize(
    ("calls", "verdict"),
    [
        (
            [
                call("get_orders", output_errors=("wrong",)),
                call("get_orders", result_not_validated="big"),
            ],
            "failed",
        ),
        ([call("get_orders"), call("get_orders", result_not_validated="big")], "not_judged"),
        ([call("get_orders", outcome="denied", output_errors=("wrong",))], "passed"),
    ],
)
def test_a_broken_result_decides_and_one_that_was_not_validated_leaves_it_open(
    calls: Any, verdict: str
) -> None:
    assert judge("output_schema_valid", True, scene(*calls)).verdict == verdict


@pytest.mark.parametrize(
    ("results", "nowhere"),
    [([{"a": 1}, {"b": 1}], False), ([{"b": 1}, {"a": 1}], False), ([{"b": 1}, {"c": 1}], True)],
)
def test_a_path_leads_nowhere_only_if_it_does_so_in_every_result(
    results: list[Any], nowhere: bool
) -> None:
    calls = [call("get_orders", structured=result) for result in results]
    hint = judge("tool_result", {"path": "a", "value": 2}, scene(*calls)).hint
    assert str(hint).startswith("The path leads nowhere") is nowhere
