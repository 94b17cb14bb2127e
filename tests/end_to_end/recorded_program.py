"""A program that uses an MCP server, without any SDK: it makes the calls that it is given as JSON.

``python recorded_program.py MANNER CALLS``: with ``hang`` it does not end afterwards, with a number
it ends with that exit code. ``python recorded_program.py write FILE FILE`` takes the calls from the
first file, and writes the body of each answer into the second.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "recorded", "version": "1"},
}


def address() -> str:
    with open(os.environ["HARNESS_MCP_CONFIG"]) as file:  # noqa: PTH123 - pathlib takes longer
        (server,) = json.load(file)["mcpServers"].values()
    assert server["url"] == os.environ["HARNESS_MCP_URL"]
    return str(server["url"])


class Client:
    def __init__(self, url: str) -> None:
        where = urlsplit(url)
        self.path = where.path
        self.connection = HTTPConnection(where.netloc)
        self.headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }

    def send(self, method: str, params: dict[str, Any], number: int | None = None) -> str:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        body = json.dumps(message if number is None else {**message, "id": number})
        self.connection.request("POST", self.path, body, self.headers)
        answer = self.connection.getresponse()
        text = answer.read().decode()
        assert answer.status in (200, 202), (answer.status, text)
        session = answer.getheader("Mcp-Session-Id")
        if session is not None:
            self.headers["Mcp-Session-Id"] = session
        return text


def answers(calls: list[tuple[str, dict[str, Any]]]) -> list[str]:
    client = Client(address())
    client.send("initialize", HELLO, 0)
    client.send("notifications/initialized", {})
    return [
        client.send("tools/call", {"name": tool, "arguments": arguments}, number)
        for number, (tool, arguments) in enumerate(calls, 1)
    ]


def main(manner: str, given: str, *rest: str) -> int:
    if manner == "write":
        with open(given) as file, open(rest[0], "w") as heard:  # noqa: PTH123 - as above
            json.dump(answers(json.load(file)), heard)
        return 0
    answers(json.loads(given))
    sys.stdout.write("said by the program\n")
    sys.stdout.flush()
    if manner == "hang":
        signal.pause()
    return int(manner) if manner.isdigit() else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
