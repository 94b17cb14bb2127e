"""Set up one of the two sets of data on a server that runs."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from harness.base import ServerError
from harness.probing.callers import ProbeCaller
from harness.probing.interference.data_sets import Which, data_set, set_server_data, setup_caller
from harness.sessions import Pool
from harness.types import Alteration, ServerSpec, ToolRequest


async def set_up_data(
    pool: Pool,
    spec: ServerSpec,
    alteration: Alteration,
    which: Which,
    callers: Sequence[ProbeCaller],
) -> None:
    """Make the calls that set up the data of ``which`` on ``spec``.

    Raises:
        ServerError: one fails.
    """
    data = data_set(alteration, which)
    # A process that harness starts is new anyway.
    fresh = spec.reset if spec.transport.command is None else None
    calls = (*([fresh] if fresh else []), *data.setup)
    if not calls:
        return
    caller = setup_caller(alteration, callers)
    server = set_server_data(spec, data)
    async with pool.lend_session(server, caller.user_context, caller.credential) as session:
        for call in calls:
            request = ToolRequest(id="setup", tool=call.tool, arguments=call.arguments)
            made = await session.call(request, reply=0, epoch=anyio.current_time())
            if made.is_error:
                raise ServerError(
                    f"the data of {which} of {alteration.name} could not be set up: "
                    f"{call.tool} as {caller.name}: {made.outcome}: {made.text}"
                )
