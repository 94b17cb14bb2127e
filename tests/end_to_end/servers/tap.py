"""A tap between harness and a server: it passes everything on, and writes down what crosses.

Over stdio it is a process of its own (``tap.py FILE COMMAND…``); over HTTP, a relay in this one.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

_PASSED_ON = ("content-type", "mcp-session-id")
_HOPS = ("host", "connection", "content-length", "accept-encoding")


@dataclass
class Tap:
    """What crossed, each a JSON-RPC message."""

    url: str
    to_server: list[dict[str, Any]] = field(default_factory=list)
    to_client: list[dict[str, Any]] = field(default_factory=list)


def tapped(path: Path) -> Tap:
    """Return what a tap over stdio has written to ``path``."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return Tap(
        url="",
        to_server=[json.loads(one["line"]) for one in lines if one["to"] == "server"],
        to_client=[json.loads(one["line"]) for one in lines if one["to"] == "client"],
    )


@contextmanager
def relay(port: int) -> Iterator[Tap]:
    """Relay to the HTTP server at ``port``."""

    class Relay(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
            """Say nothing."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            if body:
                tap.to_server.append(json.loads(body))
            headers = {k: v for k, v in self.headers.items() if k.lower() not in _HOPS}
            with closing(http.client.HTTPConnection("127.0.0.1", port)) as upstream:
                upstream.request(self.command, self.path, body, headers)
                with upstream.getresponse() as answer:
                    try:
                        said = answer.read()
                    except http.client.IncompleteRead as cut:
                        # A stream on which a client listens ends when the server does.
                        said = cut.partial
            tap.to_client += _messages(answer.headers.get_content_type(), said.decode())
            self.send_response(answer.status)
            for name in _PASSED_ON:
                if (value := answer.headers.get(name)) is not None:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        do_DELETE = do_POST  # noqa: N815 - the library's name

    with ThreadingHTTPServer(("127.0.0.1", 0), Relay) as server:
        tap = Tap(url=f"http://127.0.0.1:{server.server_port}/mcp")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield tap
        finally:
            server.shutdown()


def _messages(kind: str, said: str) -> list[dict[str, Any]]:
    if kind == "text/event-stream":
        data = (line.removeprefix("data:") for line in said.splitlines() if line[:5] == "data:")
        return [json.loads(one) for one in data if one.strip()]
    return [json.loads(said)] if said.strip() and kind == "application/json" else []


def _pass_on(source: IO[bytes], sink: IO[bytes], to: str, log: IO[str]) -> None:
    for line in source:
        log.write(json.dumps({"to": to, "line": line.decode()}) + "\n")
        log.flush()
        sink.write(line)
        sink.flush()
    sink.close()


def main() -> None:
    """Run the command behind the file, and write down its lines."""
    with Path(sys.argv[1]).open("a", encoding="utf-8") as log:
        server = subprocess.Popen(
            sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        assert server.stdin is not None
        assert server.stdout is not None
        inward = threading.Thread(
            target=_pass_on, args=(sys.stdin.buffer, server.stdin, "server", log), daemon=True
        )
        inward.start()
        _pass_on(server.stdout, sys.stdout.buffer, "client", log)
        server.wait()


if __name__ == "__main__":
    main()
