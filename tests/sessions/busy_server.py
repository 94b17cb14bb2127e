"""An MCP server over real HTTP that takes only so much, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness.types import ServerSpec
from tests.clock import PATIENT_S
from tests.support import a_server


@dataclass(frozen=True)
class TurnedAway:
    """An answer that sends a request away."""

    status: int = 429
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Asked:
    """One request that came."""

    method: str
    at_s: float
    """On the clock of `time.monotonic`."""
    beside: int
    """Calls that were under way when it came, itself included."""
    turned_away: bool = False


Verdict = Callable[[str, list[Asked]], TurnedAway | None]
"""Says of a request's method, and of those that came before it, whether it is turned away."""


@dataclass
class Busy:
    """What runs, and what it was asked."""

    url: str
    asked: list[Asked]

    def spec(self, **settings: Any) -> ServerSpec:
        """Return how it is reached."""
        defaults: dict[str, Any] = {
            "name": "busy",
            "transport": "http",
            "url": self.url,
            "protocol": "legacy",
            "start_timeout_s": PATIENT_S,
            "call_timeout_s": PATIENT_S,
        }
        return a_server(**{**defaults, **settings})

    def calls(self) -> list[Asked]:
        """Return the calls that came."""
        return [one for one in self.asked if one.method == "tools/call"]


def after(count: int, turned_away: TurnedAway) -> Verdict:
    """Turn away the first ``count`` calls."""

    def verdict(method: str, before: list[Asked]) -> TurnedAway | None:
        calls = sum(one.method == "tools/call" for one in before)
        return turned_away if method == "tools/call" and calls < count else None

    return verdict


@contextmanager
def busy(verdict: Verdict, works_s: float = 0.0) -> Iterator[Busy]:
    """Run it for the length of the block; a call takes ``works_s``."""
    asked: list[Asked] = []
    lock = threading.Lock()
    under_way = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            nonlocal under_way
            message = json.loads(self.rfile.read(int(self.headers["content-length"])))
            is_call = message["method"] == "tools/call"
            with lock:
                under_way += is_call
                one = Asked(message["method"], time.monotonic(), under_way)
                away = verdict(one.method, list(asked))
                one.turned_away = away is not None
                asked.append(one)
            if is_call and away is None:
                time.sleep(works_s)
            with lock:  # before the answer: whoever has it may send the next call
                under_way -= is_call
            if away is not None:
                self._write(away.status, b"slow down", "text/plain", away.headers)
            elif "id" not in message:
                self._write(202, b"", None, {})
            else:
                answer = {"jsonrpc": "2.0", "id": message["id"], "result": _result(message)}
                self._write(200, json.dumps(answer).encode(), "application/json", {})

        def _write(
            self, status: int, body: bytes, kind: str | None, headers: dict[str, str]
        ) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if kind is not None:
                self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self._write(405, b"", None, {})

        do_DELETE = do_GET  # noqa: N815 - the library's name

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield Busy(f"http://127.0.0.1:{server.server_address[1]}/mcp", asked)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _result(message: dict[str, Any]) -> dict[str, Any]:
    if message["method"] == "initialize":
        return {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "busy", "version": "1"},
        }
    if message["method"] == "tools/list":
        return {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
    return {"content": [{"type": "text", "text": "done"}]}
