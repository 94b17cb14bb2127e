"""The provider as tests use it.

A server on a thread of its own, and the journal of what it was asked.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import threading
import time
from collections import deque
from types import TracebackType
from typing import Self

import h11

from tests.fake_provider.clouds import find_cloud_api
from tests.fake_provider.connection import Connection, Outcome
from tests.fake_provider.incoming import Incoming, Json
from tests.fake_provider.responder import APIS, Responder
from tests.fake_provider.steps import Script

SHUTDOWN_S = 5.0
"""Bound of starting and of closing; both take milliseconds."""
BACKLOG = 1024
"""Connections that may wait to be accepted: more than any benchmark opens at once."""


class FakeProvider:
    """A provider on loopback, for as long as the context is open.

    ::

        with FakeProvider([call("get_order", {"id": 7}), say("On its way.")]) as provider:
            anthropic = AsyncAnthropic(base_url=provider.url, api_key="test-key")
            openai = AsyncOpenAI(base_url=provider.url + "/v1", api_key="test-key")
    """

    def __init__(
        self,
        script: Script,
        *,
        latency_s: float = 0.0,
        require_key: str | None = "test-key",
        port: int = 0,
        keep: int | None = None,
    ) -> None:
        """Answer by ``script``, each time after ``latency_s``.

        Args:
            script: Steps by conversation turn, or a function of the request.
            latency_s: Time from a request's last byte to its response, in seconds.
            require_key: The only key that is accepted; ``None`` asks for none, like a local server.
            port: Where to listen on 127.0.0.1; 0 takes a free one.
            keep: How many requests the journal holds, the newest; ``None`` holds all.
        """
        self._responder = Responder(script, require_key)
        self._latency_s = latency_s
        self._port = port
        self._journal: deque[Incoming] = deque(maxlen=keep)
        self._arrival = threading.Condition()
        self._arrived = 0
        self._connections: set[Connection] = set()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="fake-provider", daemon=True)
        self._socket: socket.socket
        self._loop: asyncio.AbstractEventLoop
        self._closing: asyncio.Event
        self._all_closed: asyncio.Event
        self.in_flight = 0
        """Requests under way."""

    @property
    def url(self) -> str:
        """``http://127.0.0.1:PORT``, without ``/v1``."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def journal(self) -> list[Incoming]:
        """Every request so far, in order of arrival, those under way included."""
        with self._arrival:
            return list(self._journal)

    def wait_for_requests(self, count: int, timeout_s: float = 30.0) -> list[Incoming]:
        """Block until ``count`` requests have arrived, and return the journal.

        Raises:
            TimeoutError: they did not.
        """
        with self._arrival:
            if not self._arrival.wait_for(lambda: self._arrived >= count, timeout_s):
                raise TimeoutError(f"{self._arrived} of {count} requests arrived in {timeout_s} s")
        return self.journal

    def __enter__(self) -> Self:
        """Listen."""
        self._socket = socket.create_server(("127.0.0.1", self._port), backlog=BACKLOG)
        self._port = self._socket.getsockname()[1]
        self._thread.start()
        if not self._ready.wait(SHUTDOWN_S):
            raise TimeoutError("the fake provider did not start")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Break off what is under way, close every socket and end the thread."""
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(SHUTDOWN_S)
        if self._thread.is_alive():
            raise TimeoutError("the fake provider did not end")

    # ── On the server's thread ───────────────────────────────────────────────────────────────

    def _serve(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        self._all_closed = asyncio.Event()
        server = await self._loop.create_server(
            lambda: Connection(self), sock=self._socket, backlog=BACKLOG
        )
        self._ready.set()
        await self._closing.wait()
        server.close()
        for connection in list(self._connections):
            connection.abort()
        if self._connections:
            await self._all_closed.wait()
        await server.wait_closed()

    def opened(self, connection: Connection) -> None:
        """Count a connection in."""
        self._connections.add(connection)

    def closed(self, connection: Connection) -> None:
        """Count a connection out."""
        self._connections.discard(connection)
        if self._closing.is_set() and not self._connections:
            self._all_closed.set()

    def receive(self, head: h11.Request, payload: bytes) -> Outcome:
        """Record a request and decide what becomes of it."""
        path, _, query = head.target.decode("ascii").partition("?")
        api = APIS.get(path) or find_cloud_api(path, query)
        self.in_flight += 1
        incoming = Incoming(
            api=api.name if api else "models" if path == "/v1/models" else "other",
            path=path,
            headers={name.decode("ascii"): value.decode("latin-1") for name, value in head.headers},
            body=_json_object(payload),
            received_at=time.monotonic(),
            sequence=self._arrived,
            in_flight=self.in_flight,
            fingerprint=hashlib.blake2b(payload, digest_size=16).digest(),
        )
        if api:
            incoming.read = api.read
        with self._arrival:
            self._journal.append(incoming)
            self._arrived += 1
            self._arrival.notify_all()
        send, whole = self._responder.decide(incoming, api, head.method.decode("ascii"))
        header = api.request_id if api else "x-request-id"
        return Outcome(incoming, send, whole, self._latency_s + send.delay_s, header)

    def finished(self) -> None:
        """Count a request as answered, or given up."""
        self.in_flight -= 1


def _json_object(payload: bytes) -> Json:
    try:
        value = json.loads(payload) if payload else None
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
