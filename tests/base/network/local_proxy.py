"""An HTTP proxy on loopback that notes what it is asked for."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from tests.base.network.serving import serving


@dataclass
class LocalProxy:
    """What it was asked for, and where it sends everything."""

    port: int = 0
    upstream: int | None = None
    """A port of this machine that stands for every address; without one, all is refused."""
    asked: list[str] = field(default_factory=list)
    """Targets of requests, as they came."""
    logins: list[str | None] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def proxying(upstream: int | None = None) -> Iterator[LocalProxy]:
    """Run a proxy for the length of the block."""
    proxy = LocalProxy(upstream=upstream)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def _refuse(self) -> None:
            self._note()
            self.close_connection = True
            self.send_response(418)
            self.send_header("content-length", "0")
            self.end_headers()

        def _note(self) -> None:
            proxy.asked.append(self.path)
            proxy.logins.append(self.headers.get("proxy-authorization"))

        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            if proxy.upstream is None:
                self._refuse()
                return
            self._note()
            parts = urlsplit(self.path)
            target = f"{parts.path}?{parts.query}" if parts.query else parts.path
            own = http.client.HTTPConnection("127.0.0.1", proxy.upstream, timeout=10)
            own.request(self.command, target, body, dict(self.headers))
            answer = own.getresponse()
            content = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            own.close()

        do_CONNECT = _refuse  # noqa: N815 - the names of the standard library
        do_GET = do_POST = do_DELETE = _pass_on  # noqa: N815 - as above

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy.port = server.server_address[1]
    with serving(server):
        yield proxy
