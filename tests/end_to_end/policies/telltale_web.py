"""A web server that tells all that it is sent.

MCP at ``/mcp``, a model's endpoint at ``/v1``, and a collector.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.base.network.serving import serving
from tests.end_to_end.policies.telltale_server import answer, told


class Web(ThreadingHTTPServer):
    """The server, with what traces it was sent."""

    daemon_threads = True
    traces: list[bytes]

    @property
    def place(self) -> str:
        """Host and port."""
        return f"127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Web

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path.startswith("/v1/traces"):
            self.server.traces.append(body)
            return self._send(200, {})
        seen = told([self.path, *self.headers.values(), body.decode()])
        if not self.path.startswith("/mcp"):
            return self._send(401, {"error": {"message": seen, "type": "invalid_request_error"}})
        request = json.loads(body)
        reply = answer(request, seen)
        return self._send(202 if reply is None else 200, reply)

    def do_GET(self) -> None:
        self._send(405, None)

    def _send(self, status: int, document: object) -> None:
        data = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        pass


@contextmanager
def telltale_web() -> Iterator[Web]:
    """Serve until the end of the block."""
    web = Web(("127.0.0.1", 0), _Handler)
    web.traces = []
    with serving(web):
        yield web
