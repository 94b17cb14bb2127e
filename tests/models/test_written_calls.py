"""A call that arrived as text is told from an answer, and only where it names an offered tool."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.models.written_calls import written_call

MARKINGS = (
    '<tool_call>\n{"name": "NAME", "arguments": ARGS}\n</tool_call>',
    '<tool_call>\n{"arguments": ARGS, "name": "NAME"}\n</tool_call>',
    '<tool_call>\n{"name": "NAME", "arguments": {"order',
    'I will look.\n<tool_call>\n{"name": "NAME", "arguments": ARGS}\n</tool_call>',
    'I\'ll check. <tool_call>{"name": "NAME", "arguments": ARGS}</tool_call>',
    '[TOOL_CALLS] [{"name": "NAME", "arguments": ARGS}]',
    "[TOOL_CALLS]NAME[ARGS]ARGS",
    "[TOOL_CALLS]NAMEARGS",
    '<|python_tag|>{"name": "NAME", "parameters": ARGS}',
    '<|python_tag|>NAME.call(order_id="1042")',
    '{"name": "NAME", "parameters": ARGS}',
    '{"type": "function", "name": "NAME", "parameters": ARGS}',
    '{"name": "NAME", "parameters": ARGS}; {"name": "NAME", "parameters": ARGS}',
    '[{"name": "NAME", "arguments": ARGS}]',
    '{"function": {"name": "NAME", "arguments": ARGS}}',
    '{"tool": "NAME", "args": ARGS}',
    '{"action": "NAME", "action_input": ARGS}',
    '{"tool_calls": [{"id": "a", "function": {"name": "NAME", "arguments": "{}"}}]}',
    "<function=NAME>ARGS</function>",
    "<tool_call>\n<function=NAME>\n<parameter=id>\n7\n</parameter>\n</function>\n</tool_call>",
    "<seed:tool_call>\n<function=NAME>\n<parameter=id>7</parameter>\n</function>\n</seed:tool_call>",
    "<tool_call>NAME\n<arg_key>id</arg_key>\n<arg_value>7</arg_value>\n</tool_call>",
    (
        '<minimax:tool_call>\n<invoke name="NAME">\n<parameter name="id">7</parameter>\n</invoke>\n'
        "</minimax:tool_call>"
    ),
    '<function_calls>\n<invoke name="NAME">\n</invoke>\n</function_calls>',
    (
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="NAME">\n</｜DSML｜invoke>\n'
        "</｜DSML｜function_calls>"
    ),
    (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>ARGS"
        "<|tool_call_end|><|tool_calls_section_end|>"
    ),
    (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME\n```json\nARGS\n```"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>NAME<｜tool▁sep｜>ARGS<｜tool▁call▁end｜>",
    '```json\n{"name": "NAME", "arguments": ARGS}\n```',
    'Let me look:\n```json\n{"name": "NAME", "arguments": ARGS}\n```',
    '```tool_code\nprint(default_api.NAME(order_id="1042"))\n```',
    "functions.NAME(ARGS)",
    'NAME(order_id="1042")',
    '[NAME(order_id="1042")]',
    '<|tool_call_start|>[NAME(order_id="1042")]<|tool_call_end|>',
    '<TOOLCALL>[NAME(order_id="1042")]</TOOLCALL>',
    '<|tool_call|>[{"name": "NAME", "arguments": ARGS}]',
    '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "NAME", "parameters": {}}]<|END_ACTION|>',
    '<|action_start|><|plugin|>\n{"name": "NAME", "parameters": ARGS}<|action_end|>',
    "<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>ARGS<|call|>",
    "commentary to=functions.NAME jsonARGS",
    "I should look.\nAction: NAME\nAction Input: ARGS",
    "<NAME>\n<order_id>1042</order_id>\n</NAME>",
    "<start_function_call>call:NAME{order_id:1042}<end_function_call>",
    '<functioncall> {"name": "NAME", "arguments": \'ARGS\'}',
    '<tools>\n{"name": "NAME", "arguments": ARGS}\n</tools>',
    "<tool_use>\n<name>NAME</name>\n<arguments>ARGS</arguments>\n</tool_use>",
)
EXPLANATIONS = (
    "The tool NAME returns orders.",
    "NAME",
    'Use `NAME(order_id="1042")` to see it.',
    'Models write <tool_call>{"name": "NAME", "arguments": ARGS}</tool_call> for a call.',
    '<tool_call>{"name": "NAME", "arguments": ARGS}</tool_call> is how a call is written.',
    'For example:\n<tool_call>\n{"name": "NAME", "arguments": ARGS}\n</tool_call>',
    'You can call it like this:\n```json\n{"name": "NAME", "arguments": ARGS}\n```',
    '```json\n{"name": "NAME", "description": "Returns an order."}\n```',
    '{"name": "NAME", "status": "shipped"}',
    "To get it, call `<function=NAME>`.",
    '```\n<tool_call>{"name": "NAME"}</tool_call>\n```\nis what it looks like.',
    'I called NAME, and it says: {"status": "shipped"}',
    "I will not call NAME(order_id=1042), as the order is another's.",
)
NAMES = st.from_regex(r"[a-z]{3,8}_[a-z0-9]{1,8}", fullmatch=True)
ARGUMENTS = st.sampled_from(['{"order_id": "1042"}', "{}", '{"a": {"name": "x"}, "b": [1]}'])


@pytest.mark.parametrize("marking", MARKINGS)
@given(name=NAMES, arguments=ARGUMENTS, other=NAMES)
def test_a_call_of_an_offered_tool_is_found_in_every_marking(
    marking: str, name: str, arguments: str, other: str
) -> None:
    text = marking.replace("NAME", name).replace("ARGS", arguments)
    assert written_call(text, [other, name]) == name
    if other != name:
        assert written_call(text, [other]) is None
    assert written_call(text, []) is None


@pytest.mark.parametrize("text", EXPLANATIONS)
@given(name=NAMES, arguments=ARGUMENTS)
def test_an_explanation_is_no_call(text: str, name: str, arguments: str) -> None:
    said = text.replace("NAME", name).replace("ARGS", arguments)
    assert written_call(said, [name]) is None


@pytest.mark.parametrize("marking", MARKINGS)
def test_a_name_that_the_api_does_not_allow_is_found_as_it_was_offered(marking: str) -> None:
    text = marking.replace("NAME", "orders_get").replace("ARGS", "{}")
    assert written_call(text, ["orders.get"]) == "orders.get"


def test_calls_and_explanations_as_models_write_them_are_told_apart() -> None:
    texts = json.loads(Path(__file__).with_name("texts_with_calls.json").read_text("utf-8"))
    offered = ["send_mail", "get_order", "list_orders"]
    assert [text for text in texts["calls"] if written_call(text, offered) != "get_order"] == []
    assert [text for text in texts["explanations"] if written_call(text, offered)] == []


@pytest.mark.parametrize(
    "many", ["<tool_call>", "{", "`", "Action: x\n", "[TOOL_CALLS]", "```\n", " ", "</s>"]
)
def test_many_marks_take_no_more_than_their_length(many: str) -> None:
    for text in (many * 9_000, f"{many * 9_000}x get_order x", f"get_order x{many * 9_000}"):
        assert written_call(text, ["get_order"]) is None
