"""A client behind the proxy sees the tools as a variant words them."""

from __future__ import annotations

import pytest
from mcp.client.client import Client

from harness.agents.proxy.listener import open_listener
from harness.agents.proxy.recording import Recording
from harness.runner.variants.variant_session import PresentedSession
from harness.runner.variants.views import VariantViews
from harness.sessions.pool import open_sessions
from harness.types import Decoys, ParameterEdit, ServerSpec, ToolEdit, TransportSpec, Variant
from tests.end_to_end.warm import warm_python
from tests.sessions.servers import GOOD_SERVER

pytestmark = pytest.mark.anyio


async def test_names_and_descriptions_are_those_of_the_variant_and_the_rest_the_servers() -> None:
    variant = Variant(
        name="other",
        tools={
            "add": ToolEdit(
                name="sum", description="Sum up.", parameters={"a": ParameterEdit(name="first")}
            ),
            "refuse": None,
        },
        add=(Decoys(count=1),),
    )
    transport = TransportSpec(command=warm_python(), args=(str(GOOD_SERVER),))
    recording = Recording()
    async with (
        open_sessions() as pool,
        pool.lend_session(ServerSpec(name="good", transport=transport), None) as session,
        open_listener() as listener,
    ):
        shown = VariantViews().get_view(variant, session.tools)
        presented = PresentedSession(session, shown)
        async with listener.serve(presented, recording, 5) as url, Client(url) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            added = await client.call_tool("sum", {"first": 1, "b": 2})
            decoy = await client.call_tool(next(iter(shown.decoys)), {})
    assert set(tools) == {tool.name for tool in shown.tools.tools}
    assert tools["sum"].description == "Sum up."
    assert set(tools["sum"].input_schema["properties"]) == {"first", "b"}
    assert tools["sum"].output_schema is not None  # what a variant does not change is passed on
    assert added.structured_content == {"result": 3}
    assert decoy.is_error
    made = [(call.tool, call.outcome) for call in recording.list_calls()]
    assert made == [("add", "ok"), (next(iter(shown.decoys)), "decoy")]
    assert recording.list_calls()[0].arguments == {"a": 1, "b": 2}
