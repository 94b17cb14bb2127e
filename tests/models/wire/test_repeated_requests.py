"""Requests after a model's first: the same but for their body, on a connection that is open."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx2
import pytest

from harness.base.errors import ModelError
from harness.models.wire import BoundedClient
from harness.types import UserMessage
from tests.models.support import APIS, Api, converse, opened
from tests.models.test_endings import reply
from tests.models.wire_server import always, response, serving

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("api", APIS)]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Listener:
    """A server that keeps its connections open, and what it was sent."""

    def __init__(self, api: Api) -> None:
        self.body = json.dumps(reply(api)).encode()
        self.further: list[str] = []
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self.ports: list[int] = []

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self.handle, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.read(65_536):
            head, _, body = head.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            assert length is not None
            body += await reader.readexactly(int(length[1]) - len(body))
            self.heads.append(head)
            self.bodies.append(body)
            self.ports.append(writer.get_extra_info("peername")[1])
            further = self.further.pop(0) if self.further else ""
            whole = response(self.body, headers=further).replace(b"connection: close\r\n", b"")
            writer.write(whole)
        writer.close()


def without_length(head: bytes) -> list[bytes]:
    return sorted(line for line in head.split(b"\r\n") if b"content-length" not in line.lower())


async def test_only_the_body_differs_from_one_request_to_the_next(api: Api) -> None:
    listener = Listener(api)
    async with listener.serve() as url, opened(api, url, headers={"X-Team": "blue"}) as model:
        for prompt in ("One?", "Two, and longer?", "Three ü?"):
            (answer,) = await converse(model, conversation=(UserMessage(text=prompt),))
            assert answer.text == "Hm."
    first, *others = listener.heads
    assert b"test-key" in first
    assert all(without_length(head) == without_length(first) for head in others)
    assert [b"One?" in body for body in listener.bodies] == [True, False, False]
    assert "Three ü?".encode() in listener.bodies[2]


async def test_an_sdk_builds_one_request_of_a_model(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = []
    build = httpx2.AsyncClient.build_request

    def count(*args: object, **options: object) -> object:
        built.append(args)
        return build(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(BoundedClient, "build_request", count)
    listener = Listener(api)
    async with listener.serve() as url, opened(api, url) as model:
        for _ in range(4):
            await converse(model)
    assert len(listener.heads) == 4
    assert len(built) == 1


async def test_one_connection_is_open_for_each_request_at_a_time(api: Api) -> None:
    listener = Listener(api)
    async with listener.serve() as url, opened(api, url) as model:
        for _ in range(3):
            await converse(model)
        assert len(set(listener.ports)) == 1
        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(converse, model)
        assert len(set(listener.ports)) <= 4
        await converse(model)
        assert listener.ports[-1] in listener.ports[:-1]


async def test_a_cookie_is_sent_back(api: Api) -> None:
    listener = Listener(api)
    listener.further = ["", "set-cookie: lane=7; Path=/\r\n"]
    async with listener.serve() as url, opened(api, url) as model:
        for _ in range(4):
            await converse(model)
    assert [b"lane=7" in head for head in listener.heads] == [False, False, True, True]


async def test_a_compressed_reply_after_the_first_is_read(api: Api) -> None:
    listener = Listener(api)
    async with listener.serve() as url, opened(api, url) as model:
        await converse(model)
        listener.body, listener.further = (
            gzip.compress(listener.body),
            9 * ["content-encoding: gzip\r\n"],
        )
        (answer,) = await converse(model)
    assert answer.text == "Hm."


async def test_a_redirect_that_comes_later_is_followed_all_the_same(api: Api) -> None:
    asked: list[str] = []

    async def move(head: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
        path = head.split(b" ")[1].decode()
        asked.append(path)
        moved = response(b"", status=307, headers=f"location: {path}/\r\n")
        stays = len(asked) == 1 or path.endswith("/")
        writer.write(response(json.dumps(reply(api)).encode()) if stays else moved)

    async with serving(move) as url, opened(api, url) as model:
        for _ in range(2):
            assert (await converse(model))[0].text == "Hm."
    assert asked[-1].endswith("/")


async def test_a_connection_that_breaks_later_is_told_in_the_same_words(api: Api) -> None:
    broken = response(b"{", headers="content-length: 99\r\n")
    said = []
    for first in (broken, response(json.dumps(reply(api)).encode())):
        answers = [first, broken]

        async def answer(
            head: bytes, body: bytes, writer: asyncio.StreamWriter, answers: list[bytes] = answers
        ) -> None:
            await always(answers.pop(0))(head, body, writer)

        async with serving(answer) as url, opened(api, url) as model:
            if first is not broken:
                await converse(model)
            with pytest.raises(ModelError) as raised:
                await converse(model)
        said.append((re.sub(r":\d+", "", str(raised.value)), raised.value.usage))
    assert said[0] == said[1]
