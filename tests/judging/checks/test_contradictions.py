from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import InvalidInput, InvalidValue
from harness.judging.checks import VOCABULARY, evaluate_checks
from harness.judging.checks.kind import Evidence
from harness.suites.readers import read_suite
from harness.types import Case, Check, Outcome, Turn
from tests.judging.checks.scenes import call, scene

DELETE = {"tool": "delete", "args": {"id": 7}}


def checks_of(assertions: dict[str, Any]) -> tuple[Check, ...]:
    return tuple(
        check for name, value in assertions.items() for _, check in VOCABULARY.parse(name, value)
    )


def told(assertions: dict[str, Any], *turns: dict[str, Any]) -> list[str]:
    asked = tuple(Turn(prompt="?", checks=checks_of(turn)) for turn in turns)
    case = Case(name="t", prompt="?", checks=checks_of(assertions), turns=asked)
    return [problem.message for problem in VOCABULARY.find_contradictions(case)]


CONTRADICT: list[tuple[dict[str, Any], str]] = [
    ({"must_call": ["delete"], "must_not_call": ["delete"]}, "1 call of delete must be made"),
    ({"must_call": [DELETE], "must_not_call": ["delete"]}, "'must_call'"),
    ({"must_call": [DELETE], "must_not_call": [DELETE]}, "'must_not_call'"),
    (
        {"must_call": [DELETE], "must_not_call": [{"tool": "delete", "args": {"id": {"$gt": 5}}}]},
        "and 0 may be",
    ),
    (
        {
            "must_call": [{"tool": "delete", "args": {"$equals": {"id": 7}}}],
            "must_not_call": [DELETE],
        },
        "and 0 may be",
    ),
    (
        {
            "must_call": [{"tool": "a", "args": {"x": {"$one_of": [7, 8]}}}],
            "must_not_call": [{"tool": "a", "args": {"x": {"$gte": 7}}}],
        },
        "and 0 may be",
    ),
    (
        {
            "must_call": [{"tool": "a", "args": {"x": {"$gt": "2024-02-01"}, "y": ["b"]}}],
            "must_not_call": [{"tool": "a", "args": {"x": {"$gt": "2024-01-01"}}}],
        },
        "and 0 may be",
    ),
    ({"must_call": ["a", "b"], "max_calls": 1}, "2 calls of any tool must be made, and 1 may be"),
    ({"must_call": [{"tool": "a", "min_times": 3}], "max_calls": {"tool": "a", "limit": 2}}, "3"),
    ({"must_call": [{"tool": "a", "args": {"x": x}} for x in (1, 2)], "max_calls": 1}, "2 calls"),
    ({"must_call": [{"tool": "a", "min_times": 3}, {"tool": "a", "max_times": 2}]}, "3 calls of a"),
    ({"must_call": ["a"], "only_call": ["b"]}, "1 call of other tools"),
    (
        {"must_call": [DELETE], "only_call": [{"tool": "delete", "args": {"id": 8}}]},
        "'only_call'",
    ),
    ({"must_call": ["a"], "only_call": []}, "'only_call'"),
    ({"must_call_any": ["a"], "must_not_call": ["a"]}, "'must_call_any'"),
    ({"must_call_any": ["a", "b"], "max_calls": 0}, "'must_call_any'"),
    (
        {"must_call_any": ["a", "b"], "must_not_call": ["a", "b"]},
        "nothing of what it asks for can be",
    ),
    ({"must_call_any": ["a", "b"], "only_call": ["c"]}, "nothing of what it asks for can be"),
    ({"must_call_any": ["a", "b"], "must_call": ["c"], "max_calls": 1}, "nothing of what"),
    (
        {"must_call_any": ["a", DELETE], "must_not_call": ["a"], "only_call": ["a", "b"]},
        "'only_call'",
    ),
    ({"not": {"must_call_any": ["a", "b"]}, "must_call": ["b"]}, "'not'"),
    (
        {"any_of": [{"must_call_any": ["a", "b"]}, {"refuses": True}], "must_not_call": ["a", "b"]},
        "no",
    ),
    ({"must_call_in_order": ["a", "b", "a"], "max_calls": 2}, "3 calls"),
    ({"must_call_in_order": ["a", "b", "a"], "max_calls": {"tool": "a", "limit": 1}}, "2 calls"),
    ({"must_call_in_order": ["a", DELETE], "must_not_call": [DELETE]}, "'must_call_in_order'"),
    ({"must_succeed": ["a"], "must_not_call": ["a"]}, "'must_succeed'"),
    ({"must_succeed": ["a"], "must_be_denied": ["a"]}, "that succeed"),
    ({"must_succeed": [DELETE], "must_error": ["delete"]}, "that succeed"),
    ({"must_be_denied": ["a"], "no_tool_errors": True}, "that fail"),
    ({"recovers_from_error": True, "no_tool_errors": True}, "that fail"),
    ({"recovers_from_error": {"tool": "a"}, "max_calls": 1}, "2 calls"),
    ({"must_be_refused": True, "must_call": ["a"]}, "'must_be_refused'"),
    ({"decision": {"is": "denied", "tool": "a"}, "must_succeed": ["a"]}, "'decision'"),
    ({"decision": {"is": ["allowed", "filtered"], "tool": "a"}, "must_not_call": ["a"]}, "'dec"),
    ({"tool_result": {"tool": "a", "path": "x"}, "must_not_call": ["a"]}, "'tool_result'"),
    ({"output_schema_valid": {"tool": "a"}, "must_not_call": ["a"]}, "'output_schema_valid'"),
    ({"answer_contains": ["Order 7"], "answer_not_contains": ["order"]}, "'order' is in 'Order 7'"),
    (
        {"answer_contains_any": ["ab", "bc"], "answer_not_contains": ["b"]},
        "nothing of what it asks for can be",
    ),
    (
        {"answer_contains_any": ["ab", "c"], "answer_not_contains": ["B", "c"]},
        "nothing of what it asks for can be",
    ),
    ({"answer_contains_any": ["a", "b"], "answer_equals": "c"}, "nothing of what"),
    ({"decision": {"is": "denied", "tool": "a"}, "must_not_call": ["a"]}, "'must_not_call'"),
    ({"decision": "not_attempted", "must_call": ["a"]}, "'decision'"),
    ({"answer_equals": "yes", "answer_contains": ["no"]}, "'no' is not in 'yes'"),
    ({"answer_equals": "oh no", "answer_not_contains": [" no "]}, "' no ' is in 'oh no'"),
    (
        {
            "tool_result_contains": [{"text": "ab", "tool": "a"}],
            "tool_result_not_contains": ["b"],
        },
        "'b' is in 'ab'",
    ),
    ({"tool_result_contains": ["a"], "max_calls": 0}, "'max_calls'"),
    ({"all_of": [{"must_call": ["a"]}], "must_not_call": ["a"]}, "and 0 may be"),
    ({"any_of": [{"must_call": ["a"]}, {"refuses": True}], "must_not_call": ["a"]}, "and 0 may"),
    ({"any_of": [{"must_call": ["a"], "only_call": []}, {"refuses": True}]}, "'only_call'"),
    ({"not": {"must_call": ["a"], "only_call": []}}, "'only_call'"),
    ({"not": {"must_call": ["a"]}, "must_call": ["a"]}, "'not'"),
    ({"not": {"must_not_call": ["a"]}, "must_not_call": ["a"]}, "'not'"),
    ({"not": {"answer_contains": ["b"]}, "answer_contains": ["abc"]}, "'b' is in 'abc'"),
    ({"turns_passed": 0.5}, "no turn has checks"),
    ({"must_not_call": [{"tool": "a", "args": {"x": {"$gt": 5, "$lt": 3}}}]}, "can never match"),
    ({"must_call": [{"tool": "a", "args": {"x": {"$matches": "a", "$gt": 5}}}]}, "'x' matching"),
    ({"tool_result": {"path": "x", "value": {"$gt": 5, "$type": "string"}}}, "can never match"),
    (
        {
            "must_call": [
                {"tool": "a", "args": {"x": {"$gt": 5}}},
                {"tool": "a", "args": {"x": 1}},
            ],
            "max_calls": 1,
        },
        "2 calls",
    ),
]


@pytest.mark.parametrize(("assertions", "words"), CONTRADICT)
def test_checks_that_cannot_hold_together_are_told(assertions: dict[str, Any], words: str) -> None:
    found = told(assertions)
    assert found
    assert words in found[0]


@pytest.mark.parametrize(
    "assertions",
    [
        {"must_call": [DELETE], "must_not_call": [{"tool": "delete", "args": {"id": 8}}]},
        {"must_call": ["delete"], "must_not_call": [DELETE]},
        {"must_call": [DELETE], "must_not_call": [{"tool": "delete", "args": {"force": True}}]},
        {
            "must_call": [{"tool": "delete", "args": {"id": {"$gt": 5}}}],
            "must_not_call": [{"tool": "delete", "args": {"id": {"$gt": 9}}}],
        },
        {
            "must_call": [{"tool": "a", "args": {"x": {"$one_of": [7, 8]}}}],
            "must_not_call": [{"tool": "a", "args": {"x": {"$gt": 7}}}],
        },
        {
            "must_call": [{"tool": "a", "args": {"x": {"$matches": "^b"}}}],
            "must_not_call": [{"tool": "a", "args": {"x": {"$matches": "b"}}}],
        },
        {
            "must_call": [{"tool": "a", "args": {"x": {"$gt": 5}}}],
            "must_not_call": [{"tool": "a", "args": {"x": {"$type": "integer"}}}],
        },
        {"must_call": ["a", "b"], "max_calls": 2},
        {"must_call_any": ["a", "b"], "must_not_call": ["a"]},
        {"must_call_any": ["a", "b"], "must_call": ["a"], "max_calls": 1},
        {"not": {"must_call_any": ["a", "b"]}, "must_call": ["c"]},
        {"must_call": ["a", {"tool": "a", "args": {"x": 1}}], "max_calls": 1},
        {"must_call": ["a"], "must_not_call": ["b"], "only_call": ["a"]},
        {"must_call": ["a"], "must_be_denied": ["a"]},
        {"must_succeed": ["a"], "must_be_denied": [{"tool": "a", "args": {"x": 1}}]},
        {"must_succeed": ["a"], "recovers_from_error": True},
        {"decision": {"is": ["denied", "not_attempted"], "tool": "a"}, "must_not_call": ["a"]},
        {"must_not_call": ["a"], "no_tool_errors": {"tool": "a"}},
        {
            "must_not_call": [
                {"tool": "a", "args": {"x": {"$gt": 5, "$lt": 7}, "y": {"$any": True}}}
            ]
        },
        {"tool_result": {"path": "x", "value": {"$absent": True}}},
        {"must_call": [{"tool": "a", "args": {"x": {"$path": {"b[*].c": {"$not": 1}}}}}]},
        {"answer_contains": ["know"], "answer_not_contains": [" no "]},
        {"answer_contains_any": ["ab", "c"], "answer_not_contains": ["b"]},
        {"answer_contains": ["b"], "tool_result_not_contains": ["b"]},
        {
            "tool_result_contains": [{"text": "ab", "tool": "a"}],
            "tool_result_not_contains": [{"text": "b", "tool": "c"}],
        },
        {"any_of": [{"must_call": ["a"]}, {"must_not_call": ["a"]}]},
        {"not": {"must_call": ["a"], "answer_contains": ["b"]}, "must_call": ["a"]},
        {"must_not_call": ["a"], "not": {"must_call": ["a"]}},
        # What these say of calls is not all that they ask for.
        {"not": {"tool_result": {"tool": "a", "path": "x", "value": 1}}, "must_succeed": ["a"]},
        {"not": {"output_schema_valid": {"tool": "a"}}, "must_succeed": ["a"]},
        {"not": {"must_be_refused": True}, "max_calls": 0},
        {"not": {"decision": {"is": "hidden", "tool": "a"}}, "must_not_call": ["a"]},
        {"not": {"decision": {"is": "allowed", "tool": "a"}}, "must_succeed": ["a"]},
    ],
)
def test_checks_that_can_hold_together_are_left_alone(assertions: dict[str, Any]) -> None:
    assert told(assertions) == []


@pytest.mark.parametrize(
    ("whole", "turns", "contradict"),
    [
        ({}, [{"must_not_call": ["a"]}, {"must_call": ["a"]}], False),
        ({}, [{"must_call": ["a"]}, {"must_not_call": ["a"]}], True),
        ({}, [{"must_call_any": ["a", "b"]}, {"must_not_call": ["b", "a"]}], True),
        ({}, [{"must_not_call": ["b", "a"]}, {"must_call_any": ["a", "b"]}], False),
        ({"must_not_call": ["a"]}, [{"must_call": ["a"]}, {"refuses": True}], True),
        ({"must_call": ["a"]}, [{"must_not_call": ["a"]}, {"refuses": True}], False),
        ({"must_call": ["a"]}, [{"refuses": True}, {"must_not_call": ["a"]}], True),
        ({}, [{"answer_contains": ["b"]}, {"answer_not_contains": ["b"]}], False),
        ({}, [{"answer_contains_any": ["a", "b"]}, {"answer_not_contains": ["a", "b"]}], False),
        ({}, [{"answer_contains_any": ["a"], "answer_not_contains": ["a"]}], True),
        ({"answer_contains": ["b"]}, [{"refuses": True}, {"answer_not_contains": ["b"]}], True),
        ({"turns_passed": 0.5}, [{"must_call": ["a"]}, {"must_not_call": ["a"]}], False),
        ({"turns_passed": 0.5}, [{"must_call": ["a"], "max_calls": 0}, {"refuses": True}], True),
    ],
)
def test_a_turn_counts_the_calls_of_those_before_it_and_has_an_answer_of_its_own(
    whole: dict[str, Any], turns: list[dict[str, Any]], contradict: bool
) -> None:
    assert bool(told(whole, *turns)) is contradict


ARGS = st.sampled_from([{}, {"x": 1}, {"x": 2}, {"x": {"$gt": 1}}, {"$equals": {"x": 1}}, {"y": 1}])
CALLS = st.lists(
    st.builds(lambda tool, args: {"tool": tool, "args": args}, st.sampled_from("ab"), ARGS),
    min_size=1,
    max_size=2,
)
TEXTS = st.lists(st.sampled_from(["a", "ab", "b", "B c", " b "]), min_size=1, max_size=2)
KINDS = {
    **dict.fromkeys(
        ["must_call", "must_not_call", "must_call_any", "only_call", "must_succeed"], CALLS
    ),
    **dict.fromkeys(["must_be_denied", "must_error"], CALLS),
    "must_call_in_order": CALLS.filter(lambda calls: len(calls) > 1),
    "max_calls": st.integers(0, 3),
    "no_tool_errors": st.just(True),
    "recovers_from_error": st.just(True),
    "decision": st.sampled_from(
        ["allowed", "denied", "not_attempted", {"is": "denied", "tool": "a"}]
    ),
    **dict.fromkeys(["answer_contains", "answer_not_contains", "answer_contains_any"], TEXTS),
    "answer_equals": st.sampled_from(["ab", "b", "a b"]),
    "tool_result_contains": TEXTS,
    "tool_result_not_contains": TEXTS,
}
FLAT = st.fixed_dictionaries({}, optional=KINDS)
ASSERTIONS = st.fixed_dictionaries(
    {}, optional={**KINDS, "any_of": st.lists(FLAT.filter(bool), min_size=1, max_size=2),
                  "not": FLAT.filter(bool)}
)  # fmt: skip
OUTCOMES: list[Outcome] = ["ok", "denied", "tool_error"]
MADE = st.builds(
    lambda tool, args, outcome, text, reply: call(
        tool, args, outcome=outcome, text=text, reply=reply
    ),
    st.sampled_from("ab"),
    st.sampled_from([{}, {"x": 1}, {"x": 2}, {"x": 1, "y": 1}]),
    st.sampled_from(OUTCOMES),
    st.sampled_from(["", "a", "b", "ab"]),
    st.integers(1, 2),
)


@given(ASSERTIONS, st.data())
def test_what_is_called_a_contradiction_passes_with_no_conversation(
    assertions: dict[str, Any], data: st.DataObject
) -> None:
    if not told(assertions) or "any_of" in assertions or len(assertions.get("not", ())) > 1:
        return  # in a group, only an alternative is impossible
    case = Case(name="t", prompt="?", checks=checks_of(assertions))
    for _ in range(5):
        held = scene(
            *data.draw(st.lists(MADE, max_size=4)),
            answer=data.draw(st.sampled_from(["", "a", "b", "ab", "b c", "a b"])),
        )
        evidence = Evidence(case=case, transcript=held.transcript, tools=held.tools)
        verdicts = [
            result.verdict for result in anyio.run(evaluate_checks, replace(evidence, case=case))
        ]
        assert set(verdicts) != {"passed"}


SUITE = """\
suite: s
server: x
tests:
  - name: one
    prompt: Delete it.
    assertions:
      must_call: [delete_order]
      must_not_call:
        - {tool: delete_order}
"""


def test_a_contradiction_in_a_suite_is_an_error_with_both_places(tmp_path: Path) -> None:
    path = tmp_path / "s.yml"
    path.write_text(SUITE)
    with pytest.raises(InvalidInput) as caught:
        read_suite(path, VOCABULARY)
    assert str(caught.value).startswith(f"{path}:9:")
    assert "test 'one': 'must_not_call' and 'must_call' in line 7 cannot both hold" in str(
        caught.value
    )


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (["allowed", "denied", "not_attempted"], ()),
        (["allowed", "filtered", "denied", "not_attempted"], ()),
        ({"is": ["allowed", "denied", "hidden", "not_attempted"], "tool": "a"}, ("is",)),
    ],
)
def test_a_decision_that_takes_every_outcome_is_refused(value: Any, path: tuple[str, ...]) -> None:
    with pytest.raises(InvalidValue, match="cannot fail") as caught:
        VOCABULARY.parse("decision", value)
    assert caught.value.path == path


@pytest.mark.parametrize(
    "value",
    [
        ["denied", "hidden", "not_attempted"],
        {"is": ["allowed", "denied", "not_attempted"], "tool": "a"},
        {"is": ["allowed", "denied", "hidden", "not_attempted"], "tool": "a", "without": "b"},
    ],
)
def test_a_decision_that_can_be_wrong_is_accepted(value: Any) -> None:
    assert VOCABULARY.parse("decision", value)


@pytest.mark.parametrize(
    "schema",
    [False, {"type": "integer", "minimum": 5, "maximum": 3}, {"enum": ["a"], "type": "null"}],
)
def test_a_schema_that_no_answer_fits_is_refused(schema: Any) -> None:
    with pytest.raises(InvalidValue, match="no answer is valid by this schema"):
        VOCABULARY.parse("answer_json", {"schema": schema})


@pytest.mark.parametrize("pattern", ["", "x*", "^", "$", "^.*", "(a|b)?", "[0-9]*$"])
def test_a_pattern_that_every_answer_matches_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidValue):
        VOCABULARY.parse("answer_matches", pattern)


@pytest.mark.parametrize(
    "pattern", ["x", "^$", r"^\s*$", "^[^<]*$", r"\b", r"\$", "(?m)^a*$", "^a*$"]
)
def test_a_pattern_that_some_answer_does_not_match_is_accepted(pattern: str) -> None:
    assert VOCABULARY.parse("answer_matches", pattern)
