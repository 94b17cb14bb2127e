"""A request that a server rejects as it was written is an error of harness, never an answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import HEADER_MISMATCH, INVALID_REQUEST, PARSE_ERROR, UNSUPPORTED_PROTOCOL_VERSION

from harness.agents.proxy.listener import open_listener
from harness.agents.proxy.recording import Recording
from harness.base.errors import NotAdmitted, RequestRefused, RequestRejected
from harness.runner.conversation import trial_error
from harness.sessions.pool import open_sessions
from harness.sessions.refusals import build_step_error, is_rejection
from harness.sessions.session import Session
from harness.types import ServerSpec, TransportSpec
from tests.end_to_end.warm import warm_python
from tests.sessions.calling.test_reads import SERVER, probed
from tests.sessions.servers import call

READS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("resources/read", {"uri": "customer://17"}),
    ("prompts/get", {"name": "greet"}),
)
CODES = (HEADER_MISMATCH, PARSE_ERROR, UNSUPPORTED_PROTOCOL_VERSION)


def library(name: str, fault: str = "", **more: Any) -> ServerSpec:
    """Return the library with a fault."""
    transport = TransportSpec(command=warm_python(), args=(str(SERVER), fault))
    return ServerSpec(name=name, transport=transport, **more)


def strict_library() -> ServerSpec:
    """Return the library that takes nothing as harness writes it."""
    return library("strict", "strict")


@pytest.fixture
async def session() -> AsyncIterator[Session]:
    async with open_sessions() as pool, pool.lend_session(strict_library(), None) as opened:
        yield opened


@pytest.mark.anyio
async def test_it_is_an_error_of_harness(session: Session) -> None:
    for method, params in READS:
        with pytest.raises(RequestRejected, match="as harness wrote it") as asked:
            await session.send_request(method, params)
        assert (trial_error(asked.value).kind, asked.value.code) == ("harness", HEADER_MISMATCH)
    with pytest.raises(RequestRejected) as called:
        await call(session, "get_customer")
    assert trial_error(ExceptionGroup("calls", [called.value])).kind == "harness"


@pytest.mark.anyio
async def test_an_agent_gets_the_words_of_the_server(session: Session) -> None:
    recording = Recording()
    async with (
        open_listener() as listener,
        listener.serve(session, recording, 50) as url,
        Client(url) as client,
    ):
        with pytest.raises(MCPError, match="a header differs") as read:
            await client.read_resource("customer://17")
        with pytest.raises(MCPError, match="a header differs") as called:
            await client.call_tool("get_customer", {})
    assert (read.value.code, called.value.code) == (HEADER_MISMATCH, HEADER_MISMATCH)
    assert {made.outcome for made in recording.list_calls()} == {"server_lost"}


@pytest.mark.anyio
async def test_of_several_servers_one_rejection_is_none_of_all_refusals() -> None:
    servers = (library("closed", "closed"), strict_library())
    both = library("both", members=servers)
    async with open_sessions() as pool, pool.lend_session(both, None) as session:
        with pytest.raises(RequestRejected):
            await session.send_request(*READS[0])
    other = library("other", members=(servers[0], library("again", "closed")))
    async with open_sessions() as pool, pool.lend_session(other, None) as session:
        with pytest.raises(RequestRefused, match="the shelf is closed"):
            await session.send_request(*READS[0])


def test_a_probe_of_such_a_server_is_incomplete_and_sees_no_decision(tmp_path: Path) -> None:
    report = probed(strict_library(), tmp_path)
    assert {finding.problem for finding in report.findings} == {"unobserved"}
    assert report.is_incomplete
    assert "denied" not in {one.access for row in report.decisions.values() for one in row.values()}


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("method", ["resources/read", "prompts/get", "tools/list", "tools/call"])
def test_neither_codes_nor_words_make_it_a_refusal_of_the_caller(code: int, method: str) -> None:
    error = MCPError(code, "access denied: forbidden")
    assert is_rejection(error, method) == ((code, method) != (PARSE_ERROR, "tools/call"))
    assert not isinstance(build_step_error(error, "the handshake", ["denied"]), NotAdmitted)


def test_a_refusal_of_the_caller_stays_one() -> None:
    error = MCPError(INVALID_REQUEST, "access denied: forbidden")
    assert not is_rejection(error, "resources/read")
    assert isinstance(build_step_error(error, "the handshake"), NotAdmitted)
