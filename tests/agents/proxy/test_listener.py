"""The official client against the proxy, in front of a real server."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from harness.agents.proxy.listener import Listener, open_listener
from harness.agents.proxy.recording import Recording
from harness.sessions.pool import open_sessions
from harness.sessions.session import Session
from harness.types import (
    GuardRails,
    JsonObject,
    Outcome,
    Protocol,
    ServerSpec,
    ToolRequest,
    TransportSpec,
)
from tests.clock import BOUND_S
from tests.end_to_end.warm import warm_python
from tests.often import often
from tests.sessions.servers import GOOD_SERVER, bad_server
from tests.support import MemorySession

pytestmark = pytest.mark.anyio

USER = {"role": "analyst", "regions": ["EU"]}
MODES = ["auto", "legacy"]


@dataclass
class Proxied:
    """A proxy in front of the good server."""

    url: str
    recording: Recording
    session: Session
    listener: Listener


@asynccontextmanager
async def proxied(
    *, protocol: Protocol = "auto", guard: GuardRails | None = None, max_calls: int = 50
) -> AsyncGenerator[Proxied]:
    transport = TransportSpec(command=warm_python(), args=(str(GOOD_SERVER),), protocol=protocol)
    spec = ServerSpec(name="good", transport=transport, guard=guard or GuardRails())
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(open_sessions())
        session = await stack.enter_async_context(pool.lend_session(spec, USER))
        listener = await stack.enter_async_context(open_listener())
        recording = Recording()
        url = await stack.enter_async_context(listener.serve(session, recording, max_calls))
        yield Proxied(url, recording, session, listener)


@pytest.mark.parametrize("mode", often(MODES))
@pytest.mark.parametrize("protocol", often(["legacy", "2026-07-28"]))
async def test_a_client_of_either_era_uses_a_server_of_either_era(
    mode: Any, protocol: Protocol
) -> None:
    async with proxied(protocol=protocol) as proxy:
        async with Client(proxy.url, mode=mode) as client:
            listed = await client.list_tools()
            added = await client.call_tool("add", {"a": 2, "b": 3})
            who = await client.call_tool("whoami", {})
        assert [tool.name for tool in listed.tools] == [t.name for t in proxy.session.tools.tools]
        assert added.structured_content == {"result": 5}
        assert who.structured_content is not None
        assert who.structured_content["tools/call"] == USER
        calls = proxy.recording.list_calls()
    assert [(call.tool, call.arguments, call.outcome) for call in calls] == [
        ("add", {"a": 2, "b": 3}, "ok"),
        ("whoami", {}, "ok"),
    ]
    assert [call.reply for call in calls] == [1, 2]


@pytest.mark.parametrize("mode", often(MODES))
async def test_the_server_is_introduced_as_itself(mode: Any) -> None:
    async with proxied() as proxy, Client(proxy.url, mode=mode) as client:
        assert client.server_info is not None
        assert client.server_info.name == "good"
        assert client.server_capabilities.tools is not None


@pytest.mark.parametrize("mode", often(MODES))
async def test_errors_and_refusals_come_as_the_server_made_them(mode: Any) -> None:
    async with proxied() as proxy:
        async with Client(proxy.url, mode=mode) as client:
            refused = await client.call_tool("refuse", {})
            unknown = await client.call_tool("subtract", {})
            with pytest.raises(MCPError) as no_resource:
                await client.read_resource("file:///nothing")
        outcomes = [call.outcome for call in proxy.recording.list_calls()]
        direct: Any = None
        try:
            await proxy.session.send_request("resources/read", {"uri": "file:///nothing"})
        except Exception as error:  # noqa: BLE001 - whatever it is, it is compared
            direct = error.__cause__
    assert refused.is_error
    assert "Access denied" in str(refused.content)
    assert unknown.is_error
    assert "Unknown tool: subtract" in str(unknown.content)
    assert no_resource.value.error == direct.error
    assert outcomes == ["denied", "unknown_tool"]


async def test_a_call_that_ends_in_a_jsonrpc_error_ends_so_for_the_client() -> None:
    async with (
        open_sessions() as pool,
        pool.lend_session(bad_server("good", "jsonrpc-error"), None) as session,
        open_listener() as listener,
        listener.serve(session, Recording(), 5) as url,
        Client(url) as client,
    ):
        with pytest.raises(MCPError) as refused:
            await client.call_tool("deny_by_code", {})
    error = refused.value.error
    assert (error.code, error.message, error.data) == (
        -32001,
        "Unauthorized",
        {"required": "admin"},
    )


@pytest.mark.parametrize("mode", MODES)
async def test_progress_reaches_the_client(mode: Any) -> None:
    told: list[float] = []

    async def take(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async with proxied() as proxy, Client(proxy.url, mode=mode) as client:
        await client.call_tool("slow", {"steps": 5}, progress_callback=take)
    assert told == [0, 1, 2, 3, 4]


async def test_calls_that_are_under_way_together_are_one_reply() -> None:
    both = anyio.Event()
    sent: list[str] = []

    async def wait_for_the_other(request: ToolRequest) -> tuple[Outcome, str]:
        sent.append(request.id)
        if len(sent) == 2:
            both.set()
        with anyio.fail_after(BOUND_S):
            await both.wait()
        return "ok", "done"

    recording = Recording()
    async with (
        open_listener() as listener,
        listener.serve(MemorySession(wait_for_the_other), recording, 5) as url,
        Client(url) as client,
    ):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "look", {})
            tasks.start_soon(client.call_tool, "look", {})
        await client.call_tool("look", {})
    roles = [message.role for message in recording.build_messages()]
    assert roles == ["assistant", "tool", "assistant", "tool"]
    assert [call.reply for call in recording.list_calls()] == [1, 1, 2]


async def test_a_blocked_tool_is_not_called_and_the_client_is_told() -> None:
    async with proxied(guard=GuardRails(block=("add",))) as proxy:
        async with Client(proxy.url) as client:
            told = await client.call_tool("add", {"a": 1, "b": 1})
        (call,) = proxy.recording.list_calls()
    assert told.is_error
    assert "blocked for this suite" in str(told.content)
    assert call.outcome == "blocked"


async def test_no_more_calls_are_sent_than_the_limit() -> None:
    async with proxied(max_calls=1) as proxy:
        async with Client(proxy.url) as client:
            first = await client.call_tool("add", {"a": 1, "b": 1})
            second = await client.call_tool("add", {"a": 1, "b": 1})
        calls = proxy.recording.list_calls()
    assert (first.is_error, second.is_error) == (False, True)
    assert [call.outcome for call in calls] == ["ok", "blocked"]


async def test_whoever_does_not_know_the_token_reaches_no_session() -> None:
    hello: JsonObject = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    async with proxied() as proxy, httpx2.AsyncClient() as http:
        token = proxy.url.split("/")[3]
        for wrong in ("guess", token[:-1], token.swapcase(), ""):
            answer = await http.post(proxy.url.replace(token, wrong), json=hello)
            assert answer.status_code == 401
        assert proxy.listener.strangers == 4
        rebound = await http.post(proxy.url, json=hello, headers={"host": "evil.example"})
        assert rebound.status_code in range(400, 500)
    assert proxy.recording.list_calls() == ()


async def test_an_address_is_gone_with_its_session() -> None:
    async with open_listener() as listener, open_sessions() as pool, httpx2.AsyncClient() as http:
        transport = TransportSpec(command=warm_python(), args=(str(GOOD_SERVER),))
        spec = ServerSpec(name="good", transport=transport)
        async with (
            pool.lend_session(spec, USER) as session,
            listener.serve(session, Recording(), 1) as url,
        ):
            pass
        assert (await http.post(url, json={})).status_code == 401


@pytest.mark.parametrize("mode", MODES)
async def test_a_call_that_its_client_gives_up_is_recorded(mode: Any) -> None:
    begun, ended = anyio.Event(), anyio.Event()

    async def hang(request: ToolRequest) -> tuple[Outcome, str]:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        return "ok", "never"

    recording = Recording()
    async with (
        open_listener() as listener,
        listener.serve(MemorySession(hang), recording, 5) as url,
    ):
        async with Client(url, mode=mode) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "look", {})
            with anyio.fail_after(BOUND_S):
                await begun.wait()
                tasks.cancel_scope.cancel()
        with anyio.fail_after(BOUND_S):
            await ended.wait()
    (call,) = recording.list_calls()
    assert call.outcome == "timeout"
    assert "the client ended the call" in call.text
