"""The page's server process; when it ends, it interrupts every run and completes every log."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from uvicorn.server import HANDLED_SIGNALS

from harness.base import HarnessError, UsageError
from harness.web import ended_runs
from harness.web.evaluations import Evaluations, respond_refusal
from harness.web.jobs import RunQueue
from harness.web.pages import Pages
from harness.web.project_suites import ProjectSuites
from harness.web.requests import Guard, error_response
from harness.web.settings import Settings
from harness.web.viewer_endpoints import ViewerEndpoints


def make_app(board: RunQueue, settings: Settings) -> Starlette:
    """Return the application over ``board``."""
    evaluations = Evaluations(board, settings)
    return Starlette(
        routes=[
            # Before those of a run, which would take these addresses as well.
            *ProjectSuites(board, settings, evaluations.catalog).routes(),
            *evaluations.routes(),
            *ended_runs.make_routes(settings),
            *ViewerEndpoints(board, settings).routes(),
            *Pages(settings).routes(),
        ],
        middleware=[Middleware(Guard, settings=settings)],
        exception_handlers={HTTPException: _respond_error, HarnessError: respond_refusal},
    )


def _respond_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = {
        **(error.headers or {}),
        # What is left of a body that is too large is not read, so nothing else can follow on its
        # connection.
        **({"connection": "close"} if error.status_code == 413 else {}),  # noqa: PLR2004
    }
    return error_response(request.headers, error.status_code, error.detail, headers)


BACKLOG = 1024
GARBAGE = (700, 10, 10)
"""Python's default garbage thresholds: those of short commands would let a long-lived page grow."""
GOODBYE_S = 5
"""Seconds for connections to close after every run has ended."""


def serve(settings: Settings, tell: Callable[[str], None]) -> None:
    """Serve until Ctrl-C or SIGTERM; ``tell`` is called with the address when it listens.

    Raises:
        UsageError: the address cannot be listened on.
    """
    gc.set_threshold(*GARBAGE)
    listener = _open_listener(settings)
    # The socket listens by now: whoever is faster than the server waits in its backlog.
    tell(_format_address(listener, settings))
    ended_by = asyncio.run(_serve(settings, listener))
    # As if the signal had not been handled: whoever started the page sees what ended it.
    if ended_by == signal.SIGINT:
        raise KeyboardInterrupt
    if ended_by is not None:
        signal.raise_signal(ended_by)


async def _serve(settings: Settings, listener: socket.socket) -> signal.Signals | None:
    async with RunQueue(settings) as board:
        config = uvicorn.Config(
            make_app(board, settings),
            log_level="warning",
            access_log=False,  # it would contain the token of the first link
            lifespan="off",
            server_header=False,
            proxy_headers=False,
            ws="none",
            timeout_graceful_shutdown=GOODBYE_S,
        )
        server = _PageServer(config, board)
        await server.serve(sockets=[listener])
    return server.ended_by


class _PageServer(uvicorn.Server):
    """Ends the runs first, so that listeners still get their last events."""

    def __init__(self, config: uvicorn.Config, board: RunQueue) -> None:
        super().__init__(config)
        self._board = board
        self._closing: asyncio.Task[None] | None = None
        self.ended_by: signal.Signals | None = None
        """The first signal that ended the server."""

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal.

        The caller raises it anew, after the event loop: in its midst it can get lost.
        """
        # In place of uvicorn's own `serve`, which raises them again before the event loop has
        # ended.
        before = {one: signal.signal(one, self.handle_exit) for one in HANDLED_SIGNALS}
        try:
            await self._serve(sockets)
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self.ended_by = self.ended_by or signal.Signals(sig)
        if (
            sig == signal.SIGINT
            and self._captured_signals.count(signal.SIGINT) > 1
            and self._closing is not None
        ):
            self._closing.cancel()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Runs first: uvicorn then closes connections, and listeners would not hear how they ended.
        self._closing = asyncio.ensure_future(self._board.close())
        # `wait` does not raise if a second Ctrl-C has cancelled it.
        await asyncio.wait([self._closing])
        await super().shutdown(sockets)


def _open_listener(settings: Settings) -> socket.socket:
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"{settings.host}:{settings.port} cannot be listened on: {reason}",
            meant="Choose another port, for example --port 8001.",
        ) from error


def _format_address(listener: socket.socket, settings: Settings) -> str:
    port = listener.getsockname()[1]
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    query = f"?token={settings.token}" if settings.token else ""
    return f"http://{host}:{port}/evaluation{query}"
