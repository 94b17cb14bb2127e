"""OpenAI's Chat Completions API: how requests read and how answers look.

The API itself returns no reasoning; compatible servers return ``reasoning_content`` and want it
back during tool use, and that is what `think` does here.
"""

from __future__ import annotations

import json
from typing import Any

from tests.fake_provider import chat_rules
from tests.fake_provider.api import Api
from tests.fake_provider.incoming import Conversation, Incoming, Json, OfferedTool, ToolResult
from tests.fake_provider.memory import Memory
from tests.fake_provider.openai_rules import error
from tests.fake_provider.steps import Answer, Call, Text, Thought
from tests.fake_provider.streaming import chat_events
from tests.fake_provider.tokens import estimate

FINISH_REASONS = {
    "end": "stop",
    "tool_calls": "tool_calls",
    "max_tokens": "length",
    "refusal": "stop",
}


def read(body: Json) -> Conversation:
    """Return the neutral view of a request that passed the rules."""
    messages = body["messages"]
    users = [
        text
        for message in messages
        if message["role"] == "user" and (text := _text(message["content"]))
    ]
    turns = [number for number, message in enumerate(messages) if message["role"] == "assistant"]
    recent = messages[turns[-1] :] if turns else []
    functions = [tool["function"] for tool in body.get("tools", [])]
    return Conversation(
        turn=len(turns),
        prompt=users[0] if users else "",
        last_text=users[-1] if users else "",
        system="\n".join(
            _text(m["content"]) for m in messages if m["role"] in ("system", "developer")
        ),
        tools={
            f["name"]: OfferedTool(f.get("description"), f.get("parameters") or {})
            for f in functions
        },
        tool_results=tuple(
            ToolResult(message["tool_call_id"], _text(message["content"]), None)
            for message in recent
            if message["role"] == "tool"
        ),
    )


def render(answer: Answer, incoming: Incoming, memory: Memory) -> Json:
    """Return the response body for ``answer``."""
    message = _message(answer, memory)
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": FINISH_REASONS[answer.stop],
    }
    return {
        "id": memory.mint("chatcmpl-"),
        "object": "chat.completion",
        "created": 1_750_000_000 + incoming.sequence,
        "model": answer.served_by or incoming.body["model"],
        "choices": [] if answer.empty else [choice],
        "usage": _usage(answer, message, incoming.body),
        "service_tier": "default",
        "system_fingerprint": "fp_fake",
    }


def _message(answer: Answer, memory: Memory) -> Json:
    texts = [block.text for block in answer.blocks if isinstance(block, Text)]
    thoughts = [block.text for block in answer.blocks if isinstance(block, Thought)]
    calls = [_call(block, memory) for block in answer.blocks if isinstance(block, Call)]
    message: Json = {
        "role": "assistant",
        "content": "\n".join(texts) if texts else None,
        "refusal": answer.refusal,
        "annotations": [],
    }
    if calls:
        message["tool_calls"] = calls
    if thoughts:
        message["reasoning_content"] = "\n".join(thoughts)
        memory.reasoning.update(
            {call["id"]: [{"text": message["reasoning_content"]}] for call in calls}
        )
    return message


def _call(block: Call, memory: Memory) -> Json:
    call_id = memory.mint("call_")
    if isinstance(block.arguments, str):
        memory.bad_arguments[call_id] = arguments = block.arguments
    else:
        arguments = json.dumps(block.arguments)
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": block.tool, "arguments": arguments},
    }


def _usage(answer: Answer, message: Json, body: Json) -> Json:
    prompt = answer.usage.get("input", estimate([body["messages"], body.get("tools", [])]))
    completion = answer.usage.get("output", estimate(message))
    thought = message.get("reasoning_content", "")
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {
            "cached_tokens": answer.usage.get("cache_read", 0),
            "cache_write_tokens": answer.usage.get("cache_write", 0),
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": min(estimate(thought), completion),
            "audio_tokens": 0,
        },
    }


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part["type"] == "text")


API = Api(
    name="chat",
    check=chat_rules.check,
    read=read,
    render=render,
    stream=chat_events.stream,
    error=error,
    request_id="x-request-id",
)
