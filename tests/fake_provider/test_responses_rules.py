"""Each rule of the Responses API rejects what it should, with the API's own error body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.fake_provider import FakeProvider, bad_arguments, call, say, think

USER = {"role": "user", "content": "hi"}
CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
SCHEMA = {"type": "object", "properties": {}}
TOOL = {"type": "function", "name": "f", "parameters": SCHEMA, "strict": None}


def tool(**more: Any) -> dict[str, Any]:
    return {"tools": [{**TOOL, **more}]}


def talk(*items: Any) -> dict[str, Any]:
    return {"input": list(items)}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    with (
        FakeProvider(lambda _: say("ok")) as provider,
        httpx2.Client(base_url=provider.url) as client,
    ):
        yield client


def post(client: httpx2.Client, key: str = "test-key", **changes: Any) -> httpx2.Response:
    """Send a good request with ``changes``; a field that is ``...`` is left out."""
    body = {"model": "gpt-4o", "input": [USER], "tools": [TOOL], **changes}
    return client.post(
        "/v1/responses",
        json={name: value for name, value in body.items() if value is not ...},
        headers={"authorization": f"Bearer {key}"},
    )


REJECTED: list[tuple[str, dict[str, Any]]] = [
    # the request's own fields
    ("Missing required parameter: 'model'", {"model": ...}),
    ("Missing required parameter: 'input'", {"input": ...}),
    ("Unknown parameter: 'messages'", {"messages": []}),
    ("Unknown parameter: 'max_tokens'", {"max_tokens": 100}),
    ("Expected a value >= 16", {"max_output_tokens": 15}),
    ("'temperature' is not supported", {"model": "gpt-5.2", "temperature": 1}),
    ("Previous response with id 'resp_1' not found", {"previous_response_id": "resp_1"}),
    ("Invalid type for 'stream'", {"stream": "yes"}),
    ("only allowed when 'stream'", {"stream_options": {"include_obfuscation": False}}),
    (
        "Unknown parameter: 'stream_options.include_usage'",
        {"stream": True, "stream_options": {"include_usage": True}},
    ),
    # tools
    ("Invalid 'tools': empty array", {"tools": []}),
    ("Invalid type for 'tools[0]'", {"tools": ["f"]}),
    (
        "Missing required parameter: 'tools[0].name'",
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
    ),
    (
        "Missing required parameter: 'tools[0].parameters'",
        {"tools": [{"type": "function", "name": "f"}]},
    ),
    ("Unknown parameter: 'tools[0].input_schema'", tool(input_schema={})),
    ("Invalid 'tools[0].name': string does not match pattern", tool(name="a.b")),
    ("Invalid 'tools[0].name': string too long", tool(name="n" * 65)),
    ("object schema missing properties", tool(parameters={"type": "object"})),
    ("at the top level", tool(parameters={**SCHEMA, "not": {}})),
    ("function names must be unique", {"tools": [TOOL, TOOL]}),
    ("Invalid value: 'computer'", tool(type="computer")),
    ("Tool choice 'g' not found", {"tool_choice": {"type": "function", "name": "g"}}),
    ("'tool_choice': only allowed when 'tools'", {"tools": ..., "tool_choice": "auto"}),
    # items
    ("Invalid 'input': empty array", talk()),
    ("Invalid type for 'input'", {"input": {}}),
    ("Invalid type for 'input[0]'", talk("hi")),
    ("Invalid value: 'tool_call'", talk({"type": "tool_call"})),
    ("Invalid value: 'item_reference'", talk({"type": "item_reference", "id": "msg_1"})),
    ("Invalid value: 'tool'", talk({"role": "tool", "content": "a"})),
    ("Missing required parameter: 'input[0].content'", talk({"role": "user"})),
    ("Invalid type for 'input[0].content'", talk({"role": "user", "content": None})),
    ("Invalid 'input[0].content': empty array", talk({"role": "user", "content": []})),
    (
        "Invalid value: 'text'. Supported values are: 'input_text'",
        talk({"role": "user", "content": [{"type": "text", "text": "a"}]}),
    ),
    (
        "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'",
        talk(USER, {"role": "assistant", "content": [{"type": "input_text", "text": "a"}]}, USER),
    ),
    (
        "Expected an ID that begins with 'msg'",
        talk(USER, {"type": "message", "id": "m1", "role": "assistant", "content": "a"}, USER),
    ),
    ("Expected an ID that begins with 'fc'", talk(USER, {**CALL, "id": "call_1"}, OUTPUT)),
    (
        "Duplicate item found with id fc_1",
        talk(USER, {**CALL, "id": "fc_1"}, {**OUTPUT, "id": "fc_1"}),
    ),
    ("Unknown parameter: 'input[0].refusal'", talk({**USER, "refusal": None})),
    ("Invalid type for 'input[1].status'", talk(USER, {**CALL, "status": None}, OUTPUT)),
    # calls and outputs
    (
        "Missing required parameter: 'input[1].call_id'",
        talk(USER, {"type": "function_call", "name": "f"}),
    ),
    ("Invalid type for 'input[1].arguments'", talk(USER, {**CALL, "arguments": {}}, OUTPUT)),
    ("expected a string of JSON", talk(USER, {**CALL, "arguments": "{"}, OUTPUT)),
    ("Invalid type for 'input[2].output'", talk(USER, CALL, {**OUTPUT, "output": {"a": 1}})),
    ("No tool output found for function call c1", talk(USER, CALL)),
    ("No tool output found for function call c1", talk(USER, CALL, USER, OUTPUT)),
    (
        "No tool output found for function call c2",
        talk(USER, CALL, {**CALL, "call_id": "c2"}, OUTPUT),
    ),
    ("No tool call found for function call output with call_id c1", talk(USER, OUTPUT)),
    ("No tool call found for function call output with call_id c1", talk(USER, OUTPUT, CALL)),
    ("Duplicate function call output", talk(USER, CALL, OUTPUT, OUTPUT)),
    ("Duplicate function call with call_id c1", talk(USER, CALL, CALL, OUTPUT)),
    # reasoning that this provider never issued
    (
        "Item with id 'rs_1' not found",
        talk(USER, {"type": "reasoning", "id": "rs_1", "summary": []}, CALL, OUTPUT),
    ),
    (
        "Invalid type for 'input[1].summary'",
        talk(USER, {"type": "reasoning", "id": "rs_1", "summary": 7}),
    ),
    (
        "Missing required parameter: 'input[1].summary'",
        talk(USER, {"type": "reasoning", "id": "rs_1"}),
    ),
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
    assert problem in error["message"]


ACCEPTED: list[dict[str, Any]] = [
    {},
    {"input": "hi", "tools": ..., "instructions": "s", "max_output_tokens": 16, "store": False},
    {"tool_choice": {"type": "function", "name": "f"}, "parallel_tool_calls": True},
    talk({"role": "developer", "content": [{"type": "input_text", "text": "s"}]}, USER),
    talk(USER, CALL, OUTPUT),
    talk(USER, CALL, {**CALL, "call_id": "c2"}, OUTPUT, {**OUTPUT, "call_id": "c2"}, USER),
    talk(USER, CALL, {**OUTPUT, "output": [{"type": "input_text", "text": "a"}]}),
    talk(USER, {"role": "assistant", "content": "a"}, USER),
]


@pytest.mark.parametrize("changes", ACCEPTED)
def test_a_request_that_keeps_the_rules_is_answered(
    client: httpx2.Client, changes: dict[str, Any]
) -> None:
    assert post(client, **changes).status_code == 200, post(client, **changes).text


SPACE = {"type": "namespace", "name": "crm", "description": "d", "tools": [TOOL]}
GREP = {"type": "custom", "name": "grep", "format": {"type": "text"}}
CUSTOM = {"type": "custom_tool_call", "call_id": "c1", "name": "grep", "input": "x"}
CUSTOM_OUTPUT = {"type": "custom_tool_call_output", "call_id": "c1", "output": "none"}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}}


@pytest.mark.parametrize(
    ("problem", "changes"),
    [
        (None, {"tools": [SPACE, TOOL, GREP, {"type": "web_search"}, {"type": "tool_search"}]}),
        (None, {"tools": [SPACE], "tool_choice": {"type": "function", "name": "crm.f"}}),
        (None, {**talk(USER, CUSTOM, CUSTOM_OUTPUT, SEARCH), "tools": [GREP]}),
        (None, talk(USER, {**CALL, "namespace": "crm"}, OUTPUT)),
        (None, {"client_metadata": {"turn_id": "1"}, "include": ["reasoning.encrypted_content"]}),
        (
            "parameter: 'tools[0].tools'",
            {"tools": [{"type": "namespace", "name": "crm", "description": "d"}]},
        ),
        ("Invalid 'tools[0].tools': empty", {"tools": [{**SPACE, "tools": []}]}),
        ("'namespace'. Supported values", {"tools": [{**SPACE, "tools": [SPACE]}]}),
        ("names must be unique", {"tools": [{**SPACE, "tools": [TOOL, TOOL]}]}),
        ("'tools[0].tools[0].title'", {"tools": [{**SPACE, "tools": [{**TOOL, "title": "T"}]}]}),
        ("'tools[0].name'", {"tools": [{"type": "web_search", "name": "f"}]}),
        ("No tool output found", talk(USER, CUSTOM, USER)),
        ("No tool call found", talk(USER, CUSTOM_OUTPUT)),
        ("'input[1].input'", talk(USER, {**CUSTOM, "input": {}}, CUSTOM_OUTPUT)),
        ("begins with 'ws'", talk(USER, {**SEARCH, "id": "rs_1"})),
    ],
)
def test_tools_and_items_of_coding_agents_are_held_too(
    client: httpx2.Client, problem: str | None, changes: dict[str, Any]
) -> None:
    response = post(client, **changes)
    assert response.status_code == (400 if problem else 200), response.text
    assert problem is None or problem in response.json()["error"]["message"]


def test_a_function_in_a_namespace_is_offered_and_called_by_both_names() -> None:
    script = [call("crm.f", {}), say("ok")]
    with FakeProvider(script) as provider, httpx2.Client(base_url=provider.url) as client:
        (made,) = post(client, tools=[SPACE]).json()["output"]
        output = {**OUTPUT, "call_id": made["call_id"]}
        reply = post(client, tools=[SPACE], input=[USER, made, output])
        assert [request.tool_names for request in provider.journal] == [("crm.f",)] * 2
    assert (made["namespace"], made["name"]) == ("crm", "f")
    assert reply.status_code == 200


def test_a_request_without_the_key_is_answered_401(client: httpx2.Client) -> None:
    assert post(client, "wrong").status_code == 401


def test_arguments_that_are_not_json_may_come_back_as_they_were_sent() -> None:
    script = [bad_arguments("f", "{"), say("ok")]
    with FakeProvider(script) as provider, httpx2.Client(base_url=provider.url) as client:
        (made,) = post(client).json()["output"]
        assert made["arguments"] == "{"
        assert (
            post(client, input=[USER, made, {**OUTPUT, "call_id": made["call_id"]}]).status_code
            == 200
        )


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ("none", 200),
        ("by id alone, stored", 200),
        ("by id alone, not stored", 400),
        ("dropped", 400),
        ("dropped, with the ids", 400),
        ("altered summary", 400),
        ("altered secret", 400),
        ("alone", 400),
    ],
)
def test_reasoning_comes_back_unchanged_with_what_followed_it(change: str, status: int) -> None:
    script = [think(call("f", {}), "Look first."), say("ok")]
    with FakeProvider(script) as provider, httpx2.Client(base_url=provider.url) as client:
        thought, made = post(client).json()["output"]
        output = {**OUTPUT, "call_id": made["call_id"]}
        by_id = {name: value for name, value in thought.items() if name != "encrypted_content"}
        bare = {name: value for name, value in made.items() if name != "id"}
        items = {
            "none": [thought, made, output],
            "by id alone, stored": [by_id, made, output],
            "by id alone, not stored": [by_id, made, output],
            "dropped": [made, output],
            "dropped, with the ids": [bare, output],
            "altered summary": [{**thought, "summary": []}, made, output],
            "altered secret": [{**thought, "encrypted_content": "x"}, made, output],
            "alone": [thought],
        }[change]
        response = post(client, input=[USER, *items], store="not stored" not in change)
        assert response.status_code == status, response.text
