"""A conversation in the messages of OpenAI, Anthropic or OpenTelemetry becomes a transcript.

Neither OpenAI's form nor OpenTelemetry's says whether a call failed. As harness itself writes
there, a result that begins with the word "error" counts as one; spans say more
(`harness.runner.recordings.call_spans`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.base import digest_json, load_json
from harness.types import (
    UNKNOWN_USAGE,
    AssistantMessage,
    JsonObject,
    Message,
    Reply,
    ReplyStop,
    Stop,
    Tool,
    ToolAnswer,
    ToolCall,
    ToolList,
    ToolMessage,
    ToolRequest,
    Transcript,
    TrialError,
    UserMessage,
)

NO_RESULT = "the recording has no result of it"
"""The text of a call that nothing answers."""
_NO_ANSWER = "the recording ends before an answer"
_ERROR = re.compile(r"error\b", re.IGNORECASE)
_STOPS: Mapping[Any, ReplyStop] = {
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "content_filter": "refusal",
    "refusal": "refusal",
    "error": "malformed_call",
}
"""``finish_reason`` or ``stop_reason`` → `ReplyStop`; any other reply is complete."""
_ENDS: Mapping[ReplyStop, Stop] = {
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "malformed_call": "malformed_call",
}


def build_transcript(messages: Sequence[Any], reason: Any = None) -> Transcript:
    """Return the transcript of ``messages``; what is no message is left out.

    ``reason`` is why the last reply ended, where the message itself does not say it. A conversation
    without a last answer has an error, since nobody knows how it ended.
    """
    steps: list[Message] = []
    for message in messages:
        if isinstance(message, dict):
            _add_message(steps, message)
    last = steps[-1] if steps else None
    if isinstance(last, AssistantMessage) and reason in _STOPS:
        last = steps[-1] = AssistantMessage(reply=replace(last.reply, stop=_STOPS[reason]))
    replies = sum(isinstance(step, AssistantMessage) for step in steps)
    facts = Transcript(
        messages=tuple(steps),
        tool_calls=tuple(_list_calls(steps)),
        usage=UNKNOWN_USAGE,
        replies=replies,
    )
    if isinstance(last, AssistantMessage) and not last.reply.tool_requests:
        stop = _ENDS.get(last.reply.stop, "answer")
        return replace(facts, answer=last.reply.text, stop=stop)
    return replace(facts, stop="error", error=TrialError(kind="agent", message=_NO_ANSWER))


def name_tool(name: Any) -> str:
    """Return the server's name of a tool."""
    # Hosts put the server's name before it: mcp__shop__get_order.
    return re.sub(r"\Amcp__.+?__", "", str(name))


def parse_json(text: Any) -> Any:
    """Return the value of JSON; ``None`` if it is none."""
    try:
        return load_json(text) if isinstance(text, str | bytes) else None
    except ValueError:
        return None


def answer_call(call: ToolCall, text: str, *, is_error: bool) -> ToolCall:
    """Return ``call`` with its result."""
    if call.outcome == "invalid_arguments":  # nothing was sent that could be read
        return replace(call, text=text)
    if not is_error:
        return replace(call, text=text, outcome="ok")
    from harness.sessions import classify_error  # loads the MCP SDK

    return replace(call, text=text, outcome=classify_error(text, tool=call.tool, listed=True))


def read_tools(value: Any) -> ToolList | None:
    """Return the tools of a request, in the form of OpenAI, Anthropic or OpenTelemetry.

    ``None`` if the request does not say which tools it offers.
    """
    value = parse_json(value) if isinstance(value, str) else value
    if not isinstance(value, list):
        return None
    tools: dict[str, Tool] = {}
    for one in value:
        what = one.get("function", one) if isinstance(one, dict) else None
        if isinstance(what, dict) and isinstance(what.get("name"), str):
            schema = what.get("input_schema", what.get("parameters"))
            name, said = name_tool(what["name"]), what.get("description")
            tools[name] = Tool(
                name=name,
                description=said if isinstance(said, str) else "",
                input_schema=schema if isinstance(schema, dict) else {},
            )
    facts = [(one.name, one.description, one.input_schema) for one in tools.values()]
    return ToolList(tools=tuple(tools.values()), digest=digest_json(facts))


def add_tools(transcript: Transcript, tools: ToolList | None) -> Transcript:
    """Return ``transcript`` with the ``tools`` that were offered, if they are known."""
    if tools is None:
        return transcript
    calls = (
        call if tools.get(call.tool) is not None or not call.is_error else _refuse_unlisted(call)
        for call in transcript.tool_calls
    )
    names = tuple(one.name for one in tools.tools)
    return replace(transcript, tools=names, tools_digest=tools.digest, tool_calls=tuple(calls))


def _refuse_unlisted(call: ToolCall) -> ToolCall:
    from harness.sessions import classify_error  # loads the MCP SDK

    return replace(call, outcome=classify_error(call.text, tool=call.tool, listed=False))


def list_blocks(content: Any, kind: str) -> list[Mapping[str, Any]]:
    """Return the blocks of ``content`` whose type is ``kind``; none if it has no blocks."""
    blocks = content if isinstance(content, list) else ()
    return [one for one in blocks if isinstance(one, dict) and one.get("type") == kind]


def join_texts(content: Any) -> str:
    """Return the text of a message's content: a string, or the text of its blocks."""
    if isinstance(content, str):
        return content
    blocks = list_blocks(content, "text")
    return "\n".join(str(block.get("text", block.get("content", ""))) for block in blocks)


def _add_message(steps: list[Message], message: Mapping[str, Any]) -> None:
    """Append what ``message`` holds: results, the user's words, a reply."""
    if answers := tuple(_iterate_results(message)):
        before = steps[-1] if steps else None
        if isinstance(before, ToolMessage):  # one message a result
            steps[-1] = ToolMessage(answers=(*before.answers, *answers))
        else:
            steps.append(ToolMessage(answers=answers))
    role = message.get("role")
    text = join_texts(message.get("parts", message.get("content")))
    if role == "user" and text:
        steps.append(UserMessage(text=text))
    elif role == "assistant":
        reason = message.get("finish_reason", message.get("stop_reason"))
        refused = message.get("refusal")
        reply = Reply(
            text=text or (refused if isinstance(refused, str) else ""),
            tool_requests=tuple(_iterate_requests(message)),
            stop="refusal" if refused and not text else _STOPS.get(reason, "end"),
            usage=UNKNOWN_USAGE,
        )
        steps.append(AssistantMessage(reply=reply))


def _iterate_requests(message: Mapping[str, Any]) -> Iterator[ToolRequest]:
    for block in list_blocks(message.get("content"), "tool_use"):
        yield _build_request(block, block, "input")
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and isinstance(function := call.get("function"), dict):
            yield _build_request(call, function, "arguments")
    for part in list_blocks(message.get("parts"), "tool_call"):
        yield _build_request(part, part, "arguments")


def _build_request(call: Mapping[str, Any], what: Mapping[str, Any], key: str) -> ToolRequest:
    given = what.get(key)
    args = parse_json(given) if isinstance(given, str) else given
    request = ToolRequest(id=str(call.get("id")), tool=name_tool(what.get("name")))
    if isinstance(args, dict):
        return replace(request, arguments=args)
    return replace(request, malformed=str(given)) if given else request


def _iterate_results(message: Mapping[str, Any]) -> Iterator[ToolAnswer]:
    for part in list_blocks(message.get("parts"), "tool_call_response"):
        result = part.get("response", part.get("result"))
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        yield _build_answer(part.get("id"), text)
    if message.get("role") == "tool" and "parts" not in message:
        yield _build_answer(message.get("tool_call_id"), join_texts(message.get("content")))
    for block in list_blocks(message.get("content"), "tool_result"):
        text = join_texts(block.get("content"))
        is_error = block.get("is_error") is True
        yield ToolAnswer(request_id=str(block.get("tool_use_id")), text=text, is_error=is_error)


def _build_answer(request_id: Any, text: str) -> ToolAnswer:
    is_error = _ERROR.match(text) is not None
    return ToolAnswer(request_id=str(request_id), text=text, is_error=is_error)


def _list_calls(steps: Sequence[Message]) -> list[ToolCall]:
    calls: list[ToolCall] = []
    waiting: dict[str, int] = {}
    reply = 0
    for step in steps:
        if isinstance(step, AssistantMessage):
            reply += 1
            for request in step.reply.tool_requests:
                waiting[request.id] = len(calls)
                calls.append(_build_call(request, reply))
        elif isinstance(step, ToolMessage):
            for answer in step.answers:
                if (place := waiting.pop(answer.request_id, None)) is not None:
                    calls[place] = answer_call(calls[place], answer.text, is_error=answer.is_error)
    return calls


def _build_call(request: ToolRequest, reply: int) -> ToolCall:
    arguments: JsonObject = request.arguments
    return ToolCall(
        tool=request.tool,
        arguments=arguments,
        outcome="timeout" if request.malformed is None else "invalid_arguments",
        reply=reply,
        request_id=request.id,
        text=NO_RESULT if request.malformed is None else request.malformed,
    )
