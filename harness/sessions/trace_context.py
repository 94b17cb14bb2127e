"""Trace context of calls, so that a server's own spans join the trial's trace.

Ids are derived from the run, the trial and the call, so that spans made from the log later have the
ids that the server got.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from harness.sessions.session import Session
from harness.sessions.session_wrapper import SessionWrapper
from harness.types import ToolCall, ToolRequest

TRACEPARENT = "traceparent"
"""The key in ``_meta`` of a request; W3C Trace Context has a header of this name."""


@dataclass(frozen=True, slots=True)
class TraceIds:
    """The ids of one trial's trace."""

    run_id: str
    """Name of the run's folder."""
    key: str
    """`harness.types.Trial.key`."""

    @property
    def trace_id(self) -> int:
        """The trace: 128 bits."""
        return self.derive_id("trace", 16)

    def derive_call_span(self, reply: int, request_id: str) -> int:
        """Return the span id of the call ``request_id`` in the model's ``reply``: 64 bits."""
        return self.derive_id(f"call {reply} {request_id}", 8)

    def derive_id(self, part: str, size: int) -> int:
        """Return an id of ``size`` bytes for a part of the trial; never 0, which means none."""
        told = hashlib.sha256(f"{self.run_id}\n{self.key}\n{part}".encode()).digest()
        return int.from_bytes(told[:size], "big") or 1

    def format_traceparent(self, span: int) -> str:
        """Return the ``traceparent`` that makes the server's spans sampled children of ``span``."""
        return f"00-{self.trace_id:032x}-{span:016x}-01"


class TracedSession(SessionWrapper):
    """A session whose calls carry the trace context of a trial; otherwise unchanged."""

    def __init__(self, session: Session, ids: TraceIds) -> None:
        """Send the calls of the trial with these ``ids`` by ``session``."""
        super().__init__(session)
        self._ids = ids

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call with its trace context (see `Session.call`)."""
        told = self._ids.format_traceparent(self._ids.derive_call_span(reply, request.id))
        traced = replace(request, meta={**request.meta, TRACEPARENT: told})
        return await self._session.call(traced, reply=reply, epoch=epoch)
