"""What the trace of a trial shows of its calls: frames, who refused one, and the time axis."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from harness.base import format_seconds, make_printable
from harness.reports.sections.reply_times import ReplyTime, reply_times
from harness.sessions import restore_frame
from harness.types import NOT_SHOWN, AssistantMessage, ToolCall, Transcript, WireMessage

_OVER = {"pipe": "over a pipe", "tcp": "over HTTP"}
_LONGEST = 20_000
# Beyond it, JavaScript's numbers are rounded.
_EXACT = 2**53


def build_frames(call: ToolCall, text: Callable[[str], str]) -> dict[str, Any] | None:
    """Return ``{about, request, response}`` of ``call``; ``None`` where its log has no frames.

    Each frame is ``{body, left_out}`` (`harness.types.WireMessage`) or a text; the response is an
    empty text if none came. ``text`` makes a text harmless and bounded.
    """
    wire = call.wire
    if wire is None or wire.request is None:
        return None
    about = (
        wire.protocol and f"protocol {wire.protocol}",
        wire.transport and _OVER.get(wire.transport, f"over {wire.transport}"),
        wire.session and f"session {wire.session}",
    )
    return {
        "about": text(", ".join(filter(None, about))),
        "request": _format_frame(wire.request, call, text),
        "response": "" if wire.response is None else _format_frame(wire.response, call, text),
    }


def _format_frame(
    frame: WireMessage, call: ToolCall, text: Callable[[str], str]
) -> str | dict[str, Any]:
    value = restore_frame(frame, call)
    told = json.dumps(value, ensure_ascii=False, indent=2, default=str)
    if (
        len(told) <= _LONGEST
        and make_printable(told) == told
        and (not frame.left_out or make_printable(call.text) == call.text)
        and not isinstance(call.structured, str)
        and _is_exact(value)
    ):
        return {"body": dict(frame.body), "left_out": dict(frame.left_out)}
    return text(told)


def _is_exact(value: Any) -> bool:
    """Whether JavaScript reads and writes ``value`` as it is."""
    if isinstance(value, Mapping):
        # It would move keys that are numbers to the front.
        return not any(key.isdigit() for key in value) and all(map(_is_exact, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_exact, value))
    if isinstance(value, float):
        return not value.is_integer()
    return not isinstance(value, int) or abs(value) <= _EXACT


_BY_SERVER = {
    "tool_error": "The server refused it to this user: its tool answered with an error (isError).",
    "protocol_error": "The server refused it to this user with a JSON-RPC error",
    "http_status": "The server refused it to this user over HTTP (401 or 403).",
}
_BY_OTHERS = {
    "blocked": "harness did not send it: a guard rail or a limit of the case held it back.",
    "decoy": "harness did not send it: a variant had added this tool to the model's list.",
    "not_loaded": "harness did not send it: no search or filter had put the tool into the list.",
    "injected": "harness did not send it: a fault answered in place of the server.",
    "unknown_tool": "The server has no tool of this name for this user.",
    "timeout": "Nobody refused it: no answer came in time.",
    "server_lost": "Nobody refused it: the connection to the server was lost.",
}


def describe_refusal(call: ToolCall) -> str:
    """Return what refused ``call`` and how; an empty text if it was not refused."""
    if call.outcome == "denied":
        words = _BY_SERVER.get(call.refusal or "", "The server refused it to this user.")
        return f"{words} {call.error_code}." if call.refusal == "protocol_error" else words
    if call.outcome == "unknown_tool" and call.tool.endswith(NOT_SHOWN):
        return "harness did not send it: the variant shows the model no tool of this name."
    return _BY_OTHERS.get(call.outcome, "")


_MOST = 400


def build_bars(
    said: Transcript, is_wanted: Callable[[str], bool] = lambda _: False
) -> list[dict[str, Any]]:
    """Return the bars of a trial in seconds from its start; none where no time is recorded.

    ``is_wanted`` says of an outcome whether it is a refusal that the suite asks for.

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
            found.append({**bar, "ok": not call.is_error or is_wanted(call.outcome)})
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
