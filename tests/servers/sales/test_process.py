"""The server as the process that it is."""

import pytest

from tests.servers.data_governance.support import as_process
from tests.servers.sales.support import ANYBODY, TOOLS
from tests.servers.sales.test_tools import CALLS

pytestmark = pytest.mark.anyio


async def test_every_tool_works_for_everybody() -> None:
    async with as_process(module="servers.sales") as server:
        assert await server.tools(ANYBODY) == await server.tools({"role": "analyst"}) == TOOLS
        for tool, arguments in CALLS:
            # This client cannot ask its user for consent.
            if tool != "delete_project":
                await server.data(ANYBODY, tool, **arguments)
