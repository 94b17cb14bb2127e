"""The HTTP client of one connection: identity headers, redirects, and the meaning of failures.

| event | handling |
|---|---|
| no answer: refused, reset, cut short | `HttpFault` without a status |
| a status other than success | `HttpFault` with the status and the first words of the body |
| a redirect within the origin | followed, `MAX_REDIRECTS` times, if the request stays unchanged |
| any other redirect | `HttpFault`: credentials must not go to another server |
| more than `MAX_MESSAGE_BYTES` | `HttpFault` |

A request that the server may have seen is never sent again. TLS certificates are verified. Proxies
of the environment are used, except for servers on this machine (`harness.base.network`).
"""

from __future__ import annotations

import base64
import os
import re
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote_plus

import anyio
import httpx2

from harness.base import (
    MAX_REDIRECTS,
    find_proxy,
    open_transport,
    retry_after_s,
    same_request_elsewhere,
    url_text,
)
from harness.sessions.identity.delivery import RequestAdditions
from harness.sessions.processes.process import find_shortage
from harness.sessions.transports.frames import MAX_MESSAGE_BYTES
from harness.sessions.transports.http_errors import HttpFault
from harness.types import dataclass

if TYPE_CHECKING:
    from harness.sessions.identity.oauth import OAuthLogin

EXCERPT_S = 0.5
"""Seconds to wait for the body of an error, since only its status is essential."""

IDLE_S = 2.0
"""Seconds that an idle connection is kept: many servers close theirs after 5 s, and a request sent
at that moment would be lost."""

_EXCERPT_BYTES = 100_000
_EXCERPT_CHARS = 300
_READ_FOR_WORDS = 4_000  # bytes; enough to reach the text after the styles of most error pages
_MARKUP = re.compile(r"<(script|style)\b.*?</\1>|</?[A-Za-z!][^<>]*>", re.DOTALL)

IdentityAdditions = Callable[[], Awaitable[RequestAdditions]]
"""Returns what says who asks; called for each request, so that tokens can be renewed."""


@dataclass(frozen=True, slots=True)
class ServerEndpoint:
    """The address of a server, and the headers for it."""

    url: str
    """Its URL, with the port filled in; it may contain secrets."""
    headers: Mapping[str, str]
    """Headers sent with every request; they may be secrets."""
    identity: IdentityAdditions
    """Returns headers and query of the identity, which override `headers` and those of `url`."""
    additions: RequestAdditions = field(default_factory=RequestAdditions)
    """A prober's additions to each request, which the identity's headers override."""
    login: OAuthLogin | None = None
    """The account that is logged in by OAuth, if one is."""


class EndpointClient:
    """Sends requests to the endpoint of one server."""

    def __init__(self, client: httpx2.AsyncClient, url: httpx2.URL) -> None:
        """Use ``client``; URLs are relative to ``url``."""
        self._client = client
        self.url = url

    @asynccontextmanager
    async def exchange_request(
        self, method: str, url: httpx2.URL, **request: Any
    ) -> AsyncGenerator[httpx2.Response]:
        """Send one request and yield its answer, whatever its status, with the body unread.

        Raises:
            HttpFault: there is no answer, or it breaks off within the block.
            OutOfResources: harness has no open file left for it.
        """
        try:
            built = self._client.build_request(method, url, **request)
            async with self._follow_redirects(built) as response:
                yield response
        except httpx2.ConnectError as error:
            if (lack := find_shortage(error, f"reaching {url_text(url)}")) is not None:
                raise lack from error
            proxy = find_proxy(str(url))
            by = f" by the proxy of {proxy.variable}" if proxy else ""
            message = f"cannot be reached at {url_text(url)}{by}: {_find_reason(error)}"
            raise HttpFault(message, gone=True) from error
        except httpx2.TimeoutException as error:  # only requests for a token have a timeout
            asked = url_text(error.request.url)
            raise HttpFault(f"cannot be logged in to: {asked} gave no answer in time") from error
        except httpx2.SSEError as error:
            raise HttpFault(f"sent an event stream that cannot be read: {error}") from error
        except httpx2.DecodingError as error:
            raise HttpFault(f"sent an answer that cannot be decoded: {error}") from error
        except httpx2.HTTPError as error:
            raise HttpFault(f"broke off before it had answered: {_find_reason(error)}") from error

    @asynccontextmanager
    async def _follow_redirects(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Response]:
        response = await self._client.send(request, stream=True)
        for _ in range(MAX_REDIRECTS):
            following = same_request_elsewhere(response)
            if following is None:
                break
            await response.aclose()
            response = await self._client.send(following, stream=True)
        try:
            yield response
        finally:
            # A cancelled call closes its connection, which tells the server that nobody waits.
            with anyio.CancelScope(shield=True):
                await response.aclose()


@asynccontextmanager
async def open_endpoint_client(endpoint: ServerEndpoint) -> AsyncGenerator[EndpointClient]:
    """Run an HTTP client for ``endpoint``, without timeouts: its callers have deadlines."""
    url = httpx2.URL(endpoint.url)
    headers = httpx2.Headers({"user-agent": "harness"})
    # As a header, which the entry may override: messages quote the URL.
    if url.userinfo:
        login = base64.b64encode(f"{url.username}:{url.password}".encode()).decode()
        headers["authorization"] = f"Basic {login}"
        url = url.copy_with(userinfo=b"")
    headers.update(_encode_headers(endpoint.headers))
    # How many requests run at the same time is decided by `Throttle`.
    limits = httpx2.Limits(
        max_connections=None, max_keepalive_connections=None, keepalive_expiry=IDLE_S
    )
    async with httpx2.AsyncClient(
        transport=open_transport(str(url), limits),
        headers=headers,
        auth=_IdentityAuth(endpoint),
        timeout=httpx2.Timeout(None),
        # httpx2 would send a redirected POST as a GET: `_follow_redirects` does not.
        follow_redirects=False,
        # `open_transport` has chosen the proxy of the environment, if one is needed.
        trust_env=False,
    ) as client:
        yield EndpointClient(client, url)


class _IdentityAuth(httpx2.Auth):
    """Adds identity headers to every request, and parameters to its address."""

    def __init__(self, endpoint: ServerEndpoint) -> None:
        self._endpoint = endpoint

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        forged, own = self._endpoint.additions, await self._endpoint.identity()
        request.headers.update(_encode_headers({**forged.headers, **own.headers}))
        if own.query or forged.query:
            request.url = _with_parameters(request.url, own.query, forged.query)
        if self._endpoint.login is None:
            yield request
            return
        flow = self._endpoint.login.authorize(request)
        try:
            outgoing = await anext(flow)
            while True:
                outgoing = await flow.asend((yield outgoing))
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()


def _with_parameters(url: httpx2.URL, own: str, forged: str) -> httpx2.URL:
    """Return ``url`` with these parameters; those of the identity replace others of their names.

    A redirect, or the stream of a server over SSE, may name a URL that has them already.
    """
    names = {name for name, _ in parse_qsl(own, keep_blank_values=True)}
    known = [
        part
        for part in url.query.decode("ascii").split("&")
        if unquote_plus(part.partition("=")[0]) not in names
    ]
    # Servers that take one of several parameters of a name take the last: a forged one.
    query = "&".join(filter(None, (*known, own, forged)))
    return url.copy_with(query=query.encode("ascii"))


async def read_body(response: httpx2.Response) -> bytes:
    """Return the body of an answer.

    Raises:
        HttpFault: it is longer than `MAX_MESSAGE_BYTES`.
    """
    parts, size = [], 0
    async for part in response.aiter_bytes():
        parts.append(part)
        size += len(part)
        if size > MAX_MESSAGE_BYTES:
            raise HttpFault(f"answered with more than {MAX_MESSAGE_BYTES // 1_000_000} MB")
    return b"".join(parts)


async def iterate_events(response: httpx2.Response) -> AsyncIterator[httpx2.ServerSentEvent]:
    """Yield the events of an event stream, each of at most `MAX_MESSAGE_BYTES`."""
    response.encoding = "utf-8-sig"  # such a stream is always UTF-8, and may begin with its mark
    async for event in httpx2.EventSource(response, max_event_size=MAX_MESSAGE_BYTES):
        yield event


async def read_beginning(response: httpx2.Response) -> bytes:
    """Return the beginning of an error's body: what arrives in time, at most `_EXCERPT_BYTES`."""
    kept = b""
    with anyio.move_on_after(EXCERPT_S):
        async for part in response.aiter_bytes():
            kept += part[:_EXCERPT_BYTES]
            if len(kept) >= _EXCERPT_BYTES:
                break
    return kept


async def drain_response(response: httpx2.Response) -> None:
    """Read what a server adds to its acceptance of a message, so that it is not cut off.

    Some servers write that first, and drop the message if they cannot.
    """
    with suppress(httpx2.HTTPError):
        await read_beginning(response)


def build_status_fault(response: httpx2.Response, body: bytes, *, gone: bool = False) -> HttpFault:
    """Return the fault for a status other than success; ``body`` is the beginning of the body."""
    status = f"HTTP {response.status_code} {response.reason_phrase}".strip()
    if response.next_request is not None:
        return HttpFault(
            f"answered {status}: a redirect to {url_text(response.next_request.url)}, which is not "
            "followed",
            status=response.status_code,
        )
    # A 401 may have no body, and says in this header what it wants.
    words = extract_text(body) or response.headers.get("www-authenticate", "")
    said = f": {words[:_EXCERPT_CHARS]}" if words else ""
    return HttpFault(
        f"answered {status}{said}",
        status=response.status_code,
        gone=gone,
        retry_after_s=retry_after_s(response.headers),
    )


def extract_text(body: bytes) -> str:
    """Return the readable text of an error's body, which may be JSON, HTML or text."""
    text = body[:_READ_FOR_WORDS].decode("utf-8", "replace")
    return " ".join(_MARKUP.sub(" ", text).split())


def media_type(response: httpx2.Response) -> str:
    """Return the type of an answer's body, in lower case and without parameters."""
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()


def _encode_headers(headers: Mapping[str, str]) -> httpx2.Headers:
    return httpx2.Headers(
        # As the check of headers allows: printable Latin-1, one byte a character.
        [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    )


def _find_reason(error: Exception) -> str:
    """Return the innermost reason, from the system itself: ``Connection refused``."""
    inner: BaseException = error
    while (cause := inner.__cause__ or inner.__context__) is not None:
        # anyio tries all addresses of a name, and fails with a group: the first stands for all.
        inner = cause.exceptions[0] if isinstance(cause, BaseExceptionGroup) else cause
    if isinstance(inner, ssl.SSLError):
        return f"{getattr(inner, 'verify_message', None) or inner.reason or inner}"
    if isinstance(inner, OSError) and inner.errno:
        # The errors of name resolution have negative numbers, which `strerror` does not know.
        return os.strerror(inner.errno) if inner.errno > 0 else str(inner.strerror)
    return str(error).rstrip(".") or type(error).__name__
