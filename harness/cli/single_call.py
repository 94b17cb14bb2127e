"""Make a single tool call as one caller; right after another caller, or with altered data."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from harness.base import HarnessError
from harness.probing import ProbeCaller, Which, data_set, set_server_data, set_up_data
from harness.sessions import Pool, Session, open_sessions, with_shared_process
from harness.types import Alteration, JsonObject, ServerSpec, ToolCall, ToolRequest

_IN_ORDER: tuple[Which, ...] = ("B", "A")
"""A comes last: a server that was running before is left with the data as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleCall:
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
    after: ProbeCaller | None = None
    """Who makes the same call right before, in the same process."""


async def make_call(server: ServerSpec, one: SingleCall) -> ToolCall:
    """Make the call in a session of its own, and return its record, whatever its outcome.

    Raises:
        NotAdmitted: the server refused the caller a session.
        ServerError: it could not be started or reached.
        UsageError: the identity or its credential cannot be told to this server.
    """
    async with _open_pool() as pool:
        # Identities usually have a process each, where one cannot change what the other is
        # answered.
        return await _make_call(
            pool, server if one.after is None else with_shared_process(server), one
        )


async def make_call_altered(
    server: ServerSpec, one: SingleCall, alteration: Alteration, callers: Sequence[ProbeCaller]
) -> Mapping[str, ToolCall]:
    """Make the call with the data as they are and with the altered value; return both records.

    Each is made by a new process, if the server is not running. Raises as `make_call` does.
    """
    made: dict[str, ToolCall] = {}
    for which in _IN_ORDER:
        async with _open_pool() as pool:
            await set_up_data(pool, server, alteration, which, callers)
            made[which] = await _make_call(
                pool, set_server_data(server, data_set(alteration, which)), one
            )
    return {"A": made["A"], "B": made["B"]}


async def _make_call(pool: Pool, server: ServerSpec, one: SingleCall) -> ToolCall:
    request = ToolRequest(id="call", tool=one.tool, arguments=one.arguments, meta=dict(one.meta))
    who = one.caller
    async with pool.lend_session(server, who.user_context, who.credential) as session:
        # The caller's own session is open by now, so that nothing comes between the two calls.
        if one.after is not None:
            async with pool.lend_session(server, one.after.user_context) as before:
                await _call_tool(before, request)
        for _ in range(one.times):
            answer = await _call_tool(session, request)
        return answer


async def _call_tool(session: Session, request: ToolRequest) -> ToolCall:
    return await session.call(request, reply=1, epoch=anyio.current_time())


@asynccontextmanager
async def _open_pool() -> AsyncGenerator[Pool]:
    """Open sessions; an error in one of them is raised by itself."""
    try:
        async with open_sessions() as pool:
            yield pool
    except BaseExceptionGroup as group:
        # Without an error that has a message for users it is a bug of ours, and keeps its
        # traceback.
        found = group.subgroup(HarnessError)
        if found is None:
            raise
        raise next(error for error in found.exceptions if isinstance(error, HarnessError)) from None
