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

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import suppress
from typing import Any

import anyio
import httpx2

from harness.base import MAX_REDIRECTS, open_transport, same_request_elsewhere

ERROR_BYTES = 65_536
"""Bytes of an error's body that are read: its beginning says what is wrong."""
# So wide that the limiter of requests decides how many there are, and not the pool.
_LIMITS = httpx2.Limits(max_connections=1_000, max_keepalive_connections=100)
ERROR_BODY_S = 2.0
"""Seconds to wait for the body of an error: its status is what matters."""


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
        super().__init__(transport=open_transport(url, _LIMITS), trust_env=False)
        self._max_bytes = round(max_mb * 1_000_000)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send ``request`` and return the complete response, whatever its status.

        Raises:
            httpx2.RequestError: there is none; including `ReplyTooLarge` and `BrokenConnection`.
        """
        # As a stream, or the client would hold all of a reply before its size is known.
        options |= {"stream": True, "follow_redirects": False}
        response = await super().send(request, **options)
        for _ in range(MAX_REDIRECTS):
            following = same_request_elsewhere(response)
            if following is None:
                break
            # The body of a redirect is not read; its connection goes back to the pool.
            await response.aclose()
            response = await super().send(following, **options)
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
