"""OpenAI's Responses API: how requests read and how answers look."""

from __future__ import annotations

import json
from typing import Any

from tests.fake_provider import responses_rules
from tests.fake_provider.api import Api
from tests.fake_provider.incoming import Conversation, Incoming, Json, OfferedTool, ToolResult
from tests.fake_provider.memory import Memory
from tests.fake_provider.openai_rules import error
from tests.fake_provider.responses_rules import kind_of
from tests.fake_provider.steps import Answer, Call, Text, Thought
from tests.fake_provider.streaming import responses_events
from tests.fake_provider.tokens import estimate
from tests.fake_provider.tools.responses import IN_NAMESPACE, functions, names


def read(body: Json) -> Conversation:
    """Return the neutral view of a request that passed the rules."""
    items = body["input"]
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    users = [
        text for item in items if item.get("role") == "user" and (text := _text(item["content"]))
    ]
    systems = [
        _text(item["content"]) for item in items if item.get("role") in ("system", "developer")
    ]
    of_model = [_is_models(item) for item in items]
    # Everything between two things that are not the model's is one reply.
    turns = [
        number
        for number, own in enumerate(of_model)
        if own and (number == 0 or not of_model[number - 1])
    ]
    recent = items[turns[-1] :] if turns else []
    return Conversation(
        turn=len(turns),
        prompt=users[0] if users else "",
        last_text=users[-1] if users else "",
        system="\n".join([body.get("instructions") or "", *systems]).strip("\n"),
        tools={
            name: OfferedTool(function.get("description"), function["parameters"] or {})
            for name, function in functions(body.get("tools", []))
        },
        tool_results=tuple(
            ToolResult(item["call_id"], _text(item["output"]), None)
            for item in recent
            if kind_of(item).endswith("call_output")
        ),
    )


def render(answer: Answer, incoming: Incoming, memory: Memory) -> Json:
    """Return the response body for ``answer``."""
    body = incoming.body
    output = _output(answer, memory, names(body.get("tools", [])))
    is_cut = answer.stop == "max_tokens"
    return {
        "id": memory.mint("resp_"),
        "object": "response",
        "created_at": 1_750_000_000 + incoming.sequence,
        "status": "incomplete" if is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
        "error": None,
        "model": answer.served_by or body["model"],
        "output": output,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": body.get("metadata") or {},
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": None,
        "reasoning": body.get("reasoning") or {"effort": None, "summary": None},
        "store": body.get("store", True),
        "temperature": body.get("temperature", 1.0),
        "text": body.get("text") or {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "top_p": body.get("top_p", 1.0),
        "truncation": body.get("truncation", "disabled"),
        "usage": _usage(answer, output, body),
    }


def _output(answer: Answer, memory: Memory, offered: list[str]) -> list[Json]:
    status = "incomplete" if answer.stop == "max_tokens" else "completed"
    reasoning = [_reasoning(block, memory) for block in answer.blocks if isinstance(block, Thought)]
    parts: list[Json] = [
        {"type": "output_text", "text": block.text, "annotations": [], "logprobs": []}
        for block in answer.blocks
        if isinstance(block, Text)
    ]
    if answer.refusal is not None:
        parts.append({"type": "refusal", "refusal": answer.refusal})
    output = list(reasoning)
    if parts:
        message = {"type": "message", "role": "assistant", "status": status, "content": parts}
        output.append({"id": memory.mint("msg_"), **message})
    output += [_call(block, memory, offered) for block in answer.blocks if isinstance(block, Call)]
    for item in output[len(reasoning) :] if reasoning else ():
        memory.reasoning[item.get("call_id") or item["id"]] = reasoning
    return output


def _reasoning(block: Thought, memory: Memory) -> Json:
    item: Json = {
        "id": memory.mint("rs_"),
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": block.text}],
        "encrypted_content": memory.sign(block.text),
    }
    memory.reasoning[item["id"]] = [item]
    return item


def _call(block: Call, memory: Memory, offered: list[str]) -> Json:
    namespace, _, name = (
        block.tool.rpartition(IN_NAMESPACE) if block.tool in offered else ("", "", block.tool)
    )
    call_id = memory.mint("call_")
    if isinstance(block.arguments, str):
        memory.bad_arguments[call_id] = arguments = block.arguments
    else:
        arguments = json.dumps(block.arguments)
    return {
        "id": memory.mint("fc_"),
        "type": "function_call",
        "status": "completed",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        **({"namespace": namespace} if namespace else {}),
    }


def _usage(answer: Answer, output: list[Json], body: Json) -> Json:
    given = answer.usage
    tokens_in = given.get(
        "input", estimate([body.get("instructions"), body["input"], body.get("tools", [])])
    )
    tokens_out = given.get("output", estimate(output))
    thoughts = [item["summary"] for item in output if item["type"] == "reasoning"]
    return {
        "input_tokens": tokens_in,
        "input_tokens_details": {
            "cached_tokens": given.get("cache_read", 0),
            "cache_write_tokens": given.get("cache_write", 0),
        },
        "output_tokens": tokens_out,
        "output_tokens_details": {
            "reasoning_tokens": min(estimate(thoughts), tokens_out) if thoughts else 0
        },
        "total_tokens": tokens_in + tokens_out,
    }


def _is_models(item: Json) -> bool:
    return (
        kind_of(item) in ("function_call", "custom_tool_call", "web_search_call", "reasoning")
        or item.get("role") == "assistant"
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(
        part["text"] for part in content if part["type"] in ("input_text", "output_text")
    )


API = Api(
    name="responses",
    check=responses_rules.check,
    read=read,
    render=render,
    stream=responses_events.stream,
    error=error,
    request_id="x-request-id",
)
