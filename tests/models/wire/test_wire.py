"""How much of an answer is taken, and where a redirect is followed.

Memory, time and secrets stay at home.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
import sys
import zlib
from functools import cache
from typing import Any

import anyio
import pytest

from harness.base.errors import ModelError
from harness.models.model import Model
from harness.models.wire import ERROR_BYTES
from harness.types import UNKNOWN_USAGE, Reply
from tests.clock import BOUND_S
from tests.models.support import APIS, Api, converse, opened
from tests.models.test_endings import reply
from tests.models.wire_server import Say, always, response, serving
from tests.often import often

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("api", APIS)]

MEMORY_MB = 150
"""What one hostile reply may add to the process: many times its bound of 4 MB, and a small part of
what it sends."""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1_000_000 if sys.platform == "darwin" else peak / 1_000


async def failure(api: Api, say: Say, **settings: Any) -> ModelError:
    async with serving(say) as url, opened(api, url, **settings) as model:
        with anyio.fail_after(BOUND_S), pytest.raises(ModelError) as raised:
            await converse(model)
    return raised.value


@cache
def bomb(encoding: str) -> bytes:
    """Return 200 MB of spaces in a few hundred kilobytes."""
    return (gzip.compress if encoding == "gzip" else zlib.compress)(b" " * 200_000_000, 1)


# ── Size ─────────────────────────────────────────────────────────────────────────────────────


async def test_an_endless_body_is_given_up_at_the_bound(api: Api) -> None:
    async def endless(head: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
        while True:
            writer.write(b" " * 100_000)
            await writer.drain()

    before = peak_mb()
    error = await failure(api, endless)
    assert "is larger than 4 MB, and was not read to its end" in str(error)
    assert "raise its max_reply_mb" in str(error)
    assert error.usage == UNKNOWN_USAGE
    assert peak_mb() - before < MEMORY_MB


@pytest.mark.parametrize("encoding", often(["gzip", "deflate"], 2))
async def test_a_compressed_bomb_is_given_up_at_the_bound(api: Api, encoding: str) -> None:
    packed = response(bomb(encoding), headers=f"content-encoding: {encoding}\r\n")
    before = peak_mb()
    error = await failure(api, always(packed))
    assert "is larger than 4 MB" in str(error)
    assert peak_mb() - before < MEMORY_MB


async def test_a_bomb_within_a_bomb_is_given_up_at_the_bound(api: Api) -> None:
    outer = gzip.compress(bomb("gzip"))
    error = await failure(api, always(response(outer, headers="content-encoding: gzip, gzip\r\n")))
    assert "is larger than 4 MB" in str(error)


async def test_a_compressed_stream_that_yields_nothing_is_given_up_at_the_bound(api: Api) -> None:
    async def nothing(head: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-encoding: deflate\r\n\r\n" + zlib.compress(b"")[:2]
        )
        while True:
            writer.write(b"\x00\x00\x00\xff\xff" * 20_000)  # empty blocks, none of them the last
            await writer.drain()

    assert "is larger than 4 MB" in str(await failure(api, nothing))


async def test_a_body_that_cannot_be_decompressed_is_told(api: Api) -> None:
    error = await failure(
        api, always(response(b"not compressed", headers="content-encoding: gzip\r\n"))
    )
    assert "cannot be decompressed" in str(error)
    assert error.usage == UNKNOWN_USAGE


async def test_a_compressed_reply_is_read(api: Api) -> None:
    packed = gzip.compress(json.dumps(reply(api)).encode())
    async with (
        serving(always(response(packed, headers="content-encoding: gzip\r\n"))) as url,
        opened(api, url) as model,
    ):
        (read,) = await converse(model)
    assert read.text == "Hm."


async def test_the_bound_is_configured_in_megabytes(api: Api) -> None:
    large = response(json.dumps({**reply(api), "padding": " " * 50_000}).encode())
    assert "is larger than 0.05 MB" in str(await failure(api, always(large), max_reply_mb=0.05))
    async with serving(always(large)) as url, opened(api, url, max_reply_mb=0.06) as model:
        assert (await converse(model))[0].text == "Hm."


@pytest.mark.parametrize("value", [b"[],", b'{"a":{}},', b"1,"])
async def test_a_reply_of_more_values_than_any_is_unusable(api: Api, value: bytes) -> None:
    body = b'{"content":[' + value * (3_500_000 // len(value)) + b"1]}"
    before = peak_mb()
    error = await failure(api, always(response(body)))
    assert "the reply is unusable: it may contain more than 1,000,000 values" in str(error)
    assert peak_mb() - before < MEMORY_MB


async def test_a_large_reply_is_read_beside_a_conversation_that_goes_on(api: Api) -> None:
    answer = "word " * 700_000
    large = json.dumps(reply(api)).replace("Hm.", answer).encode()
    small = json.dumps(reply(api)).encode()
    replies: list[Reply] = []

    async def read_large(model: Model) -> None:
        replies.extend(await converse(model))

    async with (
        serving(always(response(large))) as url,
        serving(always(response(small))) as near,
        opened(api, url) as model,
        opened(api, near) as neighbour,
        anyio.create_task_group() as group,
    ):
        for _ in range(4):
            group.start_soon(read_large, model)
        assert (await converse(neighbour))[0].text == "Hm."
        assert len(replies) < 4  # it did not wait for all of them
        for _ in range(19):
            assert (await converse(neighbour))[0].text == "Hm."
    assert [len(one.text) for one in replies] == [len(answer)] * 4


# ── Errors ───────────────────────────────────────────────────────────────────────────────────


async def test_of_an_endless_error_the_beginning_is_read(api: Api) -> None:
    async def endless(head: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad\r\ncontent-type: text/plain\r\n\r\nno such model ")
        while True:
            writer.write(b"." * ERROR_BYTES)
            await writer.drain()

    error = await failure(api, endless)
    assert "HTTP 400 from http://127.0.0.1:" in str(error)
    assert "no such model" in str(error)
    assert error.usage.tokens == 0


async def test_an_error_whose_body_breaks_off_is_told_by_its_status(api: Api) -> None:
    error = await failure(
        api, always(response(b"no such", status=404, headers="content-length: 500\r\n"))
    )
    assert error.status == 404
    assert "no such" in str(error)


async def test_a_reply_that_breaks_off_may_have_been_paid_for(api: Api) -> None:
    error = await failure(api, always(response(b'{"id"', headers="content-length: 500\r\n")))
    assert "broke before the reply was complete" in str(error)
    assert error.usage == UNKNOWN_USAGE


# ── Redirects ────────────────────────────────────────────────────────────────────────────────


class Elsewhere:
    """A server that notes whatever it is sent."""

    def __init__(self) -> None:
        self.heads: list[bytes] = []

    async def __call__(self, head: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
        self.heads.append(head)
        writer.write(response(b"{}"))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_another_origin_is_refused_in_words(api: Api, status: int) -> None:
    elsewhere = Elsewhere()
    async with serving(elsewhere) as other:
        location = f"location: {other.replace('http://', 'http://user:hidden@')}/v1?key=hidden\r\n"
        error = await failure(
            api,
            always(response(b"", status=status, headers=location)),
            max_retries=3,
            headers={"X-Key": "secret-1"},
        )
    assert elsewhere.heads == []
    assert f"a redirect to {other}/v1, which is not followed" in str(error)
    assert "If that is where the API is, set base_url to it." in str(error)
    assert "hidden" not in str(error)
    assert (error.status, error.attempts) == (status, 1)


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_within_the_origin_is_followed_with_the_same_request(
    api: Api, status: int
) -> None:
    asked: list[tuple[bytes, bytes]] = []

    async def slash(head: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
        asked.append((head, body))
        path = head.split(b" ")[1].decode()
        moved = response(b"", status=status, headers=f"location: {path}/\r\n")
        writer.write(response(json.dumps(reply(api)).encode()) if path.endswith("/") else moved)

    async with serving(slash) as url, opened(api, url) as model:
        assert (await converse(model))[0].text == "Hm."
    (_, first), (head, second) = asked
    assert first == second
    assert b"test-key" in head


async def test_redirects_without_end_are_told(api: Api) -> None:
    error = await failure(api, always(response(b"", status=307, headers="location: /v1/round\r\n")))
    assert "HTTP 307" in str(error)
    assert "is not followed" in str(error)


async def test_a_redirect_that_leads_nowhere_is_an_error(api: Api) -> None:
    assert "HTTP 302 from " in str(await failure(api, always(response(b"moved", status=302))))
