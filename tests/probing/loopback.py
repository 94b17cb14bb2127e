"""An HTTP server on loopback for a test that says how it answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.clock import BOUND_S


class QuietHandler(BaseHTTPRequestHandler):
    """What all handlers share: persistent connections, and no words on stderr."""

    protocol_version = "HTTP/1.1"
    timeout = 10
    disable_nagle_algorithm = True  # head and body are written one by one

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def on_loopback(handler: type[QuietHandler]) -> Iterator[str]:
    """Serve for the length of the block, and yield the URL of the MCP endpoint."""
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
        server.shutdown()
        thread.join(BOUND_S)
