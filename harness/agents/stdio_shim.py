"""Forwards MCP from the pipes of this process to a URL, for clients that only start processes.

``python -m harness.agents.stdio_shim URL``; without it, the variable ``HARNESS_MCP_URL`` has it.
Frames are forwarded unchanged in both directions, one a line. The parts that HTTP needs in addition
(headers of the revision, the id of the session, the stream of a server's own messages) are added
here. It loads only the standard library, so that it starts at once.

It ends when stdin ends, when the URL can no longer be reached (exit code 1), and on a signal.
"""

import base64
import json
import os
import re
import signal
import sys
from http.client import HTTPConnection, HTTPException, HTTPResponse
from socket import SHUT_RDWR, create_connection
from threading import Lock, Thread
from time import monotonic, sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

URL_VARIABLE = "HARNESS_MCP_URL"
CONNECT_S = 30.0
"""Seconds for a connection to open; the proxy limits the time of answers."""
LAST_S = 2.0
"""Seconds for running requests at the end, and for ending the session."""
WATCH_S = 2.0
"""Seconds between two checks that the proxy is alive."""
PASSED, FAILED, INVALID = 0, 1, 3
"""Exit codes of `harness.judging.exit_codes`, which takes longer to load than all of this."""
_UNREACHABLE = -32000
_REVISION = "io.modelcontextprotocol/protocolVersion"
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN = re.compile(r"[\x20-\x7e]*")
_OK, _ACCEPTED, _ERROR = 200, 202, 400


class Shim:
    """Forwards frames between two pipes and a URL."""

    def __init__(self, url: str, out: int) -> None:
        """Send to ``url``, and write received frames to the file descriptor ``out``."""
        scheme, _, rest = url.partition("://")
        self._place, slash, path = rest.partition("/")
        if scheme != "http" or not self._place:
            raise ValueError(f"{url!r} is not the address of a proxy, such as http://127.0.0.1:…")
        self._path = slash + path
        self._out = out
        self._writing = Lock()
        self._state: dict[str, str] = {}
        self._under_way: dict[str, HTTPConnection] = {}
        self._asked: list[Thread] = []

    def forward_frame(self, line: bytes) -> None:
        """Forward one frame of the client, and return before it is answered."""
        try:
            frame = json.loads(line)
        except ValueError:
            frame = None
        told = frame if isinstance(frame, dict) else {}
        method, number = told.get("method"), told.get("id")
        if method == "notifications/cancelled":
            asked = (told.get("params") or {}).get("requestId")
            cancelled = self._under_way.pop(_encode_id(asked), None)
            if cancelled is not None and not self._state:
                cancelled.sock.shutdown(SHUT_RDWR)  # so the newest revision says it over HTTP
                return
        if method is None or number is None:
            self._exchange_frame(line, told)  # in order: a client is initialized before it asks
            if method == "notifications/initialized":
                Thread(target=self._listen, daemon=True).start()
        # In order as well: the answer has the id that all later requests need.
        elif method == "initialize":
            self._exchange_frame(line, told)
        else:
            # Forgets those that have ended, since a session may make thousands of requests.
            self._asked = [thread for thread in self._asked if thread.is_alive()]
            self._asked.append(Thread(target=self._exchange_frame, args=(line, told), daemon=True))
            self._asked[-1].start()

    def watch_url(self) -> None:
        """End this process once the URL is no longer reachable."""
        host, _, port = self._place.partition(":")
        while True:
            sleep(WATCH_S)
            try:
                create_connection((host, int(port or 80)), CONNECT_S).close()
            except OSError as error:
                self._report_loss(error, None)

    def close(self) -> None:
        """Wait for running requests, at most `LAST_S`, and end the session, if there is one."""
        last = monotonic() + LAST_S
        for thread in self._asked:
            thread.join(max(0.0, last - monotonic()))
        if self._state:
            connection = HTTPConnection(self._place, timeout=LAST_S)
            try:
                connection.request("DELETE", self._path, headers=self._state)
                connection.getresponse().read()
            except (OSError, HTTPException):
                pass

    def _exchange_frame(self, line: bytes, frame: "dict[str, Any]") -> None:
        connection = HTTPConnection(self._place, timeout=CONNECT_S)
        # An answer to a request of the server has an id as well.
        number = frame.get("id") if "method" in frame else None
        try:
            connection.connect()
            # From here on there is no limit: a tool may take as long as the proxy allows.
            connection.sock.settimeout(None)
            if number is not None:
                self._under_way[_encode_id(number)] = connection
            connection.request("POST", self._path, line, {**_JSON, **self._build_headers(frame)})
            answer = connection.getresponse()
            self._read_answer(answer, frame)
        except (OSError, HTTPException, ValueError) as error:
            # A cancelled request is no longer among them: its broken connection is no loss.
            if number is None or _encode_id(number) in self._under_way:
                self._report_loss(error, number)
        finally:
            self._under_way.pop(_encode_id(number), None)
            connection.close()

    def _read_answer(self, answer: HTTPResponse, frame: "dict[str, Any]") -> None:
        if frame.get("method") == "initialize" and answer.status == _OK:
            session = answer.getheader("Mcp-Session-Id")
            self._state = {} if session is None else {"Mcp-Session-Id": session}
        if answer.getheader("Content-Type", "").startswith("text/event-stream"):
            for data in _iterate_events(answer):
                self._note_revision(frame, data)
                self._write_frame(data)
            return
        body = answer.read()
        if answer.getheader("Content-Type", "").startswith("application/json") and body:
            self._note_revision(frame, body)
            self._write_frame(body)
        elif answer.status >= _ERROR:
            words = body.decode("utf-8", "replace").strip()[:200]
            raise HTTPException(f"HTTP {answer.status} {words}")

    def _listen(self) -> None:
        """Read the server's own messages, if it sends any."""
        connection = HTTPConnection(self._place, timeout=CONNECT_S)
        try:
            connection.connect()
            connection.sock.settimeout(None)
            headers = {"Accept": "text/event-stream", **self._state}
            connection.request("GET", self._path, headers=headers)
            answer = connection.getresponse()
            if answer.status == _OK:
                for data in _iterate_events(answer):
                    self._write_frame(data)
        except (OSError, HTTPException):
            pass  # a request will report the lost connection
        finally:
            connection.close()

    def _build_headers(self, frame: "dict[str, Any]") -> dict[str, str]:
        params = frame.get("params")
        params = params if isinstance(params, dict) else {}
        meta = params.get("_meta")
        revision = meta.get(_REVISION) if isinstance(meta, dict) else None
        if not isinstance(revision, str):
            return self._state
        headers = {"MCP-Protocol-Version": revision, "Mcp-Method": str(frame.get("method"))}
        name = params.get(_NAMED.get(str(frame.get("method")), ""))
        return {**headers, "Mcp-Name": _encode_header(name)} if isinstance(name, str) else headers

    def _note_revision(self, frame: "dict[str, Any]", answer: bytes) -> None:
        if frame.get("method") == "initialize":
            result = json.loads(answer).get("result") or {}
            if isinstance(revision := result.get("protocolVersion"), str):
                self._state["MCP-Protocol-Version"] = revision

    def _report_loss(self, error: Exception, number: object) -> None:
        why = f"the proxy of harness cannot be reached: {error}"
        if number is not None:
            said = {"code": _UNREACHABLE, "message": why}
            answer = {"jsonrpc": "2.0", "id": number, "error": said}
            self._write_frame(json.dumps(answer).encode())
        # A bad answer does not show that the proxy is gone; `watch_url` notices that.
        if not isinstance(error, HTTPException):
            os.write(2, f"{why}\n".encode())
            # `sys.exit` would end only the thread that calls it.
            os._exit(FAILED)

    def _write_frame(self, frame: bytes) -> None:
        # A frame is one line here; in JSON, line ends stand only between the parts.
        data = frame.replace(b"\r", b"").replace(b"\n", b" ") + b"\n"
        with self._writing:
            try:
                while data:
                    data = data[os.write(self._out, data) :]
            except OSError:
                os._exit(PASSED)  # the client is gone


_JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


def _iterate_events(answer: HTTPResponse) -> "Iterator[bytes]":
    """Yield the data of each event of a stream."""
    data: list[bytes] = []
    for raw in answer:
        line = raw.rstrip(b"\r\n")
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            if joined := b"\n".join(data):
                yield joined
            data = []


def _encode_header(value: str) -> str:
    """Return a text in the form of HTTP fields, with base64 for anything but plain ASCII."""
    # HTTP drops spaces at both ends, and a text that looks encoded would be decoded.
    if _PLAIN.fullmatch(value) and value == value.strip() and not value.startswith("=?base64?"):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def _encode_id(number: object) -> str:
    return json.dumps(number)


def forward_stdio(url: str) -> None:
    """Forward frames between stdin, stdout and ``url``, until stdin ends.

    Raises:
        ValueError: ``url`` is not a URL.
    """
    # Python's own handler would print a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    shim = Shim(url, sys.stdout.fileno())
    Thread(target=shim.watch_url, daemon=True).start()
    with os.fdopen(sys.stdin.fileno(), "rb", closefd=False) as lines:
        for line in lines:
            if line.strip():
                shim.forward_frame(line.strip())
    shim.close()


if __name__ == "__main__":
    try:
        forward_stdio(sys.argv[1] if len(sys.argv) > 1 else os.environ.get(URL_VARIABLE, ""))
    except ValueError as mistake:
        os.write(2, f"{mistake}\n".encode())
        sys.exit(INVALID)
