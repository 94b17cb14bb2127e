"""Each rule of the Chat Completions API rejects what it should, with the API's own error body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.fake_provider import FakeProvider, bad_arguments, call, say, think

USER = {"role": "user", "content": "hi"}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CALLS = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
SCHEMA = {"type": "object", "properties": {}}
FUNCTION = {"name": "f", "description": "d", "parameters": SCHEMA}
TOOL = {"type": "function", "function": FUNCTION}


def function(**more: Any) -> dict[str, Any]:
    return {"tools": [{"type": "function", "function": {**FUNCTION, **more}}]}


def schema(**more: Any) -> dict[str, Any]:
    return function(parameters={**SCHEMA, **more})


def talk(*messages: Any) -> dict[str, Any]:
    return {"messages": list(messages)}


def calling(**more: Any) -> dict[str, Any]:
    return talk(USER, {**CALLS, "tool_calls": [{**CALL, **more}]}, RESULT)


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    with (
        FakeProvider(lambda _: say("ok")) as provider,
        httpx2.Client(base_url=provider.url) as client,
    ):
        yield client


def post(client: httpx2.Client, key: str = "test-key", **changes: Any) -> httpx2.Response:
    """Send a good request with ``changes``; a field that is ``...`` is left out."""
    body = {"model": "gpt-4o", "messages": [USER], "tools": [TOOL], **changes}
    return client.post(
        "/v1/chat/completions",
        json={name: value for name, value in body.items() if value is not ...},
        headers={"authorization": f"Bearer {key}"} if key else {},
    )


REJECTED: list[tuple[str, dict[str, Any]]] = [
    # the request's own fields
    ("Missing required parameter: 'model'", {"model": ...}),
    ("Missing required parameter: 'messages'", {"messages": ...}),
    ("Invalid type for 'model'", {"model": None}),
    ("Unknown parameter: 'system'", {"system": "s"}),
    ("Unknown parameter: 'max_output_tokens'", {"max_output_tokens": 10}),
    ("superseded by tools", {"functions": []}),
    ("temperature", {"temperature": 3}),
    ("Invalid type for 'stream'", {"stream": "yes"}),
    ("only allowed when 'stream'", {"stream_options": {"include_usage": True}}),
    (
        "Unknown parameter: 'stream_options.include'",
        {"stream": True, "stream_options": {"include": True}},
    ),
    ("at the same time", {"max_tokens": 10, "max_completion_tokens": 10}),
    ("Use 'max_completion_tokens' instead", {"model": "o4-mini", "max_tokens": 10}),
    ("'temperature' does not support 0", {"model": "gpt-5.2", "temperature": 0}),
    # tools
    ("Invalid 'tools': empty array", {"tools": []}),
    ("Invalid 'tools': array too long", {"tools": [TOOL] * 129}),
    ("Invalid type for 'tools[0]'", {"tools": ["f"]}),
    ("Invalid type for 'tools'", {"tools": {}}),
    ("'tool_choice': only allowed when 'tools'", {"tools": ..., "tool_choice": "auto"}),
    (
        "'parallel_tool_calls': only allowed when 'tools'",
        {"tools": ..., "parallel_tool_calls": True},
    ),
    ("Tool choice 'g' not found", {"tool_choice": {"type": "function", "function": {"name": "g"}}}),
    ("Invalid value: 'any'", {"tool_choice": "any"}),
    ("Missing required parameter: 'tools[0].function'", {"tools": [{"type": "function"}]}),
    ("Unknown parameter: 'tools[0].name'", {"tools": [{**TOOL, "name": "f"}]}),
    ("Invalid value: 'custom'", {"tools": [{**TOOL, "type": "custom"}]}),
    ("Unknown parameter: 'tools[0].function.input_schema'", function(input_schema={})),
    ("Invalid 'tools[0].function.name': string does not match pattern", function(name="a.b")),
    ("Invalid 'tools[0].function.name': string does not match pattern", function(name="")),
    ("Invalid 'tools[0].function.name': string too long", function(name="n" * 65)),
    ("Invalid type for 'tools[0].function.description'", function(description=7)),
    ("function names must be unique", {"tools": [TOOL, TOOL]}),
    # schemas
    ("got 'type: \"None\"'", function(parameters={})),
    ("got 'type: \"array\"'", schema(type="array")),
    ("In context=(), object schema missing properties", function(parameters={"type": "object"})),
    *(
        ("not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level", schema(**{key: value}))
        for key, value in (("oneOf", []), ("anyOf", []), ("allOf", []), ("enum", []), ("not", {}))
    ),
    ("Invalid schema for function 'f'", schema(properties={"a": {"type": "nonsense"}})),
    ("array schema missing items", schema(properties={"a": {"type": "array"}})),
    (
        "('properties', 'a', 'anyOf', '0'), array",
        schema(properties={"a": {"anyOf": [{"type": "array"}]}}),
    ),
    ("'additionalProperties' is required", function(strict=True)),
    (
        "Missing 'a'",
        function(
            strict=True,
            parameters={**SCHEMA, "additionalProperties": False, "properties": {"a": {}}},
        ),
    ),
    # messages
    ("Invalid 'messages': empty array", talk()),
    ("Invalid value: 'model'", talk({"role": "model", "content": "a"})),
    ("Invalid type for 'messages[0]'", talk("hi")),
    ("Missing required parameter: 'messages[0].content'", talk({"role": "user"})),
    ("expected a string, got null", talk({"role": "user", "content": None})),
    ("Invalid 'messages[0].content': empty array", talk({"role": "user", "content": []})),
    ("Invalid value: 'tool_result'", talk({"role": "user", "content": [{"type": "tool_result"}]})),
    ("Unknown parameter: 'messages[0].cache_control'", talk({**USER, "cache_control": {}})),
    ("expected a string, got null", talk(USER, {"role": "assistant", "content": None})),
    ("Invalid 'messages[1].tool_calls': empty array", talk(USER, {**CALLS, "tool_calls": []})),
    ("Invalid type for 'messages[1].tool_calls'", talk(USER, {**CALLS, "tool_calls": None})),
    (
        "Invalid type for 'messages[1].function_call'",
        talk(USER, {**CALLS, "function_call": None}, RESULT),
    ),
    # calls and results
    (
        "Invalid type for 'messages[1].tool_calls[0].function.arguments'",
        calling(function={"name": "f", "arguments": {}}),
    ),
    ("expected a string of JSON", calling(function={"name": "f", "arguments": "{"})),
    (
        "Missing required parameter: 'messages[1].tool_calls[0].function.arguments'",
        calling(function={"name": "f"}),
    ),
    ("Unknown parameter: 'messages[1].tool_calls[0].index'", calling(index=0)),
    ("Invalid value: 'custom'", calling(type="custom")),
    ("string too long. Expected a string with maximum length 40", calling(id="i" * 41)),
    (
        "Duplicate value for 'tool_call_id'",
        talk(USER, {**CALLS, "tool_calls": [CALL, CALL]}, RESULT),
    ),
    ("did not have response messages: c1", talk(USER, CALLS)),
    ("did not have response messages: c1", talk(USER, CALLS, USER, RESULT)),
    (
        "did not have response messages: c2",
        talk(USER, {**CALLS, "tool_calls": [CALL, {**CALL, "id": "c2"}]}, RESULT),
    ),
    ("must be a response to a preceeding message", talk(USER, RESULT)),
    ("must be a response to a preceeding message", talk(USER, CALLS, RESULT, RESULT)),
    ("must be a response to a preceeding message", talk(USER, CALLS, RESULT, USER, RESULT)),
    (
        "must be a response to a preceeding message",
        talk(USER, CALLS, {**RESULT, "tool_call_id": "c9"}),
    ),
    (
        "Missing required parameter: 'messages[2].tool_call_id'",
        talk(USER, CALLS, {"role": "tool", "content": "a"}),
    ),
    ("Unknown parameter: 'messages[2].is_error'", talk(USER, CALLS, {**RESULT, "is_error": True})),
]


@pytest.mark.parametrize(
    ("problem", "changes"), REJECTED, ids=[f"{n}-{row[0][:40]}" for n, row in enumerate(REJECTED)]
)
def test_a_request_that_breaks_a_rule_is_answered_400(
    client: httpx2.Client, problem: str, changes: dict[str, Any]
) -> None:
    response = post(client, **changes)
    assert response.status_code == 400, response.text
    error = response.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    assert problem in error["message"]


ACCEPTED: list[dict[str, Any]] = [
    {},
    {"tools": ...},
    {
        "tools": [TOOL],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "temperature": 0,
        "max_tokens": 10,
    },
    {"model": "gpt-5.2", "max_completion_tokens": 10, "reasoning_effort": "low"},
    {"tools": [{**TOOL, "function": {**FUNCTION, "name": f"f{n}"}} for n in range(128)]},
    function(name="n" * 64),
    schema(properties={"a": {"type": "object"}, "b": {"type": "array", "items": {}}}),
    talk({"role": "system", "content": "s"}, USER, USER),
    talk(USER, CALLS, RESULT),
    talk(USER, {**CALLS, "refusal": None, "annotations": []}, RESULT, USER),
    talk(USER, CALLS, {**RESULT, "content": [{"type": "text", "text": "a"}]}),
    talk(
        USER,
        {**CALLS, "tool_calls": [CALL, {**CALL, "id": "c2"}]},
        {**RESULT, "tool_call_id": "c2"},
        RESULT,
    ),
]


@pytest.mark.parametrize("changes", ACCEPTED)
def test_a_request_that_keeps_the_rules_is_answered(
    client: httpx2.Client, changes: dict[str, Any]
) -> None:
    assert post(client, **changes).status_code == 200, post(client, **changes).text


@pytest.mark.parametrize("key", ["", "wrong"])
def test_a_request_without_the_key_is_answered_401(client: httpx2.Client, key: str) -> None:
    assert post(client, key).status_code == 401


def test_a_local_server_asks_for_no_key() -> None:
    with (
        FakeProvider([say("ok")], require_key=None) as provider,
        httpx2.Client(base_url=provider.url) as client,
    ):
        assert post(client, "").status_code == 200


def test_arguments_that_are_not_json_may_come_back_as_they_were_sent_and_not_otherwise() -> None:
    script = [bad_arguments("f", '{"a": '), say("ok")]
    with FakeProvider(script) as provider, httpx2.Client(base_url=provider.url) as client:
        message = post(client).json()["choices"][0]["message"]
        made = message["tool_calls"][0]
        result = {**RESULT, "tool_call_id": made["id"]}
        assert made["function"]["arguments"] == '{"a": '
        assert post(client, messages=[USER, message, result]).status_code == 200
        made["function"]["arguments"] = '{"b": '
        assert post(client, messages=[USER, message, result]).status_code == 400


def test_reasoning_content_comes_back_during_tool_use_and_unchanged() -> None:
    script = [think(call("f", {}), "Look first."), say("ok")]
    with FakeProvider(script) as provider, httpx2.Client(base_url=provider.url) as client:
        message = post(client).json()["choices"][0]["message"]
        result = {**RESULT, "tool_call_id": message["tool_calls"][0]["id"]}
        without = {name: value for name, value in message.items() if name != "reasoning_content"}
        altered = {**message, "reasoning_content": "Lie first."}
        assert post(client, messages=[USER, message, result]).status_code == 200
        assert "Missing `reasoning_content`" in post(client, messages=[USER, without, result]).text
        assert post(client, messages=[USER, altered, result]).status_code == 400
        assert post(client, messages=[USER, without, result, USER]).status_code == 200
