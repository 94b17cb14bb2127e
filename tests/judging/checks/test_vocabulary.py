from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from harness.base.errors import InvalidValue, UsageError
from harness.base.json_text import canonical_json
from harness.judging.checks import VOCABULARY
from harness.judging.checks.registry import KINDS, valid_calls
from harness.suites.readers import Vocabulary
from harness.types import Usage
from tests.judging.checks.scenes import call, judge_all, scene
from tests.judging.checks.strategies import JSON, SCALARS

NAMES = sorted(VOCABULARY.names())
VALIDATORS = {name: Draft202012Validator(VOCABULARY.schema(name)) for name in NAMES}
KEYS = st.sampled_from(
    [
        "tool", "args", "times", "min_times", "max_times", "calls", "strict", "answers", "by",
        "at_least", "limit", "text", "texts", "pattern", "path", "value", "resource", "query",
        "same_state_as", "tolerance", "schema", "expected", "keywords", "threshold", "rubric",
        "model", "of", "severity", "$gte", "$one_of", "$path", "must_call", "not",
    ]
)  # fmt: skip
WORDS = (
    st.sampled_from(["get_orders", "weather", "a.b[0]", "warn", "1%", "^x+$", "yes", ""]) | SCALARS
)
NEAR: st.SearchStrategy[Any] = st.recursive(
    WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
"""Values made of the words that suites are made of: mostly wrong, often nearly right, sometimes
right."""

GOOD: dict[str, list[Any]] = {
    "must_call": [
        ["a"],
        "a",
        [{"tool": "a", "args": {"x": {"$gt": 1}}, "times": 2, "severity": "warn"}],
    ],
    "must_not_call": [["a"], [{"tool": "a", "args": {}}]],
    "must_call_any": [["a", {"tool": "b"}], {"calls": ["a"], "severity": "warn"}],
    "must_call_in_order": [["a", "b"], {"calls": ["a", "b"], "strict": True}],
    "only_call": [["a"], [], {"calls": []}],
    "max_calls": [0, 5.0, [{"limit": 1, "tool": "a"}, 7]],
    "must_succeed": [["a"]],
    "must_be_denied": [[{"tool": "a"}]],
    "decision": [
        "denied",
        ["allowed", "filtered"],
        {"is": "hidden", "tool": "a"},
        {"without": "b"},
    ],
    "must_error": ["a"],
    "must_be_refused": [True, {"severity": "warn"}, {}],
    "no_tool_errors": [True, {"tool": "a"}, {"severity": "warn"}, {}],
    "recovers_from_error": [True],
    "tool_result_contains": [["a"], {"text": "a", "tool": "b"}],
    "tool_result_not_contains": ["a"],
    "tool_result": [{"path": "a"}, [{"value": None, "tool": "a", "args": {"x": 1}}]],
    "end_state": [
        {"resource": "db://a", "path": "b[0]", "value": {"$gte": 1}},
        [
            {"tool": "a", "args": {"b": 1}, "value": None},
            {"query": "a", "path": "c", "severity": "warn"},
        ],
        {"resource": "db://a", "same_state_as": ["a", {"tool": "b", "args": {"c": 1}}]},
        {"tool": "a", "same_state_as": []},
    ],
    "output_schema_valid": [True, {"tool": "a"}],
    "answer_contains": [["a", {"text": "b", "severity": "warn"}], "a"],
    "answer_not_contains": [["a"]],
    "answer_contains_any": [["a", "b"], {"texts": ["a"]}],
    "answer_equals": ["a", {"text": "a"}],
    "answer_matches": [["a+"], {"pattern": r"\pL+"}],
    "answer_verbatim": [
        {"contains": "a"},
        [{"equals": "A", "tag": "r"}, {"starts_with": "a", "ignore_case": True}],
        {"matches": "a+", "severity": "warn"},
    ],
    "answer_json": [{"type": "object"}, True, {"schema": {}, "severity": "warn"}, {}],
    "answer_number": [5, [1.5, {"value": 2, "tolerance": "1%"}]],
    "refuses": [True, False, {"expected": True}],
    "expected_answer": ["a", {"text": "a", "model": "m", "severity": "warn"}],
    "answer_judge": ["a", {"rubric": "a", "threshold": 0.5, "model": "m"}],
    "graded": [
        {"expected": []},
        {
            "expected": ["a", {"tool": "get_orders", "args": {"limit": {"$gt": 1}}}],
            "keywords": ["b"],
            "threshold": 1,
        },
    ],
    "remembers": [
        "a",
        ["a", "b"],
        {"answers": ["a"], "by": "recall", "at_least": 0.5, "severity": "warn"},
        {"answers": "total", "by": "exact"},
    ],
    "turns_passed": [0.8, {"at_least": 1, "severity": "warn"}],
    "must_elicit": [True, {"tool": "a", "message": "sure", "answer": "accept"}],
    "must_not_elicit": [True, {"field": "confirm", "mode": "form", "severity": "warn"}],
    "elicitation_contains": ["sure", {"text": "sure", "tool": "a"}],
    "consent": [
        "weather",
        {"tool": "weather", "args": {"city": "Rome"}, "names": ["Rome"], "effect": "none"},
        {"tool": "get_orders", "state": {"tool": "weather", "args": {}}, "severity": "warn"},
    ],
    "must_read": ["hr://*", ["a:b", {"uri": "a:b", "severity": "warn"}]],
    "must_not_read": ["hr://*", {"uri": "a:b"}],
    "resource_contains": ["30 days", {"text": "30 days", "uri": "hr://*"}],
    "max_replies": [5, {"limit": 5}],
    "max_tokens": [1000],
    "max_cost": [0.5],
    "max_seconds": [5.5],
    "recovers": [3, {"within": 1, "severity": "warn"}],
    "max_retries_after_error": [0, {"limit": 2}],
    "no_blind_retry": [True, {"expected": True, "severity": "warn"}],
    "no_duplicate_writes": [True, ["a"], {"tools": ["a", "b"]}, {"tools": True}],
    "admits_failure": [True],
    "no_false_success": [True, {"expected": True}],
    "any_of": [
        [{"must_call": ["a"]}, {"any_of": [{"refuses": True}]}],
        {"of": [{"refuses": True}], "severity": "warn"},
    ],
    "all_of": [[{"answer_contains": "a"}]],
    "not": [{"must_call": ["a"], "refuses": True}, {"of": {"refuses": True}}],
}
"""Values of every kind as people would write them."""

SCENE = scene(
    call("get_orders", {"limit": 5}, text='{"total": 5}', structured={"total": 5}),
    call("weather", outcome="denied", text="no", reply=2),
    answer="The total is 5, yes.",
    usage=Usage(input_tokens=5, output_tokens=5, cost_usd=0.1),
    replies=3,
)


def test_the_vocabulary_is_what_readers_of_suites_ask_for() -> None:
    vocabulary: Vocabulary = VOCABULARY
    assert tuple(vocabulary.names()) == KINDS.list_names()
    assert set(GOOD) == set(KINDS.list_names())


@pytest.mark.parametrize("name", NAMES)
def test_every_schema_is_json_and_json_schema(name: str) -> None:
    schema = json.loads(json.dumps(VOCABULARY.schema(name)))
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", NAMES)
def test_what_people_write_is_read_fits_the_schema_and_can_be_judged(name: str) -> None:
    for value in GOOD[name]:
        assert VALIDATORS[name].is_valid(value), value
        for path, check in VOCABULARY.parse(name, value):
            assert isinstance(path, tuple)
            assert json.loads(canonical_json(check.dump_params())) == check.dump_params()
        for result in judge_all(name, value, SCENE):
            assert result.kind == name
            assert result.label.startswith(name)


AT_BOUNDS: list[tuple[str, Any, Any]] = [
    ("must_call", ["a"], []),
    ("answer_contains", ["a"], []),
    ("answer_not_contains", ["a"], []),
    ("must_call", [{"tool": "a", "times": 1}], [{"tool": "a", "times": 0}]),
    ("must_call", [{"tool": "a", "min_times": 1}], [{"tool": "a", "min_times": 0}]),
    ("must_call", [{"tool": "a", "max_times": 1}], [{"tool": "a", "max_times": 0}]),
    ("must_call_in_order", ["a", "b"], ["a"]),
    ("must_call_in_order", {"calls": ["a", "b"]}, {"calls": ["a"]}),
    ("must_call_any", ["a"], []),
    ("must_call_any", {"calls": ["a"]}, {"calls": []}),
    ("max_calls", 0, -1),
    ("max_calls", {"limit": 0}, {"limit": -1}),
    ("max_calls", {"limit": 0, "tool": "a"}, {"tool": "a"}),
    ("decision", ["denied"], []),
    ("decision", {"without": ["a"]}, {"without": []}),
    ("answer_contains_any", ["a"], []),
    ("answer_number", {"value": 1, "tolerance": 0}, {"value": 1, "tolerance": -0.1}),
    ("remembers", {"answers": ["a"], "at_least": 1}, {"answers": ["a"], "at_least": 1.01}),
    ("remembers", {"answers": ["a"], "at_least": 0.01}, {"answers": ["a"], "at_least": 0}),
    ("remembers", {"answers": ["a"]}, {"answers": []}),
    ("answer_judge", {"rubric": "a", "threshold": 0.01}, {"rubric": "a", "threshold": 0}),
    ("answer_judge", {"rubric": "a", "threshold": 1}, {"rubric": "a", "threshold": 1.01}),
    ("graded", {"expected": ["a"], "threshold": 0.01}, {"expected": ["a"], "threshold": 0}),
    ("graded", {"expected": ["a"], "threshold": 1}, {"expected": ["a"], "threshold": 1.01}),
    ("max_tokens", 0, -1),
    ("max_cost", 0, -0.01),
    ("max_seconds", 0, -1),
    ("max_replies", 1, 0),
    ("turns_passed", 1, 1.01),
    ("any_of", [{"refuses": True}], []),
]
"""A kind, a value that just fits, and one that just does not."""


@pytest.mark.parametrize(("name", "fits", "beyond"), AT_BOUNDS)
def test_schema_and_reader_have_the_same_bounds(name: str, fits: Any, beyond: Any) -> None:
    assert VALIDATORS[name].is_valid(fits)
    assert VOCABULARY.parse(name, fits)
    assert not VALIDATORS[name].is_valid(beyond)
    with pytest.raises(InvalidValue):
        VOCABULARY.parse(name, beyond)


def _subschemas(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
    for part in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(part, dict | list):
            yield from _subschemas(part)


@pytest.mark.parametrize("name", NAMES)
def test_a_default_that_editors_show_fits_itself(name: str) -> None:
    for schema in _subschemas(VOCABULARY.schema(name)):
        if "default" in schema:
            assert Draft202012Validator(schema).is_valid(schema["default"])


@st.composite
def mutations(draw: st.DrawFn, name: str) -> Any:
    """Draw a value that people would write, with one part of it replaced by anything."""
    value = draw(st.sampled_from(GOOD[name]))
    other = draw(NEAR | st.sampled_from(GOOD[draw(st.sampled_from(NAMES))]))

    def replaced(part: Any) -> Any:
        if isinstance(part, dict) and part and draw(st.booleans()):
            key = draw(st.sampled_from(sorted(part)))
            return {**part, (draw(KEYS) if draw(st.booleans()) else key): replaced(part[key])}
        if isinstance(part, list) and part and draw(st.booleans()):
            return [*part[:-1], replaced(part[-1])]
        return other

    return replaced(value)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_any_value_is_read_or_refused_as_the_schema_says(name: str, data: st.DataObject) -> None:
    value = data.draw(mutations(name) | NEAR | JSON)
    try:
        parsed = VOCABULARY.parse(name, value)
    except InvalidValue as error:
        assert isinstance(error.path, tuple)  # noqa: PT017 - both outcomes are right
        return
    assert VALIDATORS[name].is_valid(value)
    for _, check in parsed:
        assert json.loads(canonical_json(check.dump_params())) == check.dump_params()
        list(valid_calls(check))
    for result in judge_all(name, value, SCENE):
        assert len(result.explanation) <= 1_500
        assert result.verdict in ("passed", "failed", "not_judged")
        assert (result.verdict == "passed") or result.explanation


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "value",
    [dt.date(2024, 1, 1), b"x", {1: 2}, {None: 1}, float("nan"), {"of": {1}}, [dt.date.min]],
)
def test_what_is_not_json_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidValue):
        VOCABULARY.parse(name, value)


def test_a_kind_that_does_not_exist_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'must_call'"):
        VOCABULARY.parse("must_cal", [])
