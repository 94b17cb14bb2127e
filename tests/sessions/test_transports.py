"""A real server on the official SDK, over every transport.

The same tools, the same calls, the same record.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import anyio
import pytest

from harness.sessions.pool import open_sessions
from harness.sessions.session import Session
from harness.types import (
    ServerSpec,
    ToolCall,
    TransportSpec,
)
from tests.sessions.http_servers import Running, running
from tests.sessions.servers import GOOD_SERVER, call

pytestmark = pytest.mark.anyio

USER = {"role": "analyst", "regions": ["EU"], "chief": None}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("add", {"a": 2, "b": 3}),
    ("slow", {"steps": 20}),
    ("refuse", {}),
    ("fall_over", {}),
    ("add", {"a": "two"}),
    ("subtract", {}),
)


async def record(session: Session) -> list[ToolCall]:
    made = [await call(session, tool, arguments) for tool, arguments in CALLS]
    # The newest revision says more around a result, so only its size and its frame are others.
    return [replace(each, started_s=0, duration_s=0, result_bytes=0, wire=None) for each in made]


@pytest.fixture(scope="module")
def good() -> Iterator[Running]:
    with running(str(GOOD_SERVER)) as server:
        yield server


@pytest.mark.slow
async def test_every_transport_gives_the_same_tools_and_the_same_record(
    good: Running, marker: str
) -> None:
    stdio = ServerSpec(
        name="shop",
        transport=TransportSpec(command=sys.executable, args=(str(GOOD_SERVER), marker)),
    )
    async with open_sessions() as pool:
        async with pool.lend_session(stdio, USER) as session:
            tools, calls = session.tools, await record(session)
        for spec in (
            good.at("mcp", protocol="auto"),
            good.at("mcp", protocol="2026-07-28"),
            good.at("mcp", protocol="legacy"),
            good.at("sse", protocol="auto", transport="sse"),
        ):
            async with pool.lend_session(spec, USER) as session:
                assert session.tools.digest == tools.digest
                assert await record(session) == calls
                who = await call(session, "whoami")
                assert who.structured is not None
                assert (who.structured["tools/list"], who.structured["tools/call"]) == (USER, USER)
    assert [each.outcome for each in calls] == [
        *("ok", "ok", "denied", "tool_error", "invalid_arguments", "unknown_tool")
    ]


async def test_nobody_is_told_to_the_server_when_a_case_has_no_user(good: Running) -> None:
    async with (
        open_sessions() as pool,
        pool.lend_session(good.at("mcp", protocol="auto"), None) as session,
    ):
        who = await call(session, "whoami")
    assert who.structured is not None
    assert (who.structured["tools/list"], who.structured["tools/call"]) == (None, None)


@pytest.mark.parametrize(("path", "transport"), [("mcp", "http"), ("sse", "sse")])
async def test_calls_at_the_same_time_each_get_their_own_answer(
    good: Running, path: str, transport: str
) -> None:
    answers: dict[int, str] = {}
    spec = good.at(path, protocol="auto", transport=transport)
    async with open_sessions() as pool, pool.lend_session(spec, None) as session:

        async def add(number: int) -> None:
            answers[number] = (await call(session, "add", {"a": number, "b": 1})).text

        async with anyio.create_task_group() as tasks:
            for number in range(30):
                tasks.start_soon(add, number)
    assert answers == {number: str(number + 1) for number in range(30)}


@pytest.mark.slow
def test_what_only_http_needs_is_loaded_for_http_only() -> None:
    script = (
        "import sys\n"
        "from harness.sessions import pool, calls, tool_list\n"
        "from harness.sessions.transports import stdio\n"
        "print([name for name in ('http_client', 'streamable_http', 'sse', 'http_replies') "
        "if f'harness.sessions.transports.{name}' "
        "in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    assert result.stdout == "[]\n"
