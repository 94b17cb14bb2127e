"""An MCP server over HTTP without any SDK that misbehaves on request; starts in some 50 ms.

``PORT=8000 python bad_http_server.py MODE [anything to find the process by]``

The mode says how the process starts and ends, the path of the URL what goes wrong with every
request, and the tool that is called what goes wrong with a call. ``GET /seen`` returns the requests
that came so far.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

MODE = sys.argv[1] if len(sys.argv) > 1 else "good"
PORT = int(os.environ.get("PORT", "0"))
STARTED = time.monotonic()
JSON = "application/json"
STREAM = "text/event-stream"
REASONS = {
    200: "OK",
    202: "Accepted",
    307: "Temporary Redirect",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
}
REASONS |= {
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
}

seen: list[dict[str, Any]] = []
expired: set[str] = set()
slowly_started: list[bool] = []
streams: dict[str, asyncio.StreamWriter] = {}


class Exchange:
    """One request, and the means to answer it well or badly."""

    def __init__(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.method, self.path, self.headers, self.writer = method, path, headers, writer
        self.message: dict[str, Any] = json.loads(body) if body else {}
        self.is_last = False

    def head(self, status: int, kind: str | None, **more: str) -> None:
        self.is_last = "connection" in more
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, '')}"]
        if kind is not None:
            lines.append(f"content-type: {kind}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in more.items()]
        self.writer.write("\r\n".join([*lines, "", ""]).encode())

    def reply(self, status: int, body: bytes = b"", kind: str | None = JSON, **more: str) -> None:
        self.head(status, kind, content_length=str(len(body)), **more)
        self.writer.write(body)

    def result(self, result: Any, **more: str) -> None:
        self.reply(200, self.frame(result=result), **more)

    def frame(self, **content: Any) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": self.message.get("id"), **content}).encode()

    def event(self, data: bytes, event_id: str = "") -> None:
        self.writer.write(
            (f"id: {event_id}\n" if event_id else "").encode() + b"data: " + data + b"\n\n"
        )

    def hang_up(self) -> None:
        connection = self.writer.get_extra_info("socket")
        connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )  # reset, not closed
        self.writer.transport.abort()


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}], **more}


# ── calls ────────────────────────────────────────────────────────────────────────────────────


async def echo(exchange: Exchange) -> None:
    params = exchange.message["params"]
    exchange.result(
        text(json.dumps(params["arguments"]), structuredContent={"headers": exchange.headers})
    )


async def reset(exchange: Exchange) -> None:
    exchange.hang_up()


async def cut_body(exchange: Exchange) -> None:
    exchange.head(200, JSON, content_length="1000")
    exchange.writer.write(b'{"jsonrpc": "2.0"')
    await exchange.writer.drain()
    exchange.hang_up()


async def stall(exchange: Exchange) -> None:
    await asyncio.sleep(60)


async def stall_body(exchange: Exchange) -> None:
    exchange.head(200, JSON, content_length="1000")
    exchange.writer.write(b'{"jsonrpc": "2.0"')
    await exchange.writer.drain()
    await asyncio.sleep(60)


async def drip(exchange: Exchange) -> None:
    exchange.head(200, STREAM, connection="close")
    while not exchange.writer.is_closing():
        exchange.writer.write(b": still there\n\n")
        await asyncio.sleep(0.02)


async def garbage(exchange: Exchange) -> None:
    exchange.reply(200, b"{not json")


async def html(exchange: Exchange) -> None:
    exchange.reply(200, b"<html><body>Please log in</body></html>", "text/html; charset=utf-8")


async def untyped(exchange: Exchange) -> None:
    exchange.reply(200, exchange.frame(result=text("")), None)


async def null_result(exchange: Exchange) -> None:
    exchange.reply(200, exchange.frame(result=None))


async def not_a_number(exchange: Exchange) -> None:
    exchange.reply(200, exchange.frame(result=text("", structuredContent={"x": float("nan")})))


async def wrong_id(exchange: Exchange) -> None:
    exchange.message["id"] = 4711
    exchange.result(text("mine all the same"))


async def accepted(exchange: Exchange) -> None:
    exchange.reply(202, kind=None)


async def empty_batch(exchange: Exchange) -> None:
    exchange.reply(200, b"[]")


async def notified(exchange: Exchange) -> None:
    exchange.reply(200, b'{"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}')


async def large(exchange: Exchange) -> None:
    exchange.result(text("x" * 20_000_000))


async def bomb(exchange: Exchange) -> None:
    exchange.reply(200, gzip.compress(b" " * 20_000_000), content_encoding="gzip")


async def endless(exchange: Exchange) -> None:
    exchange.head(200, JSON, connection="close")
    while not exchange.writer.is_closing():
        exchange.writer.write(b" " * 1_000_000)
        await exchange.writer.drain()


async def endless_event(exchange: Exchange) -> None:
    exchange.head(200, STREAM, connection="close")
    exchange.writer.write(b"data: ")
    while not exchange.writer.is_closing():
        exchange.writer.write(b"x" * 1_000_000)
        await exchange.writer.drain()


async def in_events(exchange: Exchange) -> None:
    exchange.head(200, STREAM, connection="close")
    exchange.event(b"")
    exchange.event(b"connected")
    exchange.event(b'{"type": "ping"}')
    exchange.event(b'{"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}')
    exchange.event(b'{"jsonrpc": "2.0", "id": "theirs", "method": "ping"}')
    exchange.event(exchange.frame(result=text("at last")))
    await exchange.writer.drain()
    await asyncio.sleep(60)


async def bad_event(exchange: Exchange) -> None:
    exchange.head(200, STREAM, connection="close")
    exchange.event(b"{not json")


async def no_event(exchange: Exchange) -> None:
    exchange.head(200, STREAM, connection="close")
    exchange.event(b'{"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}')


async def resumable(exchange: Exchange) -> None:
    exchange.head(200, STREAM, connection="close")
    exchange.writer.write(b"retry: 10\n")
    exchange.event(b"", event_id=f"answer-{exchange.message['id']}")


async def broken(exchange: Exchange) -> None:
    await resumable(exchange)
    await exchange.writer.drain()
    await asyncio.sleep(0.05)  # the client has the number of the event before the reset
    exchange.hang_up()


async def never_resumed(exchange: Exchange) -> None:
    exchange.head(200, STREAM, connection="close")
    exchange.writer.write(b"retry: 10\n")
    exchange.event(b"", event_id="nothing")


async def elsewhere(exchange: Exchange) -> None:
    exchange.reply(307, kind=None, location=f"http://localhost:{PORT}/good?token=secret-in-a-query")


async def next_door(exchange: Exchange) -> None:
    exchange.reply(307, kind=None, location="/good")


async def loop(exchange: Exchange) -> None:
    exchange.reply(307, kind=None, location=exchange.path)


async def as_get(exchange: Exchange) -> None:
    exchange.reply(303, kind=None, location="/good")


async def expire(exchange: Exchange) -> None:
    expired.add(exchange.headers.get("mcp-session-id", ""))
    exchange.reply(404, exchange.frame(error={"code": -32600, "message": "Session not found"}))


async def expire_in_200(exchange: Exchange) -> None:
    expired.add(exchange.headers.get("mcp-session-id", ""))
    exchange.reply(200, exchange.frame(error={"code": -32001, "message": "Session not found"}))


async def expire_in_event(exchange: Exchange) -> None:
    expired.add(exchange.headers.get("mcp-session-id", ""))
    exchange.head(200, STREAM, connection="close")
    exchange.event(exchange.frame(error={"code": -32001, "message": "session expired"}), "e1")


async def expire_as_refusal(exchange: Exchange) -> None:
    expired.add(exchange.headers.get("mcp-session-id", ""))
    exchange.reply(401, b"Unauthorized: Session not found", "text/plain")


async def expire_as_bad_request(exchange: Exchange) -> None:
    expired.add(exchange.headers.get("mcp-session-id", ""))
    exchange.reply(400, b'{"error": "Bad Request: No valid session ID provided"}')


async def login_expired(exchange: Exchange) -> None:
    exchange.reply(401, b"Your session has expired, please log in", "text/plain")


async def no_such_resource(exchange: Exchange) -> None:
    exchange.reply(404, exchange.frame(error={"code": -32002, "message": "Resource not found"}))


async def unauthorized_in_200(exchange: Exchange) -> None:
    exchange.reply(200, exchange.frame(error={"code": -32001, "message": "Unauthorized"}))


async def marked_events(exchange: Exchange) -> None:
    exchange.head(200, STREAM, connection="close")
    exchange.writer.write(b"\xef\xbb\xbf")
    exchange.event(exchange.frame(result=text("behind a mark")))


async def two_messages(exchange: Exchange) -> None:
    notice = b'{"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": 1}}'
    exchange.reply(200, notice + exchange.frame(result=text("glued")))


async def die(exchange: Exchange) -> None:
    sys.stderr.write("out of memory (not really)\n")
    sys.stderr.flush()
    os._exit(7)


async def refused(exchange: Exchange) -> None:
    exchange.reply(403, exchange.frame(error={"code": -32001, "message": "only for admins"}))


async def own_error(exchange: Exchange) -> None:
    exchange.reply(500, exchange.frame(error={"code": -32603, "message": "the query is wrong"}))


async def too_many(exchange: Exchange) -> None:
    exchange.reply(429, exchange.frame(error={"code": -32000, "message": "slow down"}))


async def loud(exchange: Exchange) -> None:
    page = b"<html><style>p {color: red}</style><h1>Sorry</h1><p>Nothing to see here</p></html>"
    exchange.reply(500, page, "text/html")


async def stall_error(exchange: Exchange) -> None:
    exchange.head(401, JSON, content_length="1000", www_authenticate='Bearer error="invalid_token"')
    await exchange.writer.drain()
    await asyncio.sleep(60)


Reply = Callable[[Exchange], Awaitable[None]]
CALLS: dict[str, Reply] = {
    function.__name__: function
    for function in (
        echo, reset, cut_body, stall, stall_body, drip, garbage, html, untyped, null_result,
        not_a_number, wrong_id, accepted, empty_batch, notified, large, bomb, endless,
        endless_event, in_events, bad_event, no_event, resumable, broken, never_resumed, elsewhere,
        next_door, loop, as_get, expire, expire_in_200, expire_in_event, expire_as_refusal,
        expire_as_bad_request, login_expired, no_such_resource, unauthorized_in_200,
        marked_events, two_messages, die, refused, own_error, too_many, loud, stall_error,
    )
}  # fmt: skip
STATUSES = ("400", "401", "403", "404", "429", "500", "502", "503")


# ── requests ─────────────────────────────────────────────────────────────────────────────────


async def serve(exchange: Exchange) -> None:
    mode = exchange.path.strip("/").partition("?")[0]
    if exchange.method == "GET":
        await get(exchange, mode)
    elif exchange.method == "DELETE":
        exchange.reply(200, kind=None)
    elif mode == "post":
        await post(exchange)
    elif mode in STATUSES:
        await status(exchange, mode)
    elif mode == "late" and time.monotonic() - STARTED < float(os.environ.get("LATE_S", "0.3")):
        exchange.reply(503, b"still starting", "text/plain")
    elif mode in CALLS:
        await CALLS[mode](exchange)
    elif mode == "crashes" and exchange.message.get("method") == "server/discover":
        exchange.hang_up()
    else:
        await answer(exchange, mode)


async def status(exchange: Exchange, code: str) -> None:
    exchange.reply(int(code), f"status {code}".encode(), "text/plain")


async def get(exchange: Exchange, mode: str) -> None:
    if mode == "seen":
        exchange.reply(200, json.dumps(seen).encode())
    elif mode.startswith("sse"):
        await stream(exchange, mode)
    elif mode.startswith("get-"):
        what = mode.removeprefix("get-")
        await (CALLS[what](exchange) if what in CALLS else status(exchange, what))
    elif exchange.headers.get("last-event-id", "").startswith("answer-"):
        exchange.message["id"] = int(exchange.headers["last-event-id"].removeprefix("answer-"))
        exchange.head(200, STREAM, connection="close")
        exchange.event(exchange.frame(result=text("resumed")))
    else:
        exchange.reply(405, kind=None)


async def stream(exchange: Exchange, mode: str) -> None:
    """Open an event stream of the older form, whose answers ``post`` writes into."""
    key = f"stream{len(streams)}"
    streams[key] = exchange.writer
    exchange.head(200, STREAM, connection="close")
    where = f"http://localhost:{PORT}/post" if mode == "sse-foreign" else f"/post?{key}"
    if mode != "sse-silent":
        exchange.writer.write(f"event: endpoint\ndata: {where}\n\n".encode())
    await exchange.writer.drain()
    while not exchange.writer.is_closing():  # noqa: ASYNC110 - it ends when the client goes
        await asyncio.sleep(0.02)


async def post(exchange: Exchange) -> None:
    """Take a request of the older form: its answer goes into the stream."""
    events = streams[exchange.path.partition("?")[2]]
    name = (exchange.message.get("params") or {}).get("name")
    if name in STATUSES:
        await status(exchange, name)
        return
    if name == "reset":
        exchange.hang_up()
        return
    if name == "expire":
        exchange.reply(404, b"Could not find session", "text/plain")
        return
    exchange.reply(202, b"Accepted", "text/plain")
    await exchange.writer.drain()
    if name == "no_event":
        events.close()
    elif name == "bad_event":
        events.write(b"event: message\ndata: {not json\n\n")
    elif "id" in exchange.message:
        sent = json.dumps(exchange.message).encode()
        inner = Exchange("POST", "", exchange.headers, sent, Buffer())  # type: ignore[arg-type]
        await answer(inner, "good")
        events.write(b"event: message\ndata: " + inner.writer.body + b"\n\n")  # type: ignore[attr-defined]
        await events.drain()


class Buffer:
    """Keeps what an answer over plain HTTP would write, without its head."""

    def __init__(self) -> None:
        self.body = b""

    def write(self, data: bytes) -> None:
        self.body = data


async def answer(exchange: Exchange, mode: str) -> None:
    method = exchange.message.get("method")
    session = {"mcp_session_id": f"s{len(seen)}"} if mode == "sessions" else {}
    if exchange.headers.get("mcp-session-id") in expired:
        exchange.reply(404, exchange.frame(error={"code": -32600, "message": "Session not found"}))
    elif method == "initialize":
        version = exchange.message["params"]["protocolVersion"]
        info = {
            "protocolVersion": version,
            "capabilities": {},
            "serverInfo": {"name": "bad", "version": "1"},
        }
        exchange.result(info, **session)
    elif method == "tools/list" and mode == "choosy" and "clerk" in json.dumps(exchange.message):
        exchange.reply(403, b"not for clerks", "text/plain")
    elif method == "tools/list" and mode == "choosy" and "temp" in json.dumps(exchange.message):
        exchange.reply(200, exchange.frame(error={"code": -32603, "message": "no tools today"}))
    elif method == "tools/list" and mode == "slow_start" and not slowly_started:
        exchange.reply(200, exchange.frame(error={"code": -32602, "message": "not initialized"}))
    elif method == "tools/list":
        schema = {"type": "object"}
        names = [*CALLS, *STATUSES]
        exchange.result({"tools": [{"name": name, "inputSchema": schema} for name in names]})
    elif method == "tools/call":
        name = exchange.message["params"]["name"]
        await (CALLS[name](exchange) if name in CALLS else status(exchange, name))
    elif method == "notifications/cancelled" and mode == "deaf":
        await stall(exchange)
    elif method == "notifications/initialized" and mode == "slow_start":
        await asyncio.sleep(0.6)  # longer than any optional notification may take
        slowly_started.append(True)
        exchange.reply(202, kind=None)
    elif "id" in exchange.message:
        exchange.reply(404, exchange.frame(error={"code": -32601, "message": "no such method"}))
    else:
        exchange.reply(202, kind=None)


async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while not writer.is_closing():
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, path, _ = head[0].split(" ")
            headers = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in head[1:] if line)
            }
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            exchange = Exchange(method, path, headers, body, writer)
            if path != "/seen":
                port = writer.get_extra_info("peername")[1]
                told = {"verb": method, "path": path, "headers": headers, "port": port}
                seen.append({**told, **exchange.message})
            await serve(exchange)
            await writer.drain()
            if exchange.is_last:
                break
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    if MODE == "ignores_sigterm":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if MODE == "never_ready":
        await asyncio.sleep(60)
    if MODE == "slow":
        await asyncio.sleep(0.4)
    server = await asyncio.start_server(connection, "127.0.0.1", PORT)
    sys.stdout.write(f"listening on {server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    if MODE == "exit_at_import":
        import no_such_module  # type: ignore[import-not-found]  # noqa: F401
    asyncio.run(main())
