"""Make a request that is not a call, and record it like one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.base import RequestRefused, ServerError, utc_now
from harness.probing.call_facts import judge_call
from harness.probing.planned_calls import ProbeCall
from harness.runlog import TrialLine
from harness.sessions import Session
from harness.types import JsonObject, ToolCall, Transcript, Trial, TrialError

READ, PROMPT, COMPLETE = "resources/read", "prompts/get", "completion/complete"
METHODS = (READ, PROMPT, COMPLETE)
"""The methods that are tried; they stand in the place of a tool's name."""
MOST_CHARS = 20_000
"""Characters of one answer that are kept."""


async def request_line(session: Session, call: ProbeCall, trial: Trial) -> TrialLine:
    """Make the request ``call``, whose tool is a method, and return its line."""
    error: TrialError | None = None
    try:
        result = await session.send_request(call.tool, call.arguments)
        made = _build_call_record(call, "ok", "\n".join(_iterate_texts(call.tool, result)))
    except RequestRefused as refused:
        # The text of a refusal may quote what was asked for, so it is kept.
        made = _build_call_record(
            call, "tool_error", f"{refused.said} {refused.data or ''}".strip()
        )
    except ServerError as gone:
        made = _build_call_record(call, "server_lost", str(gone))
        error = TrialError(kind=gone.fault, message=f"{call.tool}: {gone}")
    transcript = Transcript(
        tool_calls=(made,),
        replies=1,
        started_at=utc_now(),
        tools=tuple(tool.name for tool in session.tools.tools),
        tools_digest=session.tools.digest,
        error=error,
        stop="answer" if error is None else "error",
    )
    return await judge_call(trial, transcript, session.tools)


def _build_call_record(call: ProbeCall, outcome: Any, text: str) -> ToolCall:
    return ToolCall(
        tool=call.tool,
        arguments=call.arguments,
        outcome=outcome,
        reply=1,
        text=text[:MOST_CHARS],
    )


def _iterate_texts(method: str, result: JsonObject) -> Iterator[str]:
    """Yield the texts of an answer: the content of a resource or a prompt, or completions."""
    if method == COMPLETE:
        completion = result.get("completion")
        values = completion.get("values") if isinstance(completion, Mapping) else ()
        yield from (value for value in _as_list(values) if isinstance(value, str))
        return
    blocks = (
        _as_list(result.get("contents"))
        if method == READ
        else (message.get("content") for message in _select_objects(result.get("messages")))
    )
    for block in blocks:
        for part in _as_list(block) if isinstance(block, list) else (block,):
            if isinstance(part, Mapping):
                inner = part.get("resource")
                own = inner if isinstance(inner, Mapping) else part
                yield from (own[key] for key in ("text", "blob") if isinstance(own.get(key), str))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _select_objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in _as_list(value) if isinstance(one, Mapping)]
