"""What a server says and asks by itself reaches the client behind the proxy, in either era."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CreateMessageResult,
    ElicitResult,
    InputRequiredResult,
    ResourceUpdatedNotification,
    TextContent,
    ToolListChangedNotification,
)

from harness.agents.proxy.listener import open_listener
from harness.agents.proxy.recording import Recording
from harness.sessions.pool import open_sessions
from harness.types import Protocol, ServerSpec, TransportSpec
from tests.agents.proxy.talking_server import URI
from tests.clock import BOUND_S
from tests.end_to_end.warm import warm_python
from tests.sessions.http_servers import running

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]

SERVER = Path(__file__).with_name("talking_server.py")
ERAS = [
    pytest.param("legacy", "legacy", id="handshake"),
    pytest.param("2026-07-28", "auto", id="newest"),
    pytest.param(
        "2026-07-28",
        "legacy",
        id="handshake client of a newest server",
        marks=pytest.mark.slow,
    ),
    pytest.param(
        "legacy", "auto", id="newest client of a handshake server", marks=pytest.mark.slow
    ),
]
ONE_ERA_OFTEN = [
    ERAS[0],
    *(pytest.param(*era.values, id=era.id, marks=pytest.mark.slow) for era in ERAS[1:]),
]
"""Revision of the server's session, mode of the client."""


@dataclass
class Talk:
    """A client of a proxied server, and what it was told."""

    client: Client
    recording: Recording
    told: list[Any] = field(default_factory=list)
    arrived: anyio.Event = field(default_factory=anyio.Event)

    async def until(self, kind: type) -> Any:
        """Wait until the client was told a notification of that kind, and return it."""
        with anyio.fail_after(BOUND_S):
            while not (found := [one for one in self.told if isinstance(one, kind)]):
                self.arrived = anyio.Event()
                await self.arrived.wait()
        return found[0]

    async def said(self, tool: str) -> str:
        with anyio.fail_after(BOUND_S):
            result = await self.client.call_tool(tool, {})
        return str(result.content[0].text)  # type: ignore[union-attr]


def talking(protocol: Protocol, abilities: tuple[str, ...] = ()) -> ServerSpec:
    # The newest revision is agreed on by asking: a revision that is set tells no capabilities.
    transport = TransportSpec(
        command=warm_python(),
        args=(str(SERVER),),
        protocol="auto" if protocol == "2026-07-28" else protocol,
        abilities=abilities,
    )
    return ServerSpec(name="talker", transport=transport)


@asynccontextmanager
async def a_talk(spec: ServerSpec, mode: Any, **client: Any) -> AsyncGenerator[Talk]:
    async def take(message: Any) -> None:
        talk.told.append(message)
        talk.arrived.set()

    recording = Recording()
    async with (
        open_sessions() as pool,
        pool.lend_session(spec, None) as session,
        open_listener() as listener,
        listener.serve(session, recording, 50) as url,
        Client(url, mode=mode, message_handler=take, **client) as connected,
    ):
        talk = Talk(connected, recording)
        yield talk


async def answer(context: Any, params: Any) -> ElicitResult:
    return ElicitResult(action="accept", content={"city": f"Ulm after {params.message}"})


async def speak(context: Any, params: Any) -> CreateMessageResult:
    return CreateMessageResult(role="assistant", content=TextContent(text="it"), model="none")


@pytest.mark.parametrize(("protocol", "mode"), ERAS)
async def test_a_changed_list_is_told(protocol: Protocol, mode: str) -> None:
    async with a_talk(talking(protocol), mode) as talk:
        if mode == "legacy":
            await talk.said("grow")
            await talk.until(ToolListChangedNotification)
        else:
            async with talk.client.listen(tools_list_changed=True) as changes:
                await talk.said("grow")
                with anyio.fail_after(BOUND_S):
                    await anext(aiter(changes))
        listed = await talk.client.list_tools()
    assert "grown" in [tool.name for tool in listed.tools]


@pytest.mark.parametrize(("protocol", "mode"), ERAS)
async def test_a_changed_resource_is_told_to_who_subscribed(protocol: Protocol, mode: str) -> None:
    async with a_talk(talking(protocol), mode) as talk:
        if mode == "legacy":
            await talk.client.subscribe_resource(URI)
            await talk.said("touch")
            told = await talk.until(ResourceUpdatedNotification)
            assert told.params.uri == URI
            await talk.client.unsubscribe_resource(URI)
        else:
            async with talk.client.listen(resource_subscriptions=[URI]) as changes:
                await talk.said("touch")
                with anyio.fail_after(BOUND_S):
                    event: Any = await anext(aiter(changes))
            assert event.uri == URI
        with anyio.fail_after(BOUND_S):
            while await talk.said("subscribed") != "[]":  # it is taken back in the background
                await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize(("protocol", "mode"), ONE_ERA_OFTEN)
async def test_log_messages_come_before_the_answer(protocol: Protocol, mode: str) -> None:
    heard: list[str] = []

    async def log(params: Any) -> None:
        heard.append(params.data)

    async with a_talk(talking(protocol), mode, logging_callback=log, log_level="info") as talk:
        if mode == "legacy":
            await talk.client.set_logging_level("info")
        await talk.said("note")
        levels = await talk.said("level")
    assert heard[:1] == ["heard"]
    # A server of the handshake filters, or does not, as it likes: this one does not.
    assert ("whispered" in heard) == (mode == "legacy" and protocol == "legacy")
    assert levels == ("['info']" if (mode, protocol) == ("legacy", "legacy") else "[]")


@pytest.mark.parametrize(("protocol", "mode"), ONE_ERA_OFTEN)
async def test_a_question_to_the_user_is_answered_by_the_client(
    protocol: Protocol, mode: str
) -> None:
    spec = talking(protocol, abilities=("elicitation",))
    async with a_talk(spec, mode, elicitation_callback=answer) as talk:
        told = await talk.said("ask")
        (call,) = talk.recording.list_calls()
    assert told == "accept {'city': 'Ulm after Where?'}"
    assert (call.tool, call.outcome, call.text) == ("ask", "ok", told)


@pytest.mark.parametrize(("protocol", "mode"), ONE_ERA_OFTEN)
async def test_a_question_to_the_model_is_answered_by_the_client(
    protocol: Protocol, mode: str
) -> None:
    spec = talking(protocol, abilities=("sampling",))
    async with a_talk(spec, mode, sampling_callback=speak) as talk:
        assert await talk.said("sample") == "it"


@pytest.mark.parametrize(("protocol", "mode"), ONE_ERA_OFTEN)
async def test_a_server_is_not_told_of_abilities_that_nobody_has(
    protocol: Protocol, mode: str
) -> None:
    async with a_talk(talking(protocol), mode) as talk:
        assert await talk.said("ask") == "it cannot be asked"


async def test_a_refused_question_is_refused_to_the_server_in_the_clients_words() -> None:
    spec = talking("legacy", abilities=("elicitation",))
    async with a_talk(spec, "legacy") as talk:
        with pytest.raises(MCPError, match="Elicitation not supported"):
            await talk.client.call_tool("ask", {})
        (call,) = talk.recording.list_calls()
    assert (call.outcome, call.text) == ("tool_error", "Elicitation not supported")


async def test_a_question_that_the_client_does_not_answer_is_in_the_record() -> None:
    spec = talking("legacy", abilities=("elicitation",))
    async with a_talk(spec, "auto", elicitation_callback=answer) as talk:
        asked = await talk.client.session.call_tool("ask", {}, allow_input_required=True)
        (call,) = talk.recording.list_calls()
    assert isinstance(asked, InputRequiredResult)
    assert call.outcome == "tool_error"
    assert "which the client did not give" in call.text


@pytest.mark.slow
async def test_a_server_over_http_is_heard_beside_its_answers_and_may_ask() -> None:
    with running(str(SERVER)) as http:
        transport = TransportSpec(
            kind="http",
            url=f"http://127.0.0.1:{http.port}/mcp",
            protocol="legacy",
            abilities=("elicitation",),
        )
        spec = ServerSpec(name="talker", transport=transport)
        async with a_talk(spec, "legacy", elicitation_callback=answer) as talk:
            assert await talk.said("ask") == "accept {'city': 'Ulm after Where?'}"
            with anyio.fail_after(BOUND_S):
                while not talk.told:  # until the stream beside answers is open
                    await talk.said("grow")
            await talk.until(ToolListChangedNotification)
