"""How long a trial waited for its server."""

from __future__ import annotations

from collections.abc import Iterable

from harness.types.transcripts import ToolCall


def sum_server_waits(calls: Iterable[ToolCall]) -> float:
    """Return the seconds that a trial waited to send ``calls``; those of a reply wait together."""
    longest: dict[int, float] = {}
    for call in calls:
        longest[call.reply] = max(call.waited_s, longest.get(call.reply, 0.0))
    return sum(longest.values())
