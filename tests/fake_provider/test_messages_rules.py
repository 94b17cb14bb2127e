"""Each rule of the Messages API rejects what it should, with the API's own error body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import httpx2
import pytest

from tests.fake_provider import FakeProvider, call, say, think

USER = {"role": "user", "content": "hi"}
USE: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
USES = {"role": "assistant", "content": [USE]}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
RESULTS = {"role": "user", "content": [RESULT]}
SCHEMA = {"type": "object", "properties": {}}
TOOL = {"name": "f", "description": "d", "input_schema": SCHEMA}
MARK = {"type": "ephemeral"}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def model(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def tool(**more: Any) -> dict[str, Any]:
    return {"tools": [{**TOOL, **more}]}


def schema(**more: Any) -> dict[str, Any]:
    return tool(input_schema={**SCHEMA, **more})


def talk(*messages: Any) -> dict[str, Any]:
    return {"messages": list(messages)}


@pytest.fixture(scope="module")
def client() -> Iterator[httpx2.Client]:
    with (
        FakeProvider(lambda _: say("ok")) as provider,
        httpx2.Client(base_url=provider.url) as client,
    ):
        yield client


def post(
    client: httpx2.Client, headers: dict[str, str] | None = None, **changes: Any
) -> httpx2.Response:
    """Send a good request with ``changes``; a field or header that is ``None`` is left out."""
    body = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "messages": [USER],
        "tools": [TOOL],
        **changes,
    }
    sent = {"x-api-key": "test-key", "anthropic-version": "2026-10-21", **(headers or {})}
    return client.post(
        "/v1/messages",
        json={name: value for name, value in body.items() if value is not None},
        headers={name: value for name, value in sent.items() if value},
    )


REJECTED: list[tuple[str, dict[str, Any]]] = [
    # the request's own fields
    ("model: Field required", {"model": None}),
    ("max_tokens: Field required", {"max_tokens": None}),
    ("messages: Field required", {"messages": None}),
    ("max_tokens: Input should be a valid integer", {"max_tokens": "100"}),
    ("max_tokens: Input should be greater", {"max_tokens": -1}),
    ("model: Input should be a valid string", {"model": 7}),
    ("functions: Extra inputs are not permitted", {"functions": []}),
    ("temperature: Extra inputs are not permitted", {"temperature": 1.0}),
    ("stream: Input should be a valid boolean", {"stream": "yes"}),
    ("stop_sequences", {"stop_sequences": [""]}),
    ("metadata", {"metadata": {"team": "x"}}),
    ("tools: Input should be a valid list", {"tools": {}}),
    # tools
    ("tools.0.custom.name: String should match pattern", tool(name="a.b")),
    ("tools.0.custom.name: String should match pattern", tool(name="a/b")),
    ("tools.0.custom.name: String should match pattern", tool(name="")),
    ("tools.0.custom.name: String should match pattern", tool(name="n" * 129)),
    ("tools.0.custom.description: ", tool(description=7)),
    ("tools.0.custom.title: Extra inputs are not permitted", tool(title="T")),
    ("tools.0: Input tag 'function'", tool(type="function")),
    ("tools.0.custom.input_schema: Field required", {"tools": [{"name": "f"}]}),
    ("tools: Tool names must be unique", {"tools": [TOOL, TOOL]}),
    ("tools.0.custom.input_schema.type: Field required", tool(input_schema={})),
    ("tools.0.custom.input_schema.type: Input should be 'object'", schema(type="array")),
    (
        "does not support oneOf, allOf, or anyOf at the top level",
        schema(anyOf=[{"required": ["a"]}]),
    ),
    ("does not support oneOf, allOf, or anyOf at the top level", schema(oneOf=[])),
    ("does not support oneOf, allOf, or anyOf at the top level", schema(allOf=[])),
    ("draft 2020-12", schema(properties={"a": {"type": "nonsense"}})),
    ("draft 2020-12", schema(properties={"a": {"minimum": "1"}})),
    ("draft 2020-12", schema(required="a")),
    ("Property keys should match pattern", schema(properties={"a b": {}})),
    ("Property keys should match pattern", schema(properties={"k" * 65: {}})),
    ("only be specified while providing tools", {"tools": None, "tool_choice": {"type": "auto"}}),
    ("Tool 'g' not found", {"tool_choice": {"type": "tool", "name": "g"}}),
    ("tool_choice: Input tag", {"tool_choice": "auto"}),
    ("tool_choice.auto.name: Extra inputs", {"tool_choice": {"type": "auto", "name": "f"}}),
    ("tools.0: Input should be a valid dictionary", {"tools": ["f"]}),
    ("input_schema: Input should be a valid dictionary", tool(input_schema=7)),
    # thinking
    ("thinking: Input tag", {"thinking": {"type": "on"}}),
    ("budget_tokens", {"thinking": {"type": "enabled", "budget_tokens": 1023}, "max_tokens": 4000}),
    (
        "greater than `thinking.budget_tokens`",
        {"thinking": {"type": "enabled", "budget_tokens": 2000}},
    ),
    (
        "forces tool use",
        {
            "thinking": {"type": "enabled", "budget_tokens": 2000},
            "max_tokens": 4000,
            "tool_choice": {"type": "any"},
        },
    ),
    # roles
    ("at least one message", talk()),
    ('first message must use the "user" role', talk(model(text("hello")), USER)),
    ("roles must alternate", talk(USER, USER)),
    ("roles must alternate", talk(USER, model(text("a")), model(text("b")), USER)),
    ("does not support assistant message prefill", talk(USER, model(text("The answer is")))),
    ('Unexpected role "system"', talk({"role": "system", "content": "s"}, USER)),
    ("messages.0.role: ", talk({"role": "tool", "content": "s"})),
    ("messages.0: Input should be a valid dictionary", talk("hi")),
    ("messages.0.name: Extra inputs", talk({**USER, "name": "n"})),
    # blocks
    ("all messages must have non-empty content", talk({"role": "user", "content": ""})),
    ("all messages must have non-empty content", talk({"role": "user", "content": []})),
    ("messages.0.content: Input should be a valid list", talk({"role": "user", "content": None})),
    ("text content blocks must be non-empty", talk(user(text("")))),
    ("text content blocks must be non-empty", talk(USER, model(text("")), USER)),
    ("must contain non-whitespace text", talk(user(text(" \n")))),
    ("messages.0.content.0: Input tag", talk(user({"type": "input_text", "text": "a"}))),
    ("messages.0.content.0.text.id: Extra inputs", talk(user(text("a", id="x")))),
    ("citations", talk(user(text("a", citations=[{"type": "char_location"}])))),
    ("`tool_use` blocks can only be in `assistant`", talk(user(USE))),
    ("`tool_result` blocks can only be in `user`", talk(USER, model(RESULT), USER)),
    (
        "messages.0.content.0.text.text: Input should be a valid string",
        talk(user({"type": "text", "text": 7})),
    ),
    ("system: Input should be a valid list", {"system": 7}),
    ("system.0.type", {"system": [{"type": "image"}]}),
    ("text content blocks must be non-empty", {"system": [text("")]}),
    # calls and results
    (
        "`tool_use` ids were found without `tool_result` blocks immediately after: t1",
        talk(USER, USES, USER),
    ),
    (
        "immediately after: t2",
        talk(USER, model(USE, {"type": "tool_use", "id": "t2", "name": "f", "input": {}}), RESULTS),
    ),
    ("unexpected `tool_use_id`", talk(user(RESULT))),
    ("unexpected `tool_use_id`", talk(USER, USES, user(RESULT, {**RESULT, "tool_use_id": "t9"}))),
    ("unexpected `tool_use_id`", talk(USER, USES, RESULTS, model(text("a")), RESULTS)),
    ("each tool_use must have a single result", talk(USER, USES, user(RESULT, RESULT))),
    ("at the beginning of this message", talk(USER, USES, user(text("see:"), RESULT))),
    ("`tool_use` ids must be unique", talk(USER, model(USE, USE), RESULTS)),
    ("`tool_use` ids must be unique", talk(USER, USES, RESULTS, USES, RESULTS)),
    ("must define tools", {"tools": None, **talk(USER, USES, RESULTS)}),
    (
        "input: Input should be a valid dictionary",
        talk(USER, model({**USE, "input": "{}"}), RESULTS),
    ),
    ("id: String should match", talk(USER, model({**USE, "id": "a.b"}), USER)),
    ("name: String should match", talk(USER, model({**USE, "name": "a.b"}), RESULTS)),
    ("caller: ", talk(USER, model({**USE, "caller": None}), RESULTS)),
    (
        "is_error: Input should be a valid boolean",
        talk(USER, USES, user({**RESULT, "is_error": None})),
    ),
    (
        "text content blocks must be non-empty",
        talk(USER, USES, user({**RESULT, "content": [text("")]})),
    ),
    (
        "tool_result.content.0: Input tag",
        talk(USER, USES, user({**RESULT, "content": [{"type": "thinking"}]})),
    ),
    ("tool_result.content: ", talk(USER, USES, user({**RESULT, "content": {"a": 1}}))),
    (
        "must be type `text` if `is_error`",
        talk(
            USER,
            USES,
            user({**RESULT, "is_error": True, "content": [{"type": "image", "source": {}}]}),
        ),
    ),
    # thinking that this provider never issued
    (
        "Invalid `signature` in `thinking` block",
        talk(
            USER,
            model({"type": "thinking", "thinking": "hm", "signature": "forged"}, text("a")),
            USER,
        ),
    ),
    # caching
    ("A maximum of 4 blocks with cache_control", talk(user(*[text("a", cache_control=MARK)] * 5))),
    (
        "A maximum of 4 blocks with cache_control",
        {
            "system": [text("s", cache_control=MARK)],
            **tool(cache_control=MARK),
            **talk(user(*[text("a", cache_control=MARK)] * 3)),
        },
    ),
    ("cache_control", talk(user(text("a", cache_control={"type": "persistent"})))),
    ("ttl", talk(user(text("a", cache_control={**MARK, "ttl": "2h"})))),
    (
        "must not come after",
        talk(user(text("a", cache_control=MARK), text("b", cache_control={**MARK, "ttl": "1h"}))),
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
    body = response.json()
    assert body["type"] == "error"
    assert body["error"]["type"] == "invalid_request_error"
    assert problem in body["error"]["message"]


ACCEPTED: list[dict[str, Any]] = [
    {},
    {"tools": []},
    {"tools": None},
    {"system": "Be brief."},
    {"system": [text("Be brief.", cache_control=MARK)], "cache_control": MARK},
    tool(name="n" * 128),
    schema(properties={"a.b-c_1": {"anyOf": [{"type": "string"}, {"type": "null"}]}}),
    tool(input_schema={"type": "object"}),
    talk(USER, USES, RESULTS),
    talk(
        USER,
        USES,
        user({**RESULT, "content": [text("a"), text("b")], "is_error": True}, text("Go on.")),
    ),
    talk(USER, USES, user({"type": "tool_result", "tool_use_id": "t1"})),
    talk(USER, model(text("a", citations=None)), USER),
    {
        "thinking": {"type": "adaptive"},
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
    },
]


@pytest.mark.parametrize("changes", ACCEPTED)
def test_a_request_that_keeps_the_rules_is_answered(
    client: httpx2.Client, changes: dict[str, Any]
) -> None:
    assert post(client, **changes).status_code == 200, post(client, **changes).text


@pytest.mark.parametrize(
    ("version", "problem"), [("", "header is required"), ("2020-01-01", "not a valid version")]
)
def test_the_version_header_is_required_and_known(
    client: httpx2.Client, version: str, problem: str
) -> None:
    response = post(client, {"anthropic-version": version})
    assert response.status_code == 400
    assert problem in response.json()["error"]["message"]


def test_the_older_version_still_takes_a_temperature_where_the_model_does(
    client: httpx2.Client,
) -> None:
    old = {"anthropic-version": "2023-06-01"}
    thinking = {"type": "enabled", "budget_tokens": 2000}
    assert post(client, old, temperature=0.0).status_code == 200
    assert post(client, old, temperature=1.5).status_code == 400
    assert post(client, old, temperature=0.0, max_tokens=4000, thinking=thinking).status_code == 400
    assert post(client, old, temperature=1.0, max_tokens=4000, thinking=thinking).status_code == 200
    assert post(client, old, temperature=0.0, model="claude-opus-4-7").status_code == 400
    assert post(client, old, temperature=0.0, model="claude-sonnet-5").status_code == 400


@pytest.mark.parametrize("headers", [{"x-api-key": ""}, {"x-api-key": "wrong"}])
def test_a_request_without_the_key_is_answered_401(
    client: httpx2.Client, headers: dict[str, str]
) -> None:
    response = post(client, headers)
    assert response.status_code == 401
    assert response.json()["error"]["type"] == "authentication_error"


def test_the_key_may_come_as_a_bearer(client: httpx2.Client) -> None:
    assert post(client, {"x-api-key": "", "authorization": "Bearer test-key"}).status_code == 200


THOUGHTFUL = [think(call("f", {}), "First, look."), think(call("f", {}), "Then, again."), say("ok")]


def continued(reply: dict[str, Any], content: list[Any]) -> list[Any]:
    """The conversation after ``reply``, in which ``content`` is said to have been its blocks."""
    return [model(*content), user({**RESULT, "tool_use_id": reply["content"][-1]["id"]})]


def test_thinking_that_comes_back_unchanged_is_accepted_over_several_turns() -> None:
    with FakeProvider(THOUGHTFUL) as provider, httpx2.Client(base_url=provider.url) as client:
        messages: list[Any] = [USER]
        for _ in range(2):
            reply = post(client, messages=messages).json()
            messages += continued(reply, reply["content"])
        assert post(client, messages=messages).json()["stop_reason"] == "end_turn"


@pytest.mark.parametrize("change", ["dropped", "altered", "moved", "swapped"])
def test_thinking_that_does_not_come_back_unchanged_is_rejected(change: str) -> None:
    with FakeProvider(THOUGHTFUL) as provider, httpx2.Client(base_url=provider.url) as client:
        reply = post(client, messages=[USER]).json()
        thought, use = reply["content"]
        other = post(client, messages=[USER, *continued(reply, reply["content"])]).json()[
            "content"
        ][0]
        content = {
            "dropped": [use],
            "altered": [{**thought, "thinking": "First, lie."}, use],
            "moved": [use, thought],
            "swapped": [other, use],
        }[change]
        response = post(client, messages=[USER, *continued(reply, content)])
        assert response.status_code == 400
        assert "thinking" in response.json()["error"]["message"]


def test_thinking_of_an_earlier_round_may_be_left_out() -> None:
    with FakeProvider(THOUGHTFUL) as provider, httpx2.Client(base_url=provider.url) as client:
        reply = post(client, messages=[USER]).json()
        earlier = [USER, *continued(reply, [reply["content"][1]]), model(text("Found it.")), USER]
        assert post(client, messages=earlier).status_code == 200


# ── Betas, and counting ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("field", "value", "beta"),
    [
        ("context_management", {"edits": []}, "context-management-2025-06-27"),
        ("mcp_servers", [], "mcp-client-2025-11-20"),
    ],
)
def test_a_beta_field_is_known_only_where_its_beta_is_named(
    client: httpx2.Client, field: str, value: Any, beta: str
) -> None:
    refused = post(client, {"anthropic-beta": "effort-2025-11-24"}, **{field: value})
    assert refused.status_code == 400
    assert f"{field}: Extra inputs" in refused.json()["error"]["message"]
    named = {"anthropic-beta": f"effort-2025-11-24, {beta}"}
    assert post(client, named, **{field: value}).status_code == 200


SYSTEM = {"role": "system", "content": "Be brief."}


@pytest.mark.parametrize(
    ("messages", "status"),
    [
        ([USER, SYSTEM], 200),
        ([USER, USES, RESULTS, SYSTEM], 200),
        ([USER, SYSTEM, USES, RESULTS], 200),
        ([SYSTEM, USER], 400),
        ([USER, USES, SYSTEM, RESULTS], 400),
        ([USER, SYSTEM, USER], 400),
        ([USER, {**SYSTEM, "content": [USE]}], 400),
        ([USER, {"role": "system"}], 400),
    ],
)
def test_a_system_message_may_follow_the_user_where_the_beta_is_named(
    client: httpx2.Client, messages: list[Any], status: int
) -> None:
    named = {"anthropic-beta": "mid-conversation-system-2026-04-07"}
    assert post(client, named, messages=messages).status_code == status
    assert post(client, messages=messages).status_code == 400


def test_a_system_message_amid_the_conversation_is_read_as_system() -> None:
    named = {"anthropic-beta": "mid-conversation-system-2026-04-07"}
    with FakeProvider([say("ok")]) as provider, httpx2.Client(base_url=provider.url) as client:
        post(client, named, system="You help.", messages=[USER, SYSTEM])
        (request,) = provider.journal
    assert (request.system, request.last_text) == ("You help.\nBe brief.", "hi")


def test_tokens_are_counted_without_asking_the_script() -> None:
    asked: dict[str, Any] = {"model": "claude-sonnet-5", "messages": [USER], "tools": [TOOL]}
    with (
        FakeProvider([]) as provider,
        anthropic.Anthropic(base_url=provider.url, api_key="test-key", max_retries=0) as client,
    ):
        few = client.messages.count_tokens(**asked).input_tokens
        many = client.messages.count_tokens(**asked, system="Be brief. " * 40).input_tokens
        beta = client.beta.messages.count_tokens(**asked, betas=["token-counting-2024-11-01"])
        assert {request.api for request in provider.journal} == {"count_tokens"}
    assert few == beta.input_tokens
    assert many == few + 100


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("max_tokens: Extra inputs", {"max_tokens": 10}),
        ("stream: Extra inputs", {"stream": True}),
        ("messages: Field required", {"messages": None}),
        ("roles must alternate", talk(USER, USER)),
    ],
)
def test_counting_is_as_strict_as_asking(
    client: httpx2.Client, message: str, change: dict[str, Any]
) -> None:
    body = {"model": "claude-sonnet-5", "messages": [USER], **change}
    response = client.post(
        "/v1/messages/count_tokens",
        json={name: value for name, value in body.items() if value is not None},
        headers={"x-api-key": "test-key", "anthropic-version": "2023-06-01"},
    )
    assert response.status_code == 400
    assert message in response.json()["error"]["message"]
