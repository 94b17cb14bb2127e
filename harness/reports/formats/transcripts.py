"""``--debug``: the whole conversation of every trial, as text."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable
from typing import Any, TextIO

from harness.base import format_seconds, make_printable
from harness.judging import describe_injection
from harness.reports.sections.list_changes import find_changes, take_changes
from harness.runlog import RunLog
from harness.types import (
    AssistantMessage,
    Elicitation,
    ListChange,
    Reply,
    Report,
    ToolCall,
    Transcript,
    TrialResult,
    UserMessage,
    group_questions,
)

_LONGEST = 20_000
"""Most characters of what a fault showed the model."""


def write_transcripts(report: Report, log: RunLog, stream: TextIO) -> None:
    """Write every message and call of every trial of the report, one trial at a time."""
    for result in report.results:
        transcript = log.read_transcript(result.key)
        if transcript is not None:
            stream.write(
                make_printable(trial_text(result, transcript, find_changes(log, transcript))) + "\n"
            )


def trial_text(
    result: TrialResult,
    transcript: Transcript,
    listed: Iterable[ListChange] = (),
    *,
    thinking: bool = True,
) -> str:
    """Return one trial's conversation as text; it may contain anything that was said.

    ``listed`` are the changes of its list of tools.
    """
    name = f"{result.suite}::{result.case.name} #{result.trial}"
    title = f"── {name} [{result.entrant}] {result.status} "
    lines = [title.ljust(80, "─")]
    if result.case.user_context is not None:
        lines.append(f"user_context {_format_json(result.case.user_context)}")
    lines.append(f"tools offered: {', '.join(transcript.tools) or 'none'}")
    for call in transcript.setup_calls:
        lines += _format_call(call, call.tool, "setup")
    made = (*transcript.tool_calls, *transcript.host_calls)
    calls = {(call.reply, call.request_id): call for call in made}
    asked = dict(group_questions(transcript.elicitations))
    # A simulated user's calls come between what they heard and what they say.
    own, number = deque(transcript.user_calls), 0
    changes = deque(listed)
    for message in transcript.messages:
        if isinstance(message, UserMessage):
            while own and own[0].reply <= number:
                lines += _format_call(own[0], own.popleft().tool, "user call")
            lines += _format_user_message(message)
        elif isinstance(message, AssistantMessage):
            lines += map(str, take_changes(changes, number))
            number += 1
            lines += _format_reply(message.reply, thinking=thinking)
            for request in message.reply.tool_requests:
                lines += _format_call(calls.get((number, request.id)), request.tool)
                lines += _format_questions(asked.pop(request.id, ()))
    for call in own:
        lines += _format_call(call, call.tool, "user call")
    lines += _format_questions(each for others in asked.values() for each in others)
    lines += map(str, changes)
    took = format_seconds(transcript.latency_s)
    lines.append(f"ended: {transcript.stop} after {transcript.replies} replies, {took}")
    for call in transcript.teardown_calls:
        lines += _format_call(call, call.tool, "teardown")
    if transcript.error is not None:
        lines += _format_block(f"{transcript.error.kind} error", transcript.error.message)
    if transcript.stderr_tail:
        lines += _format_block("server stderr", transcript.stderr_tail)
    return "\n".join(lines)


def _format_user_message(message: UserMessage) -> list[str]:
    return [
        *(["── a new conversation begins; the server is the same"] if message.fresh else []),
        *(_format_block("recalled", message.recalled) if message.recalled else []),
        *(_format_block("prompt", str(message.opening)) if message.opening else []),
        *(_format_block("user", message.text) if not message.is_unsaid else []),
        *(
            line
            for read in message.reads
            for line in _format_block("resource", f"{read}\n{read.text}")
        ),
    ]


def _format_reply(reply: Reply, *, thinking: bool) -> list[str]:
    return [
        *([f"offered   {', '.join(reply.offered)}"] if reply.offered is not None else []),
        *(line for change in reply.adapted for line in _format_block("adapted", change)),
        *(_format_block("thinking", reply.thinking) if thinking and reply.thinking else []),
        *(_format_block("assistant", reply.text) if reply.text else []),
    ]


def _format_call(call: ToolCall | None, tool: str, what: str = "call") -> list[str]:
    if call is None:
        return [f"{what:<9} {tool}: not recorded"]
    ended = f"{call.outcome}, {format_seconds(call.duration_s)}"
    head = f"{what:<9} {call.tool}({_format_json(call.arguments)}) → {ended}"
    faults = (*call.argument_errors, *call.output_errors, *call.not_validated)
    injected = () if call.injected is None else (describe_injection(call.injected, _LONGEST),)
    lines = (*faults, *call.text.splitlines(), *injected)
    return [head, *(f"    {line}" for line in lines)]


def _format_questions(asked: Iterable[Elicitation]) -> list[str]:
    return [line for each in asked for line in _format_block("question", str(each))]


def _format_block(who: str, text: str) -> list[str]:
    first, *rest = text.splitlines() or [""]
    return [f"{who:<9} {first}", *(f"    {line}" for line in rest)]


def _format_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=dict)
