"""An MCP server without any SDK whose only tool answers with the bytes that the call itself brings.

``python server.py stdio`` · ``python server.py http``: prints its port (``/mcp``; the older form,
``/sse``)

The arguments of a call: ``body`` (base64; every ``@ID@`` in it becomes the id of the request), and
over HTTP ``status``, ``type`` (of the content) and ``cut`` (close the connection before the body is
complete).
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import sys
from typing import Any

HANDSHAKE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "told", "version": "1"},
}
TOOLS = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("say", "echo")]}


def body_of(request: dict[str, Any]) -> bytes:
    """Return what the call says that its answer is."""
    told = base64.b64decode(request["params"]["arguments"]["body"])
    return told.replace(b"@ID@", json.dumps(request["id"]).encode())


def ordinary(request: dict[str, Any]) -> bytes | None:
    """Return the answer to a request that is no call of ``say``; ``None`` for what needs none."""
    method = request.get("method")
    if "id" not in request or method is None:  # an answer to a question of ours, or a notification
        return None
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
    if method == "initialize":
        answer["result"] = HANDSHAKE
    elif method == "tools/list":
        answer["result"] = TOOLS
    elif method == "tools/call":
        answer["result"] = {
            "content": [{"type": "text", "text": json.dumps(request["params"]["arguments"])}]
        }
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    return json.dumps(answer).encode()


def is_told(request: dict[str, Any]) -> bool:
    """Whether the answer is what the call says."""
    return request.get("method") == "tools/call" and request["params"]["name"] == "say"


def over_stdio() -> None:
    """Serve until stdin ends."""
    for line in sys.stdin.buffer:
        request = json.loads(line)
        answer = body_of(request) if is_told(request) else ordinary(request)
        if answer is not None:
            sys.stdout.buffer.write(answer + b"\n")
            sys.stdout.buffer.flush()


class Web:
    """Streamable HTTP under ``/mcp``, the older form under ``/sse``."""

    def __init__(self) -> None:
        self.streams: dict[str, asyncio.StreamWriter] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while line := await reader.readline():
                method, path, _ = line.decode().split()
                length = 0
                while (header := await reader.readline()) not in (b"\r\n", b""):
                    name, _, value = header.decode("latin-1").partition(":")
                    length = int(value) if name.lower() == "content-length" else length
                body = await reader.readexactly(length)
                if method == "GET" and path == "/sse":
                    await self.listen(reader, writer)
                elif method != "POST":
                    await reply(writer, 405, "text/plain", b"")
                elif path.startswith("/messages/"):
                    await self.message(writer, path, json.loads(body))
                else:
                    await self.request(writer, json.loads(body))
        writer.close()

    async def request(self, writer: asyncio.StreamWriter, request: dict[str, Any]) -> None:
        """Answer in the body of the reply."""
        if is_told(request):
            told = request["params"]["arguments"]
            await reply(writer, told["status"], told["type"], body_of(request), cut=told["cut"])
        elif (answer := ordinary(request)) is None:
            await reply(writer, 202, "text/plain", b"")
        else:
            await reply(writer, 200, "application/json", answer)

    async def message(
        self, writer: asyncio.StreamWriter, path: str, request: dict[str, Any]
    ) -> None:
        """Answer on the event stream."""
        stream = self.streams[path]
        told = is_told(request)
        await reply(
            writer,
            request["params"]["arguments"]["status"] if told else 202,
            "text/plain",
            b"Accepted",
        )
        if told:
            stream.write(body_of(request))
        elif (answer := ordinary(request)) is not None:
            stream.write(b"event: message\ndata: " + answer + b"\n\n")
        await stream.drain()

    async def listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Keep an event stream open until the client leaves."""
        path = f"/messages/{len(self.streams)}"
        self.streams[path] = writer
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        )
        writer.write(b"event: endpoint\ndata: " + path.encode() + b"\n\n")
        await writer.drain()
        await reader.read()


async def reply(
    writer: asyncio.StreamWriter, status: int, kind: str, body: bytes, *, cut: bool = False
) -> None:
    """Write one reply; a ``cut`` one promises more than comes."""
    body = (
        b"" if status == 204 else body
    )  # HTTP allows none, and the rest would be read as the next reply
    head = (
        f"HTTP/1.1 {status} So\r\ncontent-type: {kind}\r\ncontent-length: {len(body) + cut}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    await writer.drain()
    if cut:
        raise ConnectionError


async def over_http() -> None:
    """Serve until killed."""
    server = await asyncio.start_server(Web().serve, "127.0.0.1", 0, limit=2**24)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        over_stdio()
    else:
        asyncio.run(over_http())
