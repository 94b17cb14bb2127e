"""Replays a recorded conversation with its tool calls executed again on the real server.

The messages stay as recorded; the tool results are new. If a result differs from the recorded one,
the new verdict is based on other facts than the recorded one, and the trial has a warning.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any, TypeAlias

import anyio

from harness.base import ServerError, load_json
from harness.runner.conversation import find_lost_reason
from harness.runner.user_tools import UserToolbox
from harness.sessions import Session
from harness.types import (
    AssistantMessage,
    CheckResult,
    Message,
    ToolAnswer,
    ToolCall,
    ToolMessage,
    ToolRequest,
    Transcript,
    attach_user_calls,
)

_SHOWN = 300
_BEFORE = 40
"""Characters of a text that are shown, and how many of them precede the first difference."""
_MOST = 5
ReplayDifference: TypeAlias = tuple[ToolCall, ToolAnswer]
"""A call whose result differs from the recorded one, and the recorded one."""


async def execute_recording(
    recorded: Transcript, session: Session, toolbox: UserToolbox | None = None
) -> tuple[Transcript, tuple[ReplayDifference, ...]]:
    """Return ``recorded`` with the new results of its calls, and the calls that differ.

    Calls are made one after the other, in the recorded order; those of the user by ``toolbox``.

    Raises:
        ServerError: the server is gone, or did not answer a call.
    """
    epoch = anyio.current_time()
    differences: list[ReplayDifference] = []
    messages: list[Message] = []
    made: list[ToolCall] = []
    number = 0
    of_user = UserReplay(recorded.user_calls, toolbox, epoch)
    for message, following in zip_longest(recorded.messages, recorded.messages[1:]):
        # Recorded results are left out: those of the calls below take their place.
        if isinstance(message, ToolMessage):
            continue
        messages.append(message)
        if not isinstance(message, AssistantMessage):
            differences += await of_user.make_calls(number)
            continue
        number += 1
        calls = [
            await session.call(request, reply=number, epoch=epoch)
            for request in message.reply.tool_requests
        ]
        # A lost server is no difference to report: what it would have said is unknown.
        if (lost := session.loss_reason or find_lost_reason(calls)) is not None:
            raise ServerError(lost, stderr_tail=session.stderr_tail())
        made += calls
        # The results are right after the reply. They are paired with the calls by position: some
        # agents give all calls the same id. Unanswered calls cannot be compared.
        then = following.answers if isinstance(following, ToolMessage) else ()
        differences += [
            (call, was) for call, was in zip(calls, then, strict=False) if _is_other(call, was)
        ]
        if calls:
            answers = (
                ToolAnswer(request_id=call.request_id, text=call.text, is_error=call.is_error)
                for call in calls
            )
            messages.append(ToolMessage(answers=tuple(answers)))
    differences += await of_user.make_calls(number)
    now = replace(
        recorded,
        messages=attach_user_calls(messages, of_user.new_calls),
        tool_calls=tuple(made),
        tools=tuple(tool.name for tool in session.tools.tools),
        tools_digest=session.tools.digest,
        latency_s=round(anyio.current_time() - epoch, 6),
    )
    return now, tuple(differences)


class UserReplay:
    """The recorded calls of a simulated user, made again as the conversation goes on."""

    def __init__(
        self, recorded: Sequence[ToolCall], toolbox: UserToolbox | None, epoch: float
    ) -> None:
        """Make the calls ``recorded`` by ``toolbox``; without one, they are left out."""
        self._waiting = deque(recorded if toolbox is not None else ())
        self._toolbox = toolbox
        self._epoch = epoch

    @property
    def new_calls(self) -> Sequence[ToolCall]:
        """The calls so far."""
        return () if self._toolbox is None else self._toolbox.calls

    async def make_calls(self, reply: int) -> list[ReplayDifference]:
        """Make the calls up to the model's ``reply``; return those whose results differ.

        Raises:
            ServerError: the server is gone.
        """
        differences: list[ReplayDifference] = []
        while self._toolbox and self._waiting and self._waiting[0].reply <= reply:
            was = self._waiting.popleft()
            self._toolbox.reply, self._toolbox.epoch = was.reply, self._epoch
            request = ToolRequest(id=was.request_id, tool=was.tool, arguments=was.arguments)
            call = await self._toolbox.call_tool(request)
            if (lost := find_lost_reason([call])) is not None:
                raise ServerError(lost)
            told = ToolAnswer(request_id=was.request_id, text=was.text, is_error=was.is_error)
            differences += [(call, told)] if _is_other(call, told) else []
        return differences


def _is_other(call: ToolCall, was: ToolAnswer) -> bool:
    return call.is_error != was.is_error or _parse_value(call.text) != _parse_value(was.text)


def replay_check(differences: Sequence[ReplayDifference]) -> CheckResult:
    """Return a warning if a call differs from the recording, which is not the model's fault."""
    times = Counter(
        f"{call.tool}, reply {call.reply}: {_format_difference(call, was)}"
        for call, was in differences
    )
    lines = [words if count == 1 else f"{words} ({count} times)" for words, count in times.items()]
    if len(lines) > _MOST:
        lines[_MOST:] = [f"and {len(differences) - sum(list(times.values())[:_MOST])} more"]
    return CheckResult(
        kind="replay",
        label="replay: results as recorded",
        verdict="failed" if differences else "passed",
        severity="warn",
        actual=[call.request_id for call, _ in differences],
        explanation="\n".join(lines),
        hint="The server or its data are not those of the recording." if differences else None,
    )


def _parse_value(text: str) -> Any:
    try:
        return load_json(text)
    except ValueError:
        return text


def _format_difference(call: ToolCall, was: ToolAnswer) -> str:
    """Return the difference; each text starts shortly before the first different character."""
    pairs = enumerate(zip_longest(was.text, call.text))
    part = next((place for place, (then, now) in pairs if then != now), 0)
    start = max(0, part - _BEFORE)
    as_then = as_now = ""
    if was.is_error != call.is_error:
        as_then, as_now = (
            "as an error " if one.is_error else "as a result " for one in (was, call)
        )
    then, now = _cut_excerpt(was.text, start), _cut_excerpt(call.text, start)
    return f"recorded {as_then}“{then}”, now {as_now}“{now}”"


def _cut_excerpt(text: str, start: int) -> str:
    end = start + _SHOWN
    return ("…" if start else "") + text[start:end] + ("…" if len(text) > end else "")
