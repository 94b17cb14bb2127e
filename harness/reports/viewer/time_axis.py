"""When the model and the tools were at work in a trial: the bars of the trace's time axis."""

from __future__ import annotations

from typing import Any

from harness.base import format_seconds
from harness.reports.sections.reply_times import ReplyTime, reply_times
from harness.types import AssistantMessage, ToolCall, Transcript

_MOST = 400


def build_bars(said: Transcript) -> list[dict[str, Any]]:
    """Return the bars of a trial in seconds from its start; none where no time is recorded.

    ``{"who": "model" | "tool", "name", "reply", "call", "begin", "end", "measured", "words"}``,
    where ``call`` is the id of a call's request.
    """
    if not said.latency_s and not any(call.duration_s for call in said.tool_calls):
        return []
    of_reply: dict[int, list[ToolCall]] = {}
    for call in said.tool_calls:
        of_reply.setdefault(call.reply, []).append(call)
    replies = [message.reply for message in said.messages if isinstance(message, AssistantMessage)]
    found: list[dict[str, Any]] = []
    for number, (reply, time) in enumerate(zip(replies, reply_times(said), strict=True), start=1):
        name = f"reply {number}"
        found.append(_build_bar("model", name, number, "", time, reply.waited_s))
        for call in of_reply.get(number, ()):
            ended = call.started_s + call.duration_s
            took = ReplyTime(call.started_s, ended, measured=True)
            bar = _build_bar("tool", call.tool, number, call.request_id, took)
            found.append({**bar, "ok": not call.is_error})
    return found[:_MOST]


def _build_bar(
    who: str, name: str, reply: int, call: str, time: ReplyTime, waited: float = 0.0
) -> dict[str, Any]:
    took = format_seconds(time.end - time.begin)
    waiting = f", of that waiting {format_seconds(waited)}" if waited else ""
    how = "" if time.measured else " (inferred)"
    return {
        "who": who,
        "name": name,
        "reply": reply,
        "call": call,
        "begin": round(time.begin, 4),
        "end": round(time.end, 4),
        "measured": time.measured,
        "words": f"{took} from {format_seconds(time.begin)} on{waiting}{how}",
    }
