"""The connections of every HTTP client: its proxy, its certificates, localhost and redirects.

A client has to be made with ``trust_env=False`` and a transport of here: otherwise it reads the
environment by itself, and asks a model on this machine by way of a proxy.
"""

from __future__ import annotations

import os
import socket
import ssl
from functools import cache

import httpx2

from harness.base.errors import UsageError
from harness.base.network import LOCALHOST, find_proxy, is_localhost

_NAMES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Environment variables that name certificates; the first that is set counts."""


@cache
def load_tls_context(*, trust_env: bool = True) -> ssl.SSLContext:
    """Return the TLS trust store; read once, since that takes longer than a whole trial.

    With ``trust_env``, the environment may name other certificates, as for all OpenSSL programs.

    Raises:
        UsageError: what the environment names cannot be read.
    """
    try:
        if trust_env:
            _require_folders()
        return httpx2.create_ssl_context(trust_env=trust_env)
    except OSError as error:  # among them ssl.SSLError
        name = _naming_variable()
        where = f"${name} ({os.environ[name]})" if name else "this machine"
        message = f"the certificates of {where} cannot be read: {error.strerror or error}"
        meant = (
            f"Name certificates in PEM, or unset {name}." if name else "Install ca-certificates."
        )
        raise UsageError(message, meant=meant) from error


def named_certificates() -> str | None:
    """Return the file or folder of certificates that the environment names; ``None`` without."""
    name = _naming_variable()
    return os.environ[name] if name else None


def _naming_variable() -> str | None:
    return next((name for name in _NAMES if os.environ.get(name)), None)


def _require_folders() -> None:
    """Refuse folders that do not exist, which OpenSSL takes for empty ones."""
    if _naming_variable() == "SSL_CERT_DIR":
        for folder in os.environ["SSL_CERT_DIR"].split(os.pathsep):
            # Opened and not only looked at: one that cannot be read has no certificates either.
            os.scandir(folder).close()


class LoopbackTransport(httpx2.AsyncBaseTransport):
    """Sends requests to localhost."""

    def __init__(self, transport: httpx2.AsyncBaseTransport) -> None:
        """Use the connections of ``transport``."""
        self._transport = transport

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send ``request``; to the other addresses if nobody listens where the name leads.

        Raises:
            httpx2.ConnectError: nobody listens at any of them.
        """
        try:
            return await self._transport.handle_async_request(request)
        except httpx2.ConnectError:
            # The request was never sent, so it may be sent again.
            for address in LOCALHOST:
                try:
                    there = _retarget_request(address, request)
                    return await self._transport.handle_async_request(there)
                except httpx2.ConnectError:
                    continue
            raise

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()


def _retarget_request(address: str, request: httpx2.Request) -> httpx2.Request:
    """Return ``request`` for ``address``; its headers and its certificate are those of the name."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        # Otherwise the certificate would be checked against the address.
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )


_UNUSED_S = 60
_TCP_OPTIONS = {"TCP_KEEPIDLE": _UNUSED_S, "TCP_KEEPINTVL": _UNUSED_S, "TCP_KEEPCNT": 5}
_KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in _TCP_OPTIONS.items()
        if hasattr(socket, name)
    ),
]
"""Without these, a router may forget a connection while a model thinks for minutes."""


def open_transport(url: str, limits: httpx2.Limits) -> httpx2.AsyncBaseTransport:
    """Return the connections to ``url`` and all of its origin, at most ``limits`` of them.

    Raises:
        UsageError: the environment names a proxy or certificates that cannot be used.
    """
    parts = httpx2.URL(url)
    through, context = _read_route(parts)
    transport = httpx2.AsyncHTTPTransport(
        verify=context,
        trust_env=False,
        limits=limits,
        proxy=through,
        socket_options=_KEEP_ALIVE,
    )
    return LoopbackTransport(transport) if is_localhost(parts.host) else transport


def check_route(url: str) -> None:
    """Check that the environment names no proxy or certificates that ``url`` cannot use.

    Raises:
        UsageError: it names one.
    """
    _read_route(httpx2.URL(url))


def _read_route(url: httpx2.URL) -> tuple[httpx2.Proxy | None, ssl.SSLContext]:
    proxy = find_proxy(str(url))
    # With an https proxy there are certificates to check even for an http address.
    to_proxy = proxy is not None and proxy.url.lower().startswith("https:")
    # Certificates that the environment names are read only where they count.
    context = load_tls_context(trust_env=to_proxy or url.scheme == "https")
    if proxy is None:
        return None, context
    return httpx2.Proxy(proxy.url, ssl_context=context if to_proxy else None), context


MAX_REDIRECTS = 3
"""Maximum number of redirects of one request; one is enough for a missing slash."""


def same_origin(one: httpx2.URL, other: httpx2.URL) -> bool:
    """Whether both URLs are on one server."""
    return (one.scheme, one.host, one.port) == (other.scheme, other.host, other.port)


def same_request_elsewhere(response: httpx2.Response) -> httpx2.Request | None:
    """Return the request that follows a redirect to the same origin with the same method."""
    following, sent = response.next_request, response.request
    # A POST that becomes a GET loses its body; a user in the URL is a login that is not ours.
    if following is None or following.method != sent.method or following.url.userinfo:
        return None
    return following if same_origin(sent.url, following.url) else None


def url_text(url: httpx2.URL) -> str:
    """Return ``url`` as messages show it: without what may be a secret."""
    return str(url.copy_with(userinfo=b"", query=None, fragment=None))
