from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidValue
from harness.judging.checks import VOCABULARY
from tests.judging.checks.scenes import call, fails, judge, passes, scene
from tests.judging.checks.strategies import JSON

SCHEMA = {
    "type": "object",
    "properties": {"id": {"type": "string", "pattern": r"^C\d+$"}, "next": {"$ref": "#"}},
    "additionalProperties": {"type": "number"},
    "required": ["id"],
}


# ── answer_json ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "answer",
    [
        '{"id": "C1"}',
        '  {"id": "C1", "next": {"id": "C2", "n_a": 1}}\n',
        'Here it is:\n```json\n{"id": "C1"}\n```\nAnything else?',
        'Run `x` first:\n```\nnot json\n```\nthen\n```\n{"id": "C1"}\n```',
        '```{"id": "C1"}```',
        'Here:\n```json {"id": "C1"}```\n```\n{"id": "X"}\n```',
        '```json\n{"id": "C1"}```',
        '```{"id":\n"C1"}\n```',
        '```ls -l```\n```json\n{"id": "C1"}\n```',
    ],
)
def test_an_answer_that_is_or_holds_json_of_the_schema_passes(answer: str) -> None:
    passes("answer_json", SCHEMA, scene(answer=answer))


@pytest.mark.parametrize(
    "answer",
    [
        '```\nnot json\n```\n{"id": "C1"}\n```\nnot json\n```',
        '```json\n{"id": "C1"} or so\n```',
        '```json\n{"id": "C1"}',
    ],
)
def test_json_outside_or_in_a_part_of_a_code_block_is_none(answer: str) -> None:
    fails("answer_json", SCHEMA, scene(answer=answer), "Answer is not JSON")


def test_a_block_may_hold_fences_inside_its_texts() -> None:
    passes(
        "answer_json",
        {"const": {"a": "```\n```"}},
        scene(answer='```json\n{"a": "```\\n```"}\n```'),
    )


@pytest.mark.parametrize(
    ("step", "number", "is_one"),
    [
        (0.01, "19.99", True),
        (0.1, "0.3", True),
        (0.01, "19.999", False),
        (0.5, "9" * 401, True),
        (1e-300, "1e300", True),
        (3, "1e400", False),
        (7, "1" + "0" * 400, False),
        (2, "true", True),
    ],
)
def test_a_multiple_is_one_of_the_decimals_that_are_written(
    step: float, number: str, is_one: bool
) -> None:
    if is_one:
        passes("answer_json", {"multipleOf": step}, scene(answer=number))
    else:
        fails(
            "answer_json",
            {"multipleOf": step},
            scene(answer=number),
            "Answer does not fit",
            "is not a multiple of",
        )


def test_json_that_does_not_fit_is_told_place_by_place() -> None:
    result = fails(
        "answer_json",
        SCHEMA,
        scene(answer='{"id": "X1", "n_a": "1", "next": {}}'),
        "Answer does not fit the JSON Schema, in 3 places:\n",
        r"  $.id: 'X1' does not match '^C\\d+$'",
        "  $.n_a: '1' is not of type 'number'",
        "  $.next: 'id' is a required property",
        "Name the field, its type and its form in the prompt",
    )
    assert result.actual == {"id": "X1", "n_a": "1", "next": {}}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("It is 5", "Answer is not JSON: Expecting value"),
        ("", "Answer is not JSON: there is none"),
        ("NaN", "Answer is not JSON: NaN is not JSON"),
        ("[" * 100_000, "Answer is not JSON: "),
    ],
)
def test_an_answer_that_is_no_json_is_told(answer: str, told: str) -> None:
    fails(
        "answer_json",
        True,
        scene(answer=answer),
        told,
        "Ask in the prompt for JSON and nothing else",
    )


def test_a_schema_without_end_is_not_judged() -> None:
    result = judge("answer_json", {"$ref": "#"}, scene(answer="{}"))
    assert result.verdict == "not_judged"
    assert "more than 150 levels" in result.explanation


@pytest.mark.slow
def test_a_schema_that_takes_endless_work_is_not_judged() -> None:
    doubling = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(14)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**doubling, "d14": {"type": "integer"}}}
    result = judge("answer_json", schema, scene(answer="1"))
    assert (result.verdict, "more than 200,000 steps" in result.explanation) == ("not_judged", True)


def test_items_are_told_apart_in_linear_time() -> None:
    items = [{"id": n} for n in range(20_000)]
    passes("answer_json", {"uniqueItems": True}, scene(answer=json.dumps(items)))


@pytest.mark.parametrize(
    ("value", "path", "said"),
    [
        ({"type": "objct"}, ("type",), "this is not valid JSON Schema: 'objct' is not valid"),
        (
            {"properties": {"a": {"minimum": "1"}}},
            ("properties", "a", "minimum"),
            "not valid JSON Schema",
        ),
        ({"pattern": "(?=x)"}, ("pattern",), "invalid perl operator"),
        (
            {"properties": {"default": {"pattern": "("}}},
            ("properties", "default", "pattern"),
            "missing )",
        ),
        (
            {"anyOf": [{"patternProperties": {"a": {}}}]},
            ("anyOf", 0, "patternProperties"),
            "not supported",
        ),
        ({"$ref": "https://example.com/s.json"}, ("$ref",), "may only refer to parts of itself"),
        ({"$ref": "#/$defs/nothing"}, ("$ref",), "there is no schema at"),
        ({"$id": "https://example.com"}, ("$id",), "may only refer to parts of itself"),
        (
            {"type": "object", "severity": "warn"},
            ("severity",),
            "severity is not a keyword of JSON Schema",
        ),
        ({"tpye": "object"}, ("tpye",), '"tpye" is not a keyword of JSON Schema: it has no effect'),
        (
            {"properties": {"a": {"maxLenght": 5}}},
            ("properties", "a", "maxLenght"),
            "is not a keyword of JSON Schema",
        ),
        ({"dependencies": {"a": ["b"]}}, ("dependencies",), "is not a keyword of JSON Schema"),
        ({"schema": 5}, ("schema",), "a JSON Schema is a mapping, not 5"),
        ("object", (), 'a JSON Schema is a mapping, not "object"'),
    ],
)
def test_a_schema_that_does_not_work_is_refused(value: Any, path: Any, said: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse("answer_json", value)
    assert caught.value.path == path
    assert said in caught.value.message


def test_a_misspelled_keyword_is_told_with_the_one_that_was_meant() -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse("answer_json", {"tpye": "object"})
    assert "type" in str(caught.value.meant)


def test_notes_and_formats_are_keywords_that_need_decide_nothing() -> None:
    schema = {
        "title": "Id",
        "format": "email",
        "$comment": "of the shop",
        "x-owner": "me",
        "examples": ["a"],
    }
    passes("answer_json", schema, scene(answer='"no address"'))


def test_a_property_may_be_called_like_a_keyword() -> None:
    schema = {
        "properties": {"pattern": {"type": "string"}, "$ref": {"type": "string"}},
        "enum": [{"pattern": "("}],
    }
    fails(
        "answer_json",
        schema,
        scene(answer='{"pattern": 1}'),
        "Answer does not fit the JSON Schema, in 2 places",
    )


KEYWORDS = st.sampled_from(
    [
        "type", "$ref", "$id", "pattern", "patternProperties", "properties", "items", "not",
        "anyOf", "$anchor", "schema", "$schema", "$defs", "multipleOf",
    ]
)  # fmt: skip


@given(
    st.dictionaries(KEYWORDS, JSON | st.dictionaries(KEYWORDS, JSON, max_size=2), max_size=3), JSON
)
def test_any_schema_is_refused_or_can_be_applied(schema: Any, value: Any) -> None:
    try:
        ((_, check),) = VOCABULARY.parse("answer_json", schema)
    except InvalidValue:
        return
    assert check.params["schema"] is not None
    assert judge("answer_json", schema, scene(answer=json.dumps(value))).verdict in (
        "passed",
        "failed",
        "not_judged",
    )


# ── answer_number ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        (1234.5, "The total is $1,234.50."),
        (1234.5, "Summe: 1.234,50 €"),
        (0.12, "about 12%"),
        ({"value": 1234, "tolerance": "1%"}, "roughly 1.23k"),
        ({"value": 1234, "tolerance": 1}, "1,235"),
        ([3, 4], "three and four"),
    ],
)
def test_a_figure_in_any_notation_passes(value: Any, answer: str) -> None:
    for _, check in VOCABULARY.parse("answer_number", value):
        passes("answer_number", [check.params], scene(answer=answer))


def test_a_missing_figure_is_told_with_the_nearest_one() -> None:
    fails(
        "answer_number",
        1234.5,
        scene(answer="About $1,230 in 2024"),
        "Answer does not contain expected number: 1234.5\nNearest number: “$1,230”, off by "
        "4.5\nNumbers: $1,230, 2024",
        'allow for rounding with {value: …, tolerance: "1%"}',
    )
    fails(
        "answer_number",
        {"value": 50, "tolerance": 1},
        scene(call("get_orders"), answer="It is 7."),
        "Answer does not contain expected number: 50 (tolerance 1)",
        "See whether the tools returned this figure",
    )
    fails(
        "answer_number",
        50,
        scene(answer="It is 7."),
        "Answer does not contain",
        "answered from memory",
    )
    fails(
        "answer_number",
        50,
        scene(answer="Many."),
        "Answer does not contain",
        "There is no number in the answer: “Many.”",
    )


@pytest.mark.parametrize(
    ("value", "path", "said"),
    [
        ("5", (), "this is a string where a number belongs"),
        ([True], (0,), "this is true or false where a number belongs"),
        ({"value": 5, "tolerance": "a lot"}, ("tolerance",), "a tolerance is a number"),
        ({"tolerance": 5}, (), "'value' is missing"),
        (float("nan"), (), "infinity and NaN"),
    ],
)
def test_a_figure_that_does_not_fit_is_refused(value: Any, path: Any, said: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        VOCABULARY.parse("answer_number", value)
    assert caught.value.path == path
    assert said in caught.value.message


@pytest.mark.parametrize(("wrong", "more"), [(1, None), (6, None), (7, 1), (9, 3)])
def test_the_first_six_places_that_do_not_fit_are_told(wrong: int, more: int | None) -> None:
    answer = json.dumps([f"x{n}" for n in range(wrong)])
    lines = judge(
        "answer_json", {"items": {"type": "number"}}, scene(answer=answer)
    ).explanation.splitlines()
    assert (
        lines[0]
        == f"Answer does not fit the JSON Schema, in {wrong} place{'' if wrong == 1 else 's'}:"
    )
    assert [line.split(":")[0] for line in lines[1:7]] == [
        f"  $[{n}]" for n in range(min(wrong, 6))
    ]
    assert lines[7:] == ([f"  … and {more} more"] if more else [])


def test_twenty_numbers_of_an_answer_are_reported() -> None:
    found = judge("answer_number", 0, scene(answer=" ; ".join(str(n) for n in range(1, 30))))
    assert found.actual == [str(n) for n in range(1, 21)]


@pytest.mark.parametrize(
    ("wanted", "answer", "told"),
    [
        (100, "It is 102.", "It is near: allow for rounding"),
        (100, "It is 102.1.", "See whether the tools returned"),
        (100, "It is 98 or 300.", "Nearest number: “98”, off by 2"),
        (100, "It is 98 or 101.5.", "Nearest number: “101.5”, off by 1.5"),
    ],
)
def test_the_nearest_number_is_told_and_whether_it_is_near(
    wanted: float, answer: str, told: str
) -> None:
    fails(
        "answer_number",
        wanted,
        scene(call("weather"), answer=answer),
        "Answer does not contain",
        told,
    )


def test_a_number_with_a_place_and_no_tolerance_is_exact() -> None:
    passes("answer_number", {"value": 10}, scene(answer="It is 10."))
    result = judge("answer_number", {"value": 10}, scene(answer="It is 10.5."))
    assert (result.verdict, result.label) == ("failed", "answer_number 10")


@pytest.mark.parametrize("part", [1, 3, 10])
def test_the_parts_of_a_power_are_no_figures(part: int) -> None:
    passes("answer_number", 1_000, scene(answer="It is 1 x 10^3."))
    assert judge("answer_number", part, scene(answer="It is 1 x 10^3.")).verdict == "failed"


@pytest.mark.parametrize("called", [True, False])
def test_an_answer_without_a_figure_is_from_memory_only_if_nothing_was_called(called: bool) -> None:
    made = scene(*([call("get_orders")] if called else []), answer="Quite a few.")
    told = fails("answer_number", 5, made, "Answer does not contain expected number: 5")
    assert ("No tool was called" in told.explanation) is not called
    asks = "Ask for the figure in the prompt, and see whether a tool returned it."
    assert told.hint == asks
