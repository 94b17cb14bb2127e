"""One HTTP/1.1 connection: raw asyncio and h11, so that responses can be reset, stalled and cut."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from typing import NamedTuple, Protocol

import h11

from tests.fake_provider.incoming import Incoming
from tests.fake_provider.steps import Broken, Http
from tests.fake_provider.streaming.events import EventStream

_LOOK_S = 0.01
"""Between two looks at whether a response that is held may go."""


class Outcome(NamedTuple):
    """What is sent in response to a request."""

    incoming: Incoming
    send: Http | Broken
    whole: Http
    """The complete response, of which a broken one sends a part."""
    delay_s: float
    request_id_header: str


class Host(Protocol):
    """What a connection tells its server, and asks of it."""

    def opened(self, connection: Connection) -> None:
        """Count a connection in."""
        ...

    def closed(self, connection: Connection) -> None:
        """Count a connection out."""
        ...

    def receive(self, head: h11.Request, payload: bytes) -> Outcome:
        """Record a request and decide what becomes of it."""
        ...

    def finished(self) -> None:
        """Count a request as answered, or given up."""
        ...


class Connection(asyncio.Protocol):
    """One client connection: requests come one after the other, and so do their responses."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._http = h11.Connection(h11.SERVER)
        self._transport: asyncio.Transport
        self._head: h11.Request | None = None
        self._payload: list[bytes] = []
        self._timer: asyncio.TimerHandle | None = None
        self._answering = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._host.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer:
            self._timer.cancel()
        self._finished()
        self._host.closed(self)

    def abort(self) -> None:
        """Drop the connection now."""
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._http.receive_data(data)
        self._advance()

    def eof_received(self) -> bool | None:
        return False

    def _advance(self) -> None:
        """Take events until a response is under way or more bytes are needed."""
        while not self._answering and not self._transport.is_closing():
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError:
                self._transport.close()
                return
            if isinstance(event, h11.Request):
                self._head, self._payload = event, []
            elif isinstance(event, h11.Data):
                self._payload.append(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                self._answer()
            else:
                return

    def _answer(self) -> None:
        assert self._head is not None
        self._answering = True
        outcome = self._host.receive(self._head, b"".join(self._payload))
        if outcome.delay_s > 0:
            self._timer = asyncio.get_running_loop().call_later(
                outcome.delay_s, self._send, outcome
            )
        else:
            self._send(outcome)

    def _send(self, outcome: Outcome) -> None:
        self._timer = None
        held = outcome.whole.held
        if held is not None and not held.is_set():
            self._timer = asyncio.get_running_loop().call_later(_LOOK_S, self._send, outcome)
            return
        head, parts = self._serialise(outcome)
        if isinstance(outcome.send, Broken):
            self._send_part(outcome.send, head, b"".join(parts))
            return
        outcome.incoming.status = outcome.send.status
        end = self._http.send(h11.EndOfMessage()) or b""
        self._finished()  # before the client can know
        for part in (head + parts[0], *parts[1:], end):
            self._transport.write(part)
        if self._http.our_state is h11.MUST_CLOSE:
            self._transport.close()
        else:
            self._http.start_next_cycle()
            self._advance()

    def _send_part(self, broken: Broken, head: bytes, body: bytes) -> None:
        if (
            broken.after_bytes is not None
        ):  # at least one byte short, or the response would be whole
            self._transport.write(head + body[: min(broken.after_bytes, len(body) - 1)])
        if broken.how == "reset":
            self._reset()

    def _serialise(self, outcome: Outcome) -> tuple[bytes, list[bytes]]:
        """Return the head and the parts of the body, as they go over the wire."""
        whole = outcome.whole
        parts, told = _body(whole)
        given = {name.lower(): value for name, value in whole.headers.items()}
        headers = {
            "content-type": "application/json",
            outcome.request_id_header: f"req_{outcome.incoming.sequence:08d}",
            **given,
            **told,
        }
        head = self._http.send(
            h11.Response(status_code=whole.status, headers=list(headers.items()), reason=b"")
        )
        if self._head is not None and self._head.method == b"HEAD":
            return head or b"", [b""]
        return head or b"", [self._http.send(h11.Data(data=part)) or b"" for part in parts]

    def _reset(self) -> None:
        """Close with a TCP reset instead of the orderly end.

        No linger, and what is unsent is lost.
        """
        sock: socket.socket = self._transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def _finished(self) -> None:
        if self._answering:
            self._answering = False
            self._host.finished()


def _body(whole: Http) -> tuple[tuple[bytes, ...], dict[str, str]]:
    """Return the parts of a body, and the headers that tell its kind and length."""
    if isinstance(whole.body, EventStream):
        return whole.body.parts, {
            "content-type": "text/event-stream; charset=utf-8",
            "cache-control": "no-cache",
            "transfer-encoding": "chunked",
        }
    body = whole.body
    if not isinstance(body, bytes):
        text = body if isinstance(body, str) else json.dumps(body)
        body = text.encode("utf-8", "surrogatepass")
    return (body,), {"content-length": str(len(body))}
