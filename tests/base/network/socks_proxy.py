"""A SOCKS5 proxy on loopback that notes what it is asked for."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from socketserver import StreamRequestHandler, ThreadingTCPServer

from tests.base.network.serving import serving

_NOTHING, _PASSWORD = b"\0", b"\2"
_IPV4, _NAME = 1, 3


@dataclass
class SocksProxy:
    """What it was asked for, and where it sends everything."""

    port: int = 0
    asked: list[str] = field(default_factory=list)
    """Hosts and ports, as they came: names, where the client leaves them to the proxy."""
    logins: list[str] = field(default_factory=list)


@contextmanager
def socks_proxying(upstream: int) -> Iterator[SocksProxy]:
    """Run a proxy for the length of the block; port ``upstream`` stands for every address."""
    proxy = SocksProxy()

    class Handler(StreamRequestHandler):
        def _text(self) -> str:
            return self.rfile.read(self.rfile.read(1)[0]).decode()

        def handle(self) -> None:
            self.rfile.read(1)
            offered = self.rfile.read(self.rfile.read(1)[0])
            chosen = _PASSWORD if _PASSWORD in offered else _NOTHING
            self.wfile.write(b"\5" + chosen)
            if chosen == _PASSWORD:
                self.rfile.read(1)
                proxy.logins.append(f"{self._text()}:{self._text()}")
                self.wfile.write(b"\1\0")
            kind = self.rfile.read(4)[3]
            host = self._text() if kind == _NAME else socket.inet_ntoa(self.rfile.read(_IPV4 * 4))
            proxy.asked.append(f"{host}:{int.from_bytes(self.rfile.read(2))}")
            self.wfile.write(b"\5\0\0\1" + bytes(6))
            with socket.create_connection(("127.0.0.1", upstream)) as own:
                answers = threading.Thread(target=self._pass_on, args=(own, self.request))
                answers.start()
                self._pass_on(self.request, own)
                answers.join()

        @staticmethod
        def _pass_on(source: socket.socket, target: socket.socket) -> None:
            try:
                while sent := source.recv(65_536):
                    target.sendall(sent)
                target.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # one of the two has gone

    server = ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy.port = server.server_address[1]
    with serving(server):
        yield proxy
