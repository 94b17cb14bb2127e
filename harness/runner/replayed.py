"""A conversation that was recorded elsewhere, with its calls carried out again on the real server.

What was said stays as it was; what the tools answer is what they answer now. Where that is something else than what
was recorded, the verdict stands on another ground than the recorded one, and the trial says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import anyio

from harness.agent import lost_in
from harness.bounds import loads
from harness.errors import ServerError
from harness.sessions import Session
from harness.types import AssistantMessage, CheckResult, Message, ToolAnswer, ToolCall, ToolMessage, Transcript

_SHOWN = 300
_MOST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A call whose result is not what was recorded."""

    call: ToolCall
    """As it was carried out now."""
    recorded: str
    """The text that was recorded."""
    recorded_error: bool
    """Whether it was an error."""


async def carried_out(recorded: Transcript, session: Session) -> tuple[Transcript, tuple[Difference, ...]]:
    """Return ``recorded`` with the results that its calls have now, and the calls that came out differently.

    Calls are made one after the other, in the order in which they were asked for.

    Raises:
        ServerError: the server is gone, or did not answer a call.
    """
    epoch = anyio.current_time()
    then = _results(recorded)
    messages: list[Message] = []
    made: list[ToolCall] = []
    turn = 0
    for message in recorded.messages:
        if isinstance(message, ToolMessage):
            continue
        messages.append(message)
        if not isinstance(message, AssistantMessage):
            continue
        turn += 1
        calls = [await session.call(request, turn=turn, epoch=epoch) for request in message.reply.tool_requests]
        if (lost := session.lost or lost_in(calls)) is not None:
            raise ServerError(lost, stderr_tail=session.stderr_tail())
        made += calls
        if calls:
            messages.append(ToolMessage(answers=tuple(map(_answer, calls))))
    now = replace(
        recorded,
        messages=tuple(messages),
        tool_calls=tuple(made),
        tools=tuple(tool.name for tool in session.tools.tools),
        tools_digest=session.tools.digest,
        latency_s=round(anyio.current_time() - epoch, 6),
    )
    return now, tuple(_differences(made, then))


def replay_check(differences: Sequence[Difference], why: Callable[[str], str | None]) -> CheckResult:
    """Return whether every call came out as recorded; ``why`` tells of a call's id why nobody can reproduce it.

    It changes no verdict: it is no fault of the model.
    """
    unexplained = [one for one in differences if why(one.call.request_id) is None]
    lines = [
        f"{one.call.tool} ({one.call.request_id}): {why(one.call.request_id) or _difference(one)}"
        for one in differences[:_MOST]
    ]
    if len(differences) > _MOST:
        lines.append(f"and {len(differences) - _MOST} more")
    return CheckResult(
        kind="replay",
        label="replay: results as recorded",
        verdict="failed" if unexplained else "passed",
        severity="warn",
        actual=[one.call.request_id for one in differences],
        explanation="\n".join(lines),
        hint="The server or its data are not those of the recording." if unexplained else None,
    )


def _results(recorded: Transcript) -> dict[str, ToolAnswer]:
    return {
        answer.request_id: answer
        for message in recorded.messages
        if isinstance(message, ToolMessage)
        for answer in message.answers
    }


def _differences(made: Sequence[ToolCall], then: dict[str, ToolAnswer]) -> list[Difference]:
    return [
        Difference(call=call, recorded=was.text, recorded_error=was.is_error)
        for call in made
        if (was := then.get(call.request_id)) is not None and not _equal(call, was)
    ]


def _equal(call: ToolCall, was: ToolAnswer) -> bool:
    """Whether a call came out as recorded: as JSON if both texts are JSON, otherwise letter by letter."""
    return call.is_error == was.is_error and _value(call.text) == _value(was.text)


def _value(text: str) -> Any:
    try:
        return loads(text)
    except ValueError:
        return text


def _difference(one: Difference) -> str:
    return f"recorded “{one.recorded[:_SHOWN]}”, now “{one.call.text[:_SHOWN]}”"


def _answer(call: ToolCall) -> ToolAnswer:
    return ToolAnswer(request_id=call.request_id, text=call.text, is_error=call.is_error)
