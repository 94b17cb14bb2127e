"""The connections of every HTTP client: its proxy, its certificates, and localhost.

A client has to be made with ``trust_env=False`` and a transport of here: otherwise it reads the
environment by itself, and asks a model on this machine by way of a proxy.
"""

from __future__ import annotations

import socket

import httpx2

from harness.base.network.loopback import LoopbackTransport
from harness.base.network.proxies import find_proxy, is_localhost
from harness.base.trust_store import load_tls_context

_UNUSED_S = 60
_KEEP_ALIVE = [
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (
            ("TCP_KEEPIDLE", _UNUSED_S),
            ("TCP_KEEPINTVL", _UNUSED_S),
            ("TCP_KEEPCNT", 5),
        )
        if hasattr(socket, name)
    ),
]
"""Without these, a router may forget a connection while a model thinks for minutes."""


def open_transport(url: str, limits: httpx2.Limits) -> httpx2.AsyncBaseTransport:
    """Return the connections to ``url`` and all of its origin, at most ``limits`` of them.

    Raises:
        UsageError: the environment names a proxy or certificates that cannot be used.
    """
    parts, proxy = httpx2.URL(url), find_proxy(url)
    # With an https proxy there are certificates to check even for an http address.
    to_proxy = proxy is not None and proxy.url.lower().startswith("https:")
    # Certificates that the environment names are read only where they count.
    context = load_tls_context(trust_env=to_proxy or parts.scheme == "https")
    transport = httpx2.AsyncHTTPTransport(
        verify=context,
        trust_env=False,
        limits=limits,
        proxy=None
        if proxy is None
        else httpx2.Proxy(proxy.url, ssl_context=context if to_proxy else None),
        socket_options=_KEEP_ALIVE,
    )
    return LoopbackTransport(transport) if is_localhost(parts.host) else transport
