"""One call of one caller, made by itself."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from harness.errors import HarnessError
from harness.probing.callers import ProbeCaller
from harness.sessions.pool import open_sessions
from harness.types import JsonObject, ServerSpec, ToolCall, ToolRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class OneCall:
    """What is called, and by whom."""

    tool: str
    """Name of the tool."""
    arguments: JsonObject
    """What is sent."""
    meta: JsonObject
    """What is sent in ``_meta`` of the request in addition."""
    caller: ProbeCaller
    """Who calls."""
    times: int = 1
    """How often; the last answer counts."""


async def made(server: ServerSpec, one: OneCall) -> ToolCall:
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
