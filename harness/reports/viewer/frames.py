"""The JSON-RPC frames of a tool call, ready to show."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from harness.sessions.call_frames import whole
from harness.types import Frame, ToolCall

_OVER = {"pipe": "over a pipe", "tcp": "over HTTP"}


def frames_of(call: ToolCall, text: Callable[[str], str]) -> dict[str, str] | None:
    """Return ``{about, request, response}`` of ``call``; ``None`` where its log has no frames.

    ``text`` makes a text harmless and bounded. The response is empty if none came.
    """
    wire = call.wire
    if wire is None or wire.request is None:
        return None

    def shown(frame: Frame | None) -> str:
        return "" if frame is None else text(_readable(whole(frame, call)))

    about = (
        wire.id and f"request {wire.id}",
        wire.protocol and f"protocol {wire.protocol}",
        wire.transport and _OVER.get(wire.transport, f"over {wire.transport}"),
        wire.session and f"session {wire.session}",
    )
    return {
        "about": text(", ".join(filter(None, about))),
        "request": shown(wire.request),
        "response": shown(wire.response),
    }


def _readable(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)
