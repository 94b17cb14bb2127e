"""An MCP server without any SDK that misbehaves on request; starts in some 15 ms.

``python bad_server.py MODE [anything to find the process by]``

The mode says how it starts, lists and ends; the tool that is called says what goes wrong with a
call. The tests start it hundreds of times, and half of a start would be the modules that `json`,
`pathlib`, `signal`, `subprocess` and `typing` import: only some modes import them.
"""

from __future__ import annotations

import _json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MODE = sys.argv[1] if len(sys.argv) > 1 else "good"
ANY_OBJECT = {"type": "object"}


class _Json:
    """How `json` reads with its defaults."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = parse_constant = float
    parse_int = int


_scan = _json.make_scanner(_Json)  # type: ignore[arg-type]  # any object with these will do
_encode = _json.make_encoder(
    {}, repr, _json.encode_basestring_ascii, None, ": ", ", ", False, False, True
)


def loads(text: str | bytes) -> Any:
    return _scan((text.decode() if isinstance(text, bytes) else text).strip(), 0)[0]


def dumps(value: Any) -> str:
    return "".join(_encode(value, 0))


def write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def complain(line: str) -> None:
    sys.stderr.write(line + "\n")


def send(message: Any) -> None:
    write(dumps(message).encode() + b"\n")


def answer(request: dict[str, Any], result: Any) -> None:
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def fail(request: dict[str, Any], code: int, message: str, data: Any = None) -> None:
    send(
        {
            "jsonrpc": "2.0",
            "id": request["id"],
            "error": {"code": code, "message": message, "data": data},
        }
    )


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}], **more}


def raw(request: dict[str, Any], result: bytes) -> None:
    write(b'{"jsonrpc": "2.0", "id": %d, "result": %s}\n' % (request["id"], result))


# ── calls ────────────────────────────────────────────────────────────────────────────────────


def echo(request: dict[str, Any]) -> None:
    params = request["params"]
    answer(
        request,
        text(dumps(params["arguments"]), structuredContent={"meta": params.get("_meta")}),
    )


def crash(request: dict[str, Any]) -> None:
    complain("Segmentation fault (not really)")
    os._exit(7)


def close_stdout(request: dict[str, Any]) -> None:
    os.close(1)
    time.sleep(60)


def noise(request: dict[str, Any]) -> None:
    write(b"Listening on port 3000\n{not json}\n[]\n42\n\n")
    echo(request)


def lost_in_noise(request: dict[str, Any]) -> None:
    write(b"found 3 rows " + dumps({"jsonrpc": "2.0", "id": request["id"], "result": {}}).encode())
    write(b"\n")


def noise_and_crash(request: dict[str, Any]) -> None:
    write(b"Traceback on stdout\n")
    os._exit(7)


def flood(request: dict[str, Any]) -> None:
    while True:
        write(b"x" * 1_000_000)


def wrong_id(request: dict[str, Any]) -> None:
    send({"jsonrpc": "2.0", "id": 987_654, "result": text("for somebody else")})
    send({"jsonrpc": "2.0", "id": None, "result": text("for nobody")})


def batch(request: dict[str, Any]) -> None:
    notice = {
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {"level": "info", "data": "hello"},
    }
    send([notice, {"jsonrpc": "2.0", "id": request["id"], "result": text("from a batch")}])


def big(request: dict[str, Any]) -> None:
    answer(request, text("x" * int(request["params"]["arguments"].get("size", 20_000_000))))


def rows(request: dict[str, Any]) -> None:
    answer(
        request,
        text("see the rows", structuredContent={"rows": [{"i": i} for i in range(100_000)]}),
    )


def pieces(request: dict[str, Any]) -> None:
    image = {"type": "image", "data": "A" * 16_000, "mimeType": "image/png"}
    link = {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt"}
    note = {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "the note"}}
    answer(request, {"content": [{"type": "text", "text": "one"}, image, link, note]})


def environment(request: dict[str, Any]) -> None:
    answer(request, {"content": [], "structuredContent": dict(os.environ)})


def ask(request: dict[str, Any]) -> None:
    answer(
        request,
        {
            "resultType": "input_required",
            "inputRequests": {"age": {"method": "elicitation/create"}},
        },
    )


def chat(request: dict[str, Any]) -> None:
    for number in range(20_000):
        complain(f"line {number} " + "." * 90)
    echo(request)


def nested(request: dict[str, Any]) -> bytes:
    levels = int(request["params"]["arguments"].get("levels", 1_000))
    return b'{"a":' * levels + b"1" + b"}" * levels


def deep(request: dict[str, Any]) -> None:
    raw(
        request,
        b'{"content": [{"type": "text", "text": "deep"}], "structuredContent": %s}'
        % nested(request),
    )


def deep_text(request: dict[str, Any]) -> None:
    answer(request, text(nested(request).decode()))


def huge(request: dict[str, Any]) -> None:
    many = b"1" + b"0" * 5_000
    raw(
        request,
        b'{"content": [], "structuredContent": {"e": 1e400, "i": 1%s, "more": %s}}'
        % (b"0" * 400, many),
    )


def no_more_input(request: dict[str, Any]) -> None:
    os.close(0)
    echo(request)
    time.sleep(60)


TOOLS: dict[str, Callable[[dict[str, Any]], None]] = {
    "echo": echo,
    "wait": lambda request: None,
    "crash": crash,
    "close_stdout": close_stdout,
    "no_more_input": no_more_input,
    "noise": noise,
    "lost_in_noise": lost_in_noise,
    "noise_and_crash": noise_and_crash,
    "flood": flood,
    "wrong_id": wrong_id,
    "batch": batch,
    "big": big,
    "rows": rows,
    "pieces": pieces,
    "environment": environment,
    "ask": ask,
    "deep": deep,
    "deep_text": deep_text,
    "huge": huge,
    "chat": chat,
    "latin": lambda request: raw(request, b'{"content": [{"type": "text", "text": "caf\xe9"}]}'),
    "surrogate": lambda request: raw(
        request, rb'{"content": [{"type": "text", "text": "a\ud800b"}]}'
    ),
    "nan": lambda request: raw(request, b'{"content": [], "structuredContent": {"mean": NaN}}'),
    "null": lambda request: raw(request, b"null"),
    "answer_with": lambda request: answer(request, request["params"]["arguments"]["result"]),
    "invalid_request": lambda request: fail(
        request, -32600, "the server's answer is not a JSON-RPC 2.0 answer: no"
    ),
    "liar": lambda request: answer(request, text("no number", structuredContent={"n": "three"})),
    "silent_liar": lambda request: answer(request, text("nothing structured")),
    "deny": lambda request: answer(
        request, text("Access denied: role 'user' may not do this", isError=True)
    ),
    "deny_by_code": lambda request: fail(request, -32001, "Unauthorized", {"required": "admin"}),
    "broken_file": lambda request: answer(
        request, text("ENOENT: no such file or directory", isError=True)
    ),
}
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def listed() -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = [{"name": name, "inputSchema": ANY_OBJECT} for name in TOOLS]
    for tool in tools:
        if tool["name"] == "echo":
            tool["annotations"] = {"readOnlyHint": True}
            tool["inputSchema"] = {"type": "object", "properties": {"n": {"type": "integer"}}}
        if "liar" in tool["name"] or tool["name"] == "rows":
            tool["outputSchema"] = NUMBER
    return tools


def list_tools(request: dict[str, Any]) -> None:
    cursor = request["params"].get("cursor", "0") if "params" in request else "0"
    match MODE:
        case "toolless":
            fail(request, -32601, "Method not found")
        case "listless":
            fail(request, -32603, "the catalogue is on fire")
        case "no_list":
            answer(request, {"tools": "none"})
        case "endless":
            page = int(cursor)
            answer(
                request,
                {
                    "tools": [{"name": f"t{page}", "inputSchema": ANY_OBJECT}],
                    "nextCursor": str(page + 1),
                },
            )
        case "circle":
            answer(
                request,
                {
                    "tools": [{"name": f"t{cursor}", "inputSchema": ANY_OBJECT}],
                    "nextCursor": "again",
                },
            )
        case "paged":
            half = len(TOOLS) // 2
            answer(
                request,
                {"tools": listed()[half:]}
                if cursor == "p2"
                else {"tools": listed()[:half], "nextCursor": "p2"},
            )
        case "broken_tools":
            answer(request, {"tools": loads(os.environ["TOOLS"])})
        case "choosy" if "clerk" in dumps(request.get("params")):
            complain("the clerks' catalogue is on fire")
            fail(request, -32603, "not today")
        case "nobody_knows":
            answer(request, {"tools": listed() if "_meta" in request.get("params", {}) else []})
        case _:
            answer(request, {"tools": listed()})


# ── life ─────────────────────────────────────────────────────────────────────────────────────


unanswered: list[dict[str, Any]] = []


def agree(request: dict[str, Any]) -> None:
    newest = {"supportedVersions": ["2026-07-28"], "capabilities": {}}
    answer(request, {**newest, "ttlMs": 0, "cacheScope": "public"})


def handshake(request: dict[str, Any]) -> None:
    match MODE:
        case "exit_in_handshake":
            complain("cannot open the database\nbye")
            sys.exit(3)
        case "refuse":
            fail(request, -32603, "out of licences")
        case "nonsense":
            answer(request, {"hello": "world"})
        case "late_modern":
            agree(unanswered[0])  # too late: the client has gone on
            fail(
                request,
                -32022,
                "Unsupported protocol version",
                {"supported": ["2026-07-28"], "requested": "x"},
            )
        case "future":
            answer(
                request,
                {
                    "protocolVersion": "2099-01-01",
                    "capabilities": {},
                    "serverInfo": {"name": "x", "version": "1"},
                },
            )
        case _:
            answer(
                request,
                {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "bad", "version": "1"},
                },
            )


def serve() -> None:
    note_start()
    for line in sys.stdin.buffer:
        request = loads(line)
        if "id" not in request:
            continue
        method = request["method"]
        if method == "initialize":
            handshake(request)
        elif method == "tools/list":
            list_tools(request)
        elif method == "tools/call" and request["params"]["name"] in TOOLS:
            TOOLS[request["params"]["name"]](request)
        elif method == "tools/call":
            fail(request, -32602, f"Unknown tool: {request['params']['name']}")
        elif MODE == "ends_at_discovery":
            complain("Error: ExpectedInitializeRequest")
            sys.exit(1)
        elif MODE == "answers_discovery_and_ends":
            fail(request, -32601, "Method not found")
            sys.exit(1)
        elif MODE == "late_modern" and not unanswered:
            unanswered.append(request)
        elif MODE == "late_modern":
            agree(request)
        elif MODE != "silent":
            fail(request, -32601, "Method not found")


def note_start(*, waits: bool = False) -> None:
    """Count this start; if it ``waits``, go on as soon as there is something to read."""
    if waits:
        import select

        select.select([sys.stdin], [], [])
    if "COUNTED_IN" in os.environ:
        starts = os.open(os.environ["COUNTED_IN"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(starts, b"x")
        os.close(starts)


def leave_a_child() -> None:
    import subprocess

    sleeper = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(120)", *sys.argv[2:]]
    subprocess.Popen(sleeper)


def say_goodbye() -> None:
    from pathlib import Path

    Path(os.environ["GOODBYE"]).write_text("goodbye")
    os._exit(0)


def leave_together() -> None:
    """Leave as soon as as many as ``TOGETHER`` says have been asked to."""
    from pathlib import Path

    asked = Path(os.environ["ASKED"])
    with asked.open("a") as file:
        file.write("x")
    while len(asked.read_text()) < int(os.environ["TOGETHER"]):
        time.sleep(0.01)
    os._exit(0)


def main() -> None:
    match MODE:
        case "exit_at_import" | "exit_at_late_import":
            note_start(waits=MODE == "exit_at_late_import")
            import no_such_module  # type: ignore[import-not-found]  # noqa: F401
        case "hang":
            write("Starting web server…\n".encode())
            time.sleep(120)
        case "stubborn":
            import signal

            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            leave_a_child()
            serve()
            while True:
                time.sleep(60)
        case "together":
            import signal

            signal.signal(signal.SIGTERM, lambda number, frame: leave_together())
            serve()
            while True:
                time.sleep(60)
        case "polite":
            import signal

            signal.signal(signal.SIGTERM, lambda number, frame: say_goodbye())
            serve()
            time.sleep(60)
        case "flaky":
            from pathlib import Path

            starts = Path(os.environ["STARTS"])
            starts.write_text(starts.read_text() + "x" if starts.exists() else "x")
            if str(len(starts.read_text())) not in os.environ["GOOD"].split():
                sys.exit(1)
            serve()
        case "parent":
            leave_a_child()
            serve()
        case "deaf":
            handshake(loads(sys.stdin.buffer.readline()))
            sys.stdin.buffer.readline()
            list_tools(loads(sys.stdin.buffer.readline()))
            time.sleep(120)
        case _:
            serve()


if __name__ == "__main__":
    main()
