from __future__ import annotations

from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.checks import evaluate_checks
from harness.judging.checks.kind import Evidence
from harness.leaderboards.bfcl.check import find_fault
from harness.leaderboards.bfcl.checker.calls import find_argument_fault
from harness.leaderboards.bfcl.checker.java import parse_java_value
from harness.leaderboards.bfcl.checker.javascript import parse_javascript_value
from harness.leaderboards.bfcl.checker.values import standardize_answer, standardize_text
from harness.types import (
    AssistantMessage,
    Case,
    Check,
    Reply,
    ToolCall,
    ToolList,
    ToolRequest,
    Transcript,
    UserMessage,
)
from tests.leaderboards.bfcl.cases import SAMPLES, Sample


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.name for sample in SAMPLES])
def test_an_output_is_judged_as_the_official_rules_have_it(sample: Sample) -> None:
    assert sample.found() == sample.error_type


def test_samples_have_names_of_their_own() -> None:
    names = [sample.name for sample in SAMPLES]
    assert len(names) == len(set(names))


@given(st.text())
def test_a_standardized_text_stays_as_it_is(text: str) -> None:
    assert standardize_text(standardize_text(text)) == standardize_text(text)
    assert set(standardize_text(text)).isdisjoint(" ,./-_*^'")
    assert set(standardize_answer(text)).isdisjoint(",./-_*^()'")


@pytest.mark.parametrize(
    ("text", "kind", "element", "value"),
    [
        ("-12", "short", None, -12),
        ("1.5", "short", None, "1.5"),
        ("7l", "long", None, 7),
        ("1e3", "double", None, 1000.0),
        ("1.5F", "float", None, 1.5),
        ("1.5", "float", None, "1.5"),
        ("true", "boolean", None, True),
        ("True", "boolean", None, "True"),
        ("'a'", "char", None, "'a'"),
        ("new ArrayList<String>()", "ArrayList", "String", []),
        (
            'new ArrayList<String>() {{ add("a"); add("b c"); }}',
            "ArrayList",
            "String",
            ["a", "b c"],
        ),
        ("new ArrayList<>(Arrays.asList('a', 'b'))", "ArrayList", "char", ["a", "b"]),
        ("new long[]{1L, 2, 3L}", "Array", "long", [1, "2", 3]),
        ('new Object[] {1, "abc", true, 2.5, 3L}', "Array", None, [1, "abc", True, 2.5, 3]),
        ("new int[]{}", "Array", "integer", []),
        ("ids", "Array", "integer", "ids"),
        ("new HashMap<>()", "HashMap", None, {}),
        (
            'new HashMap<String, Object>() {{ put("a", true); put("b", 1.5f); }}',
            "HashMap",
            None,
            {"a": True, "b": 1.5},
        ),
        ("settings", "HashMap", None, "settings"),
        ("new HashSet<>()", "Set", None, "new HashSet<>()"),
    ],
)
def test_a_java_value_is_read_by_its_type(
    text: str, kind: str, element: str | None, value: object
) -> None:
    found = parse_java_value(text, kind, element)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "kind", "element", "value"),
    [
        ('"a"', "String", None, "a"),
        ("a", "String", None, "a"),
        ("12", "integer", None, 12),
        ("1.5", "integer", None, "1.5"),
        ("-1.5", "float", None, -1.5),
        ("12n", "Bigint", None, 12),
        ("false", "Boolean", None, False),
        ("no", "Boolean", None, "no"),
        ("[1, 'two', true, 2.5]", "array", None, [1, "two", True, 2.5]),
        ("new Array('a', \"b\")", "array", "String", ["a", "b"]),
        ("[]", "array", "integer", []),
        ("[[1, 2], [3, 4]]", "array", "array", [[1, 2], [3, 4]]),
        ("list", "array", "String", "list"),
        ("{}", "dict", None, {}),
        (
            "{'a': 1, b: 'two', c: [1, 2], d: true}",
            "dict",
            None,
            {"a": 1, "b": "two", "c": [1, 2], "d": True},
        ),
        ("options", "dict", None, "options"),
        ("whatever", "any", None, "whatever"),
    ],
)
def test_a_javascript_value_is_read_by_its_type(
    text: str, kind: str, element: str | None, value: object
) -> None:
    found = parse_javascript_value(text, kind, element)
    assert found == value
    assert type(found) is type(value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


SCHEMAS = [
    ({"type": "string"}, ["a"]),
    ({"type": "integer"}, [1, ""]),
    ({"type": "float"}, [1.5]),
    ({"type": "boolean"}, [True]),
    ({"type": "any"}, ["a"]),
    ({"type": "dict"}, ["", {"k": [1]}]),
    ({"type": "array", "items": {"type": "string"}}, [["a"], ""]),
    ({"type": "array", "items": {"type": "dict"}}, ["", [{"k": [1]}]]),
    ({"type": "array"}, [["a"]]),
]


@given(value=json_values, asked=st.sampled_from(SCHEMAS))
def test_whatever_a_model_sends_gets_a_verdict(
    value: object, asked: tuple[dict[str, Any], list[Any]]
) -> None:
    fault = find_argument_fault("python", "x", value, *asked)
    assert fault is None or fault.error_type


@pytest.mark.parametrize("answers", [[1.5], [1e308, ""]])
def test_a_number_too_large_for_a_float_is_of_the_wrong_type(answers: list[Any]) -> None:
    fault = find_argument_fault("python", "x", 10**400, {"type": "float"}, answers)
    assert fault is not None
    assert fault.error_type == "type_error:simple"


@pytest.mark.parametrize(
    ("answers", "among_others", "right"),
    [
        (("Oslo", "Paris"), True, True),
        (("Paris", "Oslo"), True, False),
        (("Paris",), True, True),
        (("Paris",), False, True),
    ],
)
def test_of_several_questions_to_one_memory_the_last_is_judged(
    answers: tuple[str, ...], among_others: bool, right: bool
) -> None:
    params = {"category": "memory_kv", "ground_truth": ["Paris"], "among_others": among_others}
    messages = tuple(
        message
        for answer in answers
        for message in (UserMessage(text="?"), AssistantMessage(reply=Reply(text=answer)))
    )
    made = Transcript(messages=messages, answer=answers[-1])
    assert (find_fault(params, made) is None) is right


@pytest.mark.parametrize(("answer", "right"), [("Paris", True), ("Oslo", False)])
def test_a_failure_shows_what_was_expected_and_what_was_done(answer: str, right: bool) -> None:
    check = Check(kind="bfcl", params={"category": "memory_kv", "ground_truth": ["Paris"]})
    messages = (UserMessage(text="?"), AssistantMessage(reply=Reply(text=answer)))
    made = Transcript(messages=messages, answer=answer)
    case = Case(name="c", prompt="?", checks=(check,))
    whole = Evidence(case=case, transcript=made, tools=ToolList(tools=()))
    (result,) = anyio.run(evaluate_checks, whole)
    assert result.verdict == ("passed" if right else "failed")
    assert result.expected == (None if right else ["Paris"])
    assert result.actual == (None if right else [[{"text": "Oslo"}]])


@pytest.mark.parametrize("asked", [(), (ToolRequest(id="1", tool="weather"),)])
def test_where_no_function_fits_a_call_is_a_failure(asked: tuple[ToolRequest, ...]) -> None:
    reply = AssistantMessage(reply=Reply(text="No." if not asked else "", tool_requests=asked))
    calls = tuple(ToolCall(tool=one.tool, arguments={}, outcome="ok", reply=1) for one in asked)
    made = Transcript(messages=(UserMessage(text="?"), reply), tool_calls=calls, answer="No.")
    assert (find_fault({"category": "irrelevance"}, made) is None) is (not asked)
