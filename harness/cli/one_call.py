"""Make a single tool call as one caller."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from harness.errors import HarnessError
from harness.probing.callers import ProbeCaller
from harness.sessions.pool import open_sessions
from harness.types import JsonObject, ServerSpec, ToolCall, ToolRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class OneCall:
    """A tool call and its caller."""

    tool: str
    """Name of the tool."""
    arguments: JsonObject
    """Arguments of the call."""
    meta: JsonObject
    """Entries that are added to ``_meta`` of the request."""
    caller: ProbeCaller
    """The caller."""
    times: int = 1
    """Number of repetitions; the last answer counts."""


async def make_call(server: ServerSpec, one: OneCall) -> ToolCall:
    """Make the call in a session of its own, and return its record, whatever its outcome.

    Raises:
        NotAdmitted: the server refused the caller a session.
        ServerError: it could not be started or reached.
        UsageError: the identity or its credential cannot be told to this server.
    """
    request = ToolRequest(id="call", tool=one.tool, arguments=one.arguments, meta=dict(one.meta))
    who = one.caller
    try:
        async with (
            open_sessions() as pool,
            pool.session(server, who.user_context, who.credential) as session,
        ):
            for _ in range(one.times):
                answer = await session.call(request, reply=1, epoch=anyio.current_time())
            return answer
    except BaseExceptionGroup as group:
        found = group.subgroup(HarnessError)
        if found is None:
            raise
        raise next(error for error in found.exceptions if isinstance(error, HarnessError)) from None
