"""A real server on the official SDK, in both eras of the protocol."""

from __future__ import annotations

import pytest

from harness.sessions.pool import open_sessions
from harness.types import (
    Protocol,
    ServerSpec,
    TransportSpec,
)
from tests.end_to_end.warm import warm_python
from tests.sessions.servers import GOOD_SERVER, call

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("protocol", ["auto", "legacy", "2026-07-28"])
async def test_a_real_server_works_in_every_era(protocol: Protocol, marker: str) -> None:
    spec = ServerSpec(
        name="good",
        transport=TransportSpec(
            command=warm_python(),
            args=(str(GOOD_SERVER), marker),
            protocol=protocol,
        ),
    )
    user = {"role": "analyst", "regions": ["EU"], "chief": None}
    async with open_sessions() as pool, pool.lend_session(spec, user) as session:
        assert [tool.name for tool in session.tools.tools] == [
            "add",
            "whoami",
            "slow",
            "refuse",
            "fall_over",
        ]
        assert session.tools.problems == ()

        added = await call(session, "add", {"a": 2, "b": 3})
        assert (added.outcome, added.text, added.structured) == ("ok", "5", {"result": 5})
        assert added.output_errors == ()

        who = await call(session, "whoami")
        assert who.structured is not None
        assert who.structured["tools/list"] == user
        assert who.structured["tools/call"] == user

        assert (await call(session, "slow", {"steps": 20})).text == "done"

        refused = await call(session, "refuse")
        assert (refused.outcome, refused.refusal) == ("denied", "tool_error")

        fallen = await call(session, "fall_over")
        assert (fallen.outcome, fallen.text) == ("tool_error", "Error executing tool fall_over")

        wrong = await call(session, "add", {"a": "two"})
        assert wrong.outcome == "invalid_arguments"
        assert len(wrong.argument_errors) == 2

        unknown = await call(session, "subtract")
        assert (unknown.outcome, unknown.text) == ("unknown_tool", "Unknown tool: subtract")
