"""An HTTP server on loopback, with an address for each session that is served.

The address contains a token of 256 bits, without which no session can be reached.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from harness.agents.proxy.forwarding import open_forwarding
from harness.agents.proxy.recording import Recording
from harness.sessions import Session

HOST = "127.0.0.1"
GOODBYE_S = 1
"""Seconds that connections get to close at the end."""
_WELL_KNOWN = ".well-known"
# A page in the user's browser must not reach a session by a name for this machine.
_SECURITY = TransportSecuritySettings(
    enable_dns_rebinding_protection=True,
    allowed_hosts=[f"{HOST}:*", "localhost:*"],
    allowed_origins=[f"http://{HOST}:*", "http://localhost:*"],
)


class Listener:
    """Serves sessions, each at an address of its own; made by `open_listener`."""

    def __init__(self, port: int) -> None:
        """Listen on ``port`` of loopback."""
        self.port = port
        """Its address."""
        self._apps: dict[str, StreamableHTTPASGIApp] = {}
        self.strangers = 0
        """Requests without the token of a session, which were refused."""

    @asynccontextmanager
    async def serve(
        self, session: Session, recording: Recording, max_calls: int
    ) -> AsyncGenerator[str]:
        """Serve ``session`` for the length of the block, and yield its URL.

        Its calls go to ``recording``; at most ``max_calls`` are sent.
        """
        token = secrets.token_urlsafe(32)
        async with open_forwarding(session, recording, max_calls) as server:
            manager = StreamableHTTPSessionManager(app=server, security_settings=_SECURITY)
            async with manager.run():
                self._apps[token] = StreamableHTTPASGIApp(manager)
                try:
                    yield f"http://{HOST}:{self.port}/{token}/mcp"
                finally:
                    del self._apps[token]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request, as an ASGI application."""
        if scope["type"] != "http":
            return
        _, token, *rest = f"{scope['path']}/".split("/")
        app = self._apps.get(token)
        if app is None:
            # Clients look here for an authorization server, whoever they are.
            self.strangers += token != _WELL_KNOWN
            refusal = PlainTextResponse("No session has this address.\n", status_code=401)
            await refusal(scope, receive, send)
        elif rest[:1] != ["mcp"]:
            await PlainTextResponse("Not found.\n", status_code=404)(scope, receive, send)
        else:
            await app(scope, receive, send)


@asynccontextmanager
async def open_listener() -> AsyncGenerator[Listener]:
    """Listen on a free port of loopback for the length of the block."""
    # Listens before the server runs, so the address is valid at once.
    with socket.create_server((HOST, 0), backlog=128) as sock:
        listener = Listener(sock.getsockname()[1])
        server = _EmbeddedServer(
            uvicorn.Config(
                listener,
                log_config=None,
                access_log=False,  # it would contain the tokens
                lifespan="off",
                server_header=False,
                proxy_headers=False,
                ws="none",
                timeout_graceful_shutdown=GOODBYE_S,
            )
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [sock])
            try:
                yield listener
            finally:
                server.should_exit = True


class _EmbeddedServer(uvicorn.Server):
    """A server within another program, which handles signals itself."""

    async def serve(self, sockets: Any = None) -> None:
        """Serve until it should exit."""
        # The public method would install its own handlers first.
        await self._serve(sockets)
