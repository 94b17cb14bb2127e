"""The HTTP client of one model, with bounded replies and safe redirects.

What comes: what happens:

- a body of more than the model's bound: `ReplyTooLarge`, counted on the wire and once more when
  decompressed
- the body of an error status: its beginning is kept, and what comes of it soon
- a redirect within the origin, POST stays POST: followed, `MAX_REDIRECTS` times
- any other redirect: left as it is: conversation and key go to no other server
- a connection that breaks within a reply: `BrokenConnection`: the reply was on its way, and may
have been
  paid for

A compressed body is decompressed in pieces of at most 1 MiB, so that a decompression bomb is never
held in memory.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any

import anyio
import httpx2

from harness.base import MAX_REDIRECTS, open_transport, same_request_elsewhere

ERROR_BYTES = 65_536
"""Bytes of an error's body that are read: its beginning says what is wrong."""
# Of one pool in `_ConnectionStack`; two, so that an address of localhost that answers keeps its
# connection while the name is tried again.
_LIMITS = httpx2.Limits(max_connections=2, max_keepalive_connections=1)
_MOST_IDLE = 100
_IDLE_S = 5.0
"""Seconds after which an idle connection is closed."""
ERROR_BODY_S = 2.0
"""Seconds to wait for the body of an error: its status is what matters."""


LOST = (httpx2.RequestError, ssl.SSLError, anyio.EndOfStream)
"""What a client raises where there is no complete response; not all TLS failures are of httpx2."""


class ReplyTooLarge(httpx2.RequestError):
    """A reply that is larger than the model's bound."""


class BrokenConnection(httpx2.RequestError):
    """A connection that failed after a successful status; its cause says how."""


class BoundedClient(httpx2.AsyncClient):
    """A client whose responses are complete, decompressed and bounded.

    As a base class, put it before an SDK's own client::

        class Client(BoundedClient, DefaultAsyncHttpxClient): ...
    """

    def __init__(self, url: str, max_mb: float) -> None:
        """Ask ``url``, and accept at most ``max_mb`` megabytes of a reply.

        Raises:
            UsageError: the environment names a proxy or certificates that cannot be used.
        """
        # `open_transport` reads proxies from the environment itself, and none for this machine.
        self._connections = _ConnectionStack(url)
        super().__init__(transport=self._connections, trust_env=False)
        self._max_bytes = round(max_mb * 1_000_000)
        self._template: httpx2.Request | None = None

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send ``request`` and return the complete response, whatever its status.

        Raises:
            httpx2.RequestError: there is none; including `ReplyTooLarge` and `BrokenConnection`.
        """
        # As a stream, or the client would hold all of a reply before its size is known.
        options |= {"stream": True, "follow_redirects": False}
        # With cookies in it, the request would send them for ever.
        is_plain = not self.cookies
        response = await super().send(request, **options)
        if is_plain and response.is_success:
            self._template = request
        for _ in range(MAX_REDIRECTS):
            following = same_request_elsewhere(response)
            if following is None:
                break
            # The body of a redirect is not read; its connection goes back to the pool.
            await response.aclose()
            response = await super().send(following, **options)
        return await self._read_whole(response)

    async def repeat(self, content: bytes) -> httpx2.Response | None:
        """Send the last request that succeeded again, with ``content`` as its body.

        An SDK builds each request anew, which takes longer than to send it; yet from one to the
        next only the body differs. ``None``: there was none, or it is redirected by now, so that it
        has to be sent by the SDK.

        Raises:
            httpx2.RequestError: as `send`.
        """
        if (template := self._template) is None:
            return None
        length = (b"Content-Length", str(len(content)).encode())
        headers = [pair for pair in template.headers.raw if pair[0].lower() != b"content-length"]
        request = httpx2.Request(
            template.method,
            template.url,
            headers=[*headers, length],
            stream=httpx2.ByteStream(content),
            extensions=template.extensions,
        )
        if self.cookies:
            self.cookies.set_cookie_header(request)
        response = await self._connections.handle_async_request(request)
        response.request = request
        if "set-cookie" in response.headers:
            self.cookies.extract_cookies(response)
        if response.has_redirect_location:
            self._template = None
            await response.aclose()
            return None
        return await self._read_whole(response)

    async def _read_whole(self, response: httpx2.Response) -> httpx2.Response:
        try:
            read = self._read_reply if response.is_success else _read_beginning
            body = await read(response)
        finally:
            # Shielded: a trial that runs out of time must not leave the connection open.
            with anyio.CancelScope(shield=True):
                await response.aclose()
        # A decompressed body must not be decompressed again.
        headers = [pair for pair in response.headers.raw if pair[0].lower() not in _OF_THE_WIRE]
        whole = httpx2.Response(
            response.status_code, headers=headers, content=body, request=response.request
        )
        # Kept for the message on a redirect that was not followed.
        whole.next_request = response.next_request
        return whole

    async def _read_reply(self, response: httpx2.Response) -> bytes:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        parts = _limit_bytes(response.stream, self._max_bytes)
        if "content-encoding" in response.headers:
            # Counted twice: compressed bytes here, and below what they become.
            response.stream = _BoundedBody(response.stream, self._max_bytes)
            parts = _limit_bytes(response.aiter_bytes(), self._max_bytes)
        try:
            return b"".join([part async for part in parts])
        # These say what is wrong with the reply; only a failed connection is told as broken.
        except (ReplyTooLarge, httpx2.DecodingError):
            raise
        except (httpx2.RequestError, OSError) as error:
            raise BrokenConnection("broke off") from error


class _ConnectionStack(httpx2.AsyncBaseTransport):
    """The connections to one origin, each a pool of its own; the one used last is used next.

    A single pool looks at every idle connection before and after each request.
    """

    def __init__(self, url: str) -> None:
        self._open = partial(open_transport, url, _LIMITS)
        # The first at once: a proxy or certificates that cannot be used are told at the start.
        self._idle = [(monotonic(), self._open())]
        self._all = {pool for _, pool in self._idle}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send ``request`` on a connection that is free, or a new one."""
        now = monotonic()
        _, pool = self._idle.pop() if self._idle else (now, self._open())
        self._all.add(pool)
        try:
            if self._idle and (len(self._idle) > _MOST_IDLE or now - self._idle[0][0] > _IDLE_S):
                await self._close(self._idle.pop(0)[1])
            response = await pool.handle_async_request(request)
        except BaseException:
            # The pool itself drops a connection that failed.
            self.give_back(pool)
            raise
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _LentBody(response.stream, partial(self.give_back, pool))
        return response

    def give_back(self, pool: httpx2.AsyncBaseTransport) -> None:
        """Take ``pool`` for the next request."""
        self._idle.append((monotonic(), pool))

    async def aclose(self) -> None:
        """Close all connections."""
        while self._all:
            await self._close(next(iter(self._all)))

    async def _close(self, pool: httpx2.AsyncBaseTransport) -> None:
        self._all.discard(pool)
        await pool.aclose()


class _LentBody(httpx2.AsyncByteStream):
    """The body of a response, whose connection is free once it is closed."""

    def __init__(self, stream: httpx2.AsyncByteStream, give_back: Callable[[], None]) -> None:
        self._stream = stream
        self._give_back: Callable[[], None] | None = give_back

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._stream.__aiter__()

    async def aclose(self) -> None:
        give_back, self._give_back = self._give_back, None
        try:
            await self._stream.aclose()
        finally:
            if give_back is not None:
                give_back()


# Headers that describe the body as it was sent, and are wrong of the decompressed one.
_OF_THE_WIRE = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})


class _BoundedBody(httpx2.AsyncByteStream):
    """The raw body of a response, bounded: data that decompresses to nothing may be endless."""

    def __init__(self, stream: httpx2.AsyncByteStream, max_bytes: int) -> None:
        self._stream = stream
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in _limit_bytes(self._stream, self._max_bytes):
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _limit_bytes(parts: AsyncIterable[bytes], max_bytes: int) -> AsyncIterator[bytes]:
    size = 0
    async for part in parts:
        size += len(part)
        if size > max_bytes:
            raise ReplyTooLarge(f"more than {max_bytes} bytes")
        yield part


async def _read_beginning(response: httpx2.Response) -> bytes:
    """Return the beginning of an error's body: what arrives soon, at most `ERROR_BYTES`."""
    kept = b""
    # The status is known, and what has come of the body is kept.
    with suppress(httpx2.RequestError, OSError), anyio.move_on_after(ERROR_BODY_S):
        async for part in response.aiter_bytes():
            kept += part[: ERROR_BYTES - len(kept)]
            if len(kept) == ERROR_BYTES:
                break
    return kept
