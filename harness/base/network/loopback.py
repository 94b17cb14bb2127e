"""Connections to localhost, at whichever of its two addresses a server listens."""

from __future__ import annotations

import httpx2

from harness.base.network.proxies import LOCALHOST


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
                    return await self._transport.handle_async_request(
                        _retarget_request(address, request)
                    )
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
