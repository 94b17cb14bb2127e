"""Requests that are no tool calls.

A result as it came, or a reason why there is none, in bounded time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from harness.base.errors import ServerError
from harness.sessions.pool import open_sessions
from harness.sessions.session import Session
from tests.sessions.servers import ServerFactory, calls_until_answered

pytestmark = pytest.mark.anyio


@pytest.fixture
async def session(server: ServerFactory) -> AsyncIterator[Session]:
    async with (
        open_sessions() as pool,
        pool.lend_session(server("ok"), None) as opened,
    ):
        yield opened


async def test_a_result_is_given_as_it_came(session: Session) -> None:
    result = await session.send_request("tools/list", {})
    assert "echo" in {tool["name"] for tool in result["tools"]}


async def test_a_refusal_says_what_was_refused_and_why(session: Session) -> None:
    with pytest.raises(ServerError, match="refused no/such: "):
        await session.send_request("no/such", {})
    assert (await session.send_request("tools/list", {}))["tools"]


async def test_no_answer_is_told_in_time_and_the_session_stays_usable(
    server: ServerFactory,
) -> None:
    spec = server("ok", call_timeout_s=0.2)
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:
        with pytest.raises(ServerError, match=r"did not answer tools/call within 0.2 s"):
            await session.send_request("tools/call", {"name": "wait", "arguments": {}})
        assert session.loss_reason is None
        assert await calls_until_answered(session)


async def test_a_server_that_goes_away_is_told_with_its_end(session: Session) -> None:
    with pytest.raises(ServerError, match="exited with code"):
        await session.send_request("tools/call", {"name": "crash", "arguments": {}})
    assert session.loss_reason is not None
