"""Anthropic's Messages API: how requests read and how answers look."""

from __future__ import annotations

from typing import Any

from tests.fake_provider import messages_rules
from tests.fake_provider.api import Api
from tests.fake_provider.incoming import Conversation, Incoming, Json, OfferedTool, ToolResult
from tests.fake_provider.memory import Memory
from tests.fake_provider.steps import Answer, Call, Text, Thought
from tests.fake_provider.streaming import messages_events
from tests.fake_provider.tokens import estimate, prompt_cache

STOP_REASONS = {
    "end": "end_turn",
    "tool_calls": "tool_use",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "pause": "pause_turn",
}
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def read(body: Json) -> Conversation:
    """Return the neutral view of a request that passed the rules."""
    messages = body.get("messages") or []
    users = [
        text
        for message in messages
        if message["role"] == "user" and (text := _text(message["content"]))
    ]
    systems = [_text(message["content"]) for message in messages if message["role"] == "system"]
    spoken = [message for message in messages if message["role"] != "system"]
    last = spoken[-1]["content"] if spoken else []
    results = (
        [block for block in last if block["type"] == "tool_result"]
        if isinstance(last, list)
        else []
    )
    return Conversation(
        turn=sum(message["role"] == "assistant" for message in messages),
        prompt=users[0] if users else "",
        last_text=users[-1] if users else "",
        system="\n".join([_text(body.get("system") or ""), *systems]).strip("\n"),
        tools={
            t["name"]: OfferedTool(t.get("description"), t["input_schema"])
            for t in body.get("tools") or []
        },
        tool_results=tuple(
            ToolResult(
                block["tool_use_id"], _text(block.get("content") or ""), bool(block.get("is_error"))
            )
            for block in results
        ),
    )


def render(answer: Answer, incoming: Incoming, memory: Memory) -> Json:
    """Return the response body for ``answer``."""
    content = [_block(block, memory) for block in answer.blocks]
    thinking = [block for block in content if block["type"] == "thinking"]
    if thinking:
        memory.reasoning.update(
            {block["id"]: thinking for block in content if block["type"] == "tool_use"}
        )
    if answer.stop == "pause":
        memory.paused.append(content)
    return {
        "id": memory.mint("msg_01"),
        "type": "message",
        "role": "assistant",
        "model": answer.served_by or incoming.body["model"],
        "content": content,
        "stop_reason": STOP_REASONS[answer.stop],
        "stop_sequence": None,
        "stop_details": {"type": "refusal", "category": None, "explanation": answer.refusal}
        if answer.refusal is not None
        else None,
        "usage": _usage(answer, content, thinking, incoming, memory),
    }


def count(answer: Answer, incoming: Incoming, memory: Memory) -> Json:
    """Return how many tokens a request would send."""
    body = incoming.body
    parts = [body["messages"], body.get("system") or "", body.get("tools") or []]
    return {"input_tokens": estimate(parts)}


def error(status: int, message: str, param: str | None = None, code: str | None = None) -> Json:
    """Return the body of an error; OpenAI's ``param`` and ``code`` have no place in it."""
    kind = ERROR_TYPES.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def _block(block: Text | Call | Thought, memory: Memory) -> Json:
    match block:
        case Text(text):
            return {"type": "text", "text": text, "citations": None}
        case Thought(text):
            return {"type": "thinking", "thinking": text, "signature": memory.sign(text)}
        case Call(tool, arguments):
            given = arguments if isinstance(arguments, str) else dict(arguments)
            return {"type": "tool_use", "id": memory.mint("toolu_01"), "name": tool, "input": given}


def _usage(
    answer: Answer, content: list[Json], thinking: list[Json], incoming: Incoming, memory: Memory
) -> Json:
    cache = prompt_cache(incoming.body, memory)
    written = answer.usage.get("cache_write", cache.written)
    return {
        "input_tokens": answer.usage.get("input", cache.uncached),
        "output_tokens": answer.usage.get("output", estimate(content)),
        "cache_read_input_tokens": answer.usage.get("cache_read", cache.read),
        "cache_creation_input_tokens": written,
        "cache_creation": {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
        "output_tokens_details": {"thinking_tokens": estimate(thinking) if thinking else 0},
        "service_tier": "standard",
    }


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")


COUNT_API = Api(
    name="count_tokens",
    check=messages_rules.check_count,
    read=read,
    render=count,
    stream=messages_events.stream,
    error=error,
    key_header="x-api-key",
    request_id="request-id",
    scripted=False,
)
API = Api(
    name="messages",
    check=messages_rules.check,
    read=read,
    render=render,
    stream=messages_events.stream,
    error=error,
    key_header="x-api-key",
    request_id="request-id",
)
