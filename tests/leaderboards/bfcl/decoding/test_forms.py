from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.leaderboards.bfcl.decoding.forms import (
    FORMS,
    FUNCTION_GEMMA,
    MINI_CPM,
    TEXTS,
    OutputForm,
    detect_form,
)
from harness.leaderboards.bfcl.decoding.parsing import MisshapenOutput, NotCalls, Pairs

TWO = [{"name": "shop.find", "arguments": {"item": "tea"}}, {"name": "pay", "arguments": {}}]

WRITTEN: dict[str, Any] = {
    "lists of {function: arguments as JSON text}": [
        {one["name"]: json.dumps(one["arguments"])} for one in TWO
    ],
    "lists of {function: arguments as an object}": [{one["name"]: one["arguments"]} for one in TWO],
    "lists of {tool_name, parameters}": [
        {"tool_name": one["name"], "parameters": one["arguments"]} for one in TWO
    ],
    "lists of {name, arguments}": TWO,
    "calls written as source text, [function(argument=value)]": "[shop.find(item='tea'), pay()]",
    "calls written as source text and separated by semicolons": "shop.find(item='tea'); pay();",
    "calls written as source text between <TOOLCALL> tags": (
        "Well.<TOOLCALL>[shop.find(item='tea'), pay()]</TOOLCALL>"
    ),
    "JSON between <tool_call> tags": "\n".join(
        f"<tool_call>\n{json.dumps(one)}\n</tool_call>" for one in TWO
    ),
    (
        "a JSON list between <tool_call> tags"
    ): f"<tool_call>```json\n{json.dumps(TWO)}\n```</tool_call>",
    "JSON text with name and arguments": "; ".join(map(json.dumps, TWO)),
    "JSON text with name and parameters": "<|python_tag|>"
    + "; ".join(json.dumps({"name": one["name"], "parameters": one["arguments"]}) for one in TWO),
    "JSON text after </think>": f"Hm.</think>{json.dumps(TWO)}",
    "JSON texts that begin with <function_call>": "".join(
        f"<function_call> {json.dumps(one)}" for one in TWO
    ),
    "the name of a function and, in the next line, its arguments": 'shop.find\n{"item": "tea"}',
}
NEVER_EXECUTED = (
    "JSON text after </think>",
    "calls written as source text and separated by semicolons",
)
ONE_ONLY = "the name of a function and, in the next line, its arguments"


def _readers(form: OutputForm) -> tuple[Callable[[Any], Pairs], Callable[[Any], Pairs]]:
    return (lambda item: form.compared(item, "python")), form.executed


@pytest.mark.parametrize("form", FORMS, ids=[form.title for form in FORMS])
def test_each_form_is_known_by_most_outputs_and_read(form: OutputForm) -> None:
    item = WRITTEN[form.title]
    words = ["Sorry.", ["Sorry."], "", [], None, 7, "[1, 2]", "It is {sunny}."]
    outputs = [
        item,
        item,
        *words,
        *(other for title, other in WRITTEN.items() if title != form.title),
    ]
    assert detect_form((output, "python") for output in outputs) is form
    for read in _readers(form)[: 1 if form.title in NEVER_EXECUTED else 2]:
        both = [("shop.find", {"item": "tea"}), ("pay", {})]
        assert read(item) == (both[:1] if form.title == ONE_ONLY else both)


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (FUNCTION_GEMMA, "<start_function_call>call:pay{to:<escape>Al<escape>}<end_function_call>"),
        (FUNCTION_GEMMA, "<start_of_function_call>call:pay{}<end_of_function_call>"),
        (MINI_CPM, "<|tool_call_start|>\n```python\npay(to='Al')\n```\n<|tool_call_end|>"),
        (MINI_CPM, "<|thought_start|>\nHm.\n<|thought_end|>\nNothing to pay."),
    ],
)
def test_a_form_that_is_not_supported_is_known_by_most_outputs_and_never_read(
    form: OutputForm, text: str
) -> None:
    other = WRITTEN["JSON between <tool_call> tags"]
    assert detect_form((item, "python") for item in (text, text, other)) is form
    assert detect_form((item, "python") for item in (text, other, other)).is_supported
    for read in _readers(form):
        with pytest.raises(NotCalls):
            read(text)


@pytest.mark.parametrize("model", ["NexusRaven-V2-13B", "Nexusflow-Raven-v2", "raven"])
def test_calls_of_raven_are_separated_by_semicolons_even_if_most_outputs_are_one_call(
    model: str,
) -> None:
    form = detect_form([("pay(to='Al')", "python"), ("pay(to='Bo')", "python")], model)
    assert form.compared("pay(to='Al'); pay(to='Bo')", "python") == [
        ("pay", {"to": "Al"}),
        ("pay", {"to": "Bo"}),
    ]
    # As upstream's handler has it: every semicolon, the function for nothing, no conversations.
    assert form.compared("pay(to='A;l')", "python") == [("pay", {"to": "A,l"})]
    with pytest.raises(MisshapenOutput):
        form.compared("out_of_domain(user_query='Hm?')", "python")
    with pytest.raises(NotCalls):
        form.executed("pay(to='Al')")


@pytest.mark.parametrize("model", ["craven-7b", "ravenna", "nexus-1"])
def test_other_names_are_not_raven(model: str) -> None:
    form = detect_form([("pay(to='Al')", "python")], model)
    with pytest.raises((NotCalls, MisshapenOutput)):
        form.compared("pay(to='Al'); pay(to='Bo')", "python")


def test_words_alone_are_of_the_usual_form() -> None:
    assert detect_form([("Sorry.", "python"), ("", "java"), ([], "python")]) is TEXTS


@pytest.mark.parametrize("form", FORMS, ids=[form.title for form in FORMS])
@pytest.mark.parametrize(
    "item", [None, 7, [None], [7], [["f"]], {"f": 7}, [{"f": None}], "{", "<tool_call>", "f(", ";"]
)
def test_what_is_no_call_is_never_a_traceback(form: OutputForm, item: Any) -> None:
    for read in _readers(form):
        try:
            calls = read(item)
        except ValueError:
            continue
        assert all(isinstance(arguments, dict) for _, arguments in calls)


@pytest.mark.parametrize("form", FORMS, ids=[form.title for form in FORMS])
def test_endless_nesting_is_no_traceback(form: OutputForm) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    named = f'{{"name": "f", "arguments": {deep}, "parameters": {deep}}}'
    for item in (deep, f"f(a={deep})", f"<tool_call>\n{named}\n</tool_call>", [{"f": deep}], named):
        with contextlib.suppress(NotCalls, MisshapenOutput):
            assert form.compared(item, "python") in ([], [("f", {})])
