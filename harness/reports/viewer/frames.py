"""The JSON-RPC frames of a tool call, ready to show.

A page has the arguments and the results of a call already, so it gets a frame as the log has it
and puts it together itself. A frame of which the page has only a part, or that JavaScript would
alter (it has no numbers like 1.0 and 2**60), comes as text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from harness.base import make_printable
from harness.sessions import restore_frame
from harness.types import ToolCall, WireMessage

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
