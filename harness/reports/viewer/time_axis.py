"""When the model and the tools were at work in a trial, as far as its log says.

A log has the time of each call and of each thing that the user said. It has no time of a reply: a
model is taken to be at work from the last answer that it got until its next call was sent, or until
the conversation went on or ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.safe_text import seconds
from harness.types import AssistantMessage, ToolCall, Transcript, UserMessage

_MOST = 400


def bars(said: Transcript) -> list[dict[str, Any]]:
    """Return the bars of a trial in seconds from its start; none where no time is recorded.

    ``{"who": "model" | "tool", "name", "reply", "call", "begin", "end", "words"}``, where ``call``
    is the id of a call's request.
    """
    if not said.latency_s and not any(call.duration_s for call in said.tool_calls):
        return []
    of_reply: dict[int, list[ToolCall]] = {}
    for call in said.tool_calls:
        of_reply.setdefault(call.reply, []).append(call)
    found: list[dict[str, Any]] = []
    now, number = 0.0, 0
    for place, message in enumerate(said.messages):
        if isinstance(message, UserMessage):
            now = max(now, message.said_s)
        elif isinstance(message, AssistantMessage):
            number += 1
            calls = of_reply.get(number, [])
            end = max(now, _end_of_reply(said, place, calls))
            name = f"reply {number}"
            found.append(_bar("model", name, number, "", now, end, message.reply.waited_s))
            now = end
            for call in calls:
                ended = call.started_s + call.duration_s
                bar = _bar("tool", call.tool, number, call.request_id, call.started_s, ended)
                found.append({**bar, "ok": call.outcome == "ok"})
                now = max(now, ended)
    return found[:_MOST]


def _end_of_reply(said: Transcript, place: int, calls: Sequence[ToolCall]) -> float:
    if calls:
        return min(call.started_s for call in calls)
    later = (one for one in said.messages[place + 1 :] if isinstance(one, UserMessage))
    following = next(later, None)
    return following.said_s if following is not None else said.latency_s


def _bar(
    who: str, name: str, reply: int, call: str, begin: float, end: float, waited: float = 0.0
) -> dict[str, Any]:
    took = seconds(end - begin)
    waiting = f", of that waiting {seconds(waited)}" if waited else ""
    return {
        "who": who,
        "name": name,
        "reply": reply,
        "call": call,
        "begin": round(begin, 4),
        "end": round(end, 4),
        "words": f"{took} from {seconds(begin)} on{waiting}",
    }
