"""A server that sends too many messages costs neither memory nor the time of others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import ByteReceiveStream, ByteSendStream

from harness.sessions import server_messages as unasked
from harness.sessions.client import open_client
from harness.sessions.transports.stdio import StdioReader, StdioWriter
from tests.clock import BOUND_S

pytestmark = pytest.mark.anyio

PING = b'{"jsonrpc":"2.0","id":"p","method":"ping"}\n'
PROGRESS = (
    b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}'
    b"\n"
)


class Server(ByteReceiveStream, ByteSendStream):
    """A process that says ``flood`` again and again once it is asked, and reads none of the
    answers.
    """

    def __init__(self, flood: bytes, chunks: int | None) -> None:
        self.request_id: int | None = None
        self.answers = 0
        self._asked = anyio.Event()
        self._says = self._flood(flood, chunks)

    def _flood(self, flood: bytes, chunks: int | None) -> Iterator[bytes]:
        said = 0
        while chunks is None or said < chunks:
            said += 1
            yield flood * (60_000 // len(flood))
        yield (
            json.dumps({"jsonrpc": "2.0", "id": self.request_id, "result": {"done": True}}).encode()
            + b"\n"
        )

    async def receive(self, max_bytes: int = 65536) -> bytes:
        await self._asked.wait()
        try:
            return next(self._says)
        except StopIteration:
            await anyio.sleep_forever()
            raise

    async def send(self, item: bytes) -> None:
        message = json.loads(item)
        if message.get("method") == "tools/call":
            self.request_id = message["id"]
            self._asked.set()
        elif "method" not in message:
            self.answers += 1
            await anyio.sleep_forever()

    async def send_eof(self) -> None: ...

    async def aclose(self) -> None: ...


async def test_requests_of_a_server_that_reads_no_answer_pile_up_nowhere_and_its_own_arrives() -> (
    None
):
    server = Server(PING, chunks=5)  # some 7,000 requests
    reader = StdioReader(server, lambda: None)
    with anyio.fail_after(BOUND_S):
        async with open_client(reader, StdioWriter(server, lambda: None), {}) as client:
            assert await client.request("tools/call", {}) == {"done": True}
            assert 0 < server.answers <= unasked.MAX_REQUESTS
            assert len(asyncio.all_tasks()) < 2 * unasked.MAX_REQUESTS


@pytest.mark.parametrize(
    "flood", [PING, PROGRESS, b"\n", b"INFO: still at work\n"], ids=["ping", "progress", "", "log"]
)
async def test_a_flood_without_an_answer_ends_as_a_loss_and_others_have_their_turn_meanwhile(
    flood: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unasked, "MAX_UNSOLICITED", 3_000)
    server = Server(flood, chunks=None)
    ends: list[None] = []
    reader = StdioReader(server, lambda: ends.append(None))
    turns = 0

    async def neighbour() -> None:
        nonlocal turns
        while not ends:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async def read_on() -> None:
        while True:
            await reader.receive()

    await server.send(b'{"method": "tools/call", "id": 1}')
    with anyio.fail_after(BOUND_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(neighbour)
            with pytest.raises(anyio.EndOfStream):
                await read_on()
    assert turns >= 3_000 / 64 - 1
    assert reader.complaint is not None
    assert "unsolicited" in reader.complaint
