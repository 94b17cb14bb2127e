"""What `harness record` keeps is, byte for byte, what crossed on the server's own wire."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.sessions.call_record import LONGEST, restore_frame
from tests.end_to_end import recorded_program
from tests.end_to_end.harness_process import Project
from tests.end_to_end.servers import mirror_server, tap
from tests.often import often

VALUES: dict[str, Any] = {
    "a whole number": 7,
    "zero": 0,
    "a negative number": -42,
    "a float without a fraction": 1.0,
    "a float": 0.1,
    "a small float": 5e-324,
    "a negative zero": -0.0,
    "a float of many digits": 3.141592653589793,
    "2 ** 53 + 1": 9007199254740993,
    "2 ** 63": 9223372036854775808,
    "a number of forty digits": 1234567890123456789012345678901234567890,
    "true": True,
    "false": False,
    "null": None,
    "an empty text": "",
    "an empty list": [],
    "an empty object": {},
    "an empty key": {"": ""},
    "nulls": [None, {"a": None}],
    "true beside 1 and 1.0": [True, 1, 1.0, "1"],
    "keys that are not sorted": {"b": 1, "a": 2, "B": 3},
    "lists in lists": [[[[[[1]]]], []]],
    "objects in objects": {"a": {"b": {"c": {"d": [{"e": {}}]}}}},
    "umlauts": "Müller & Söhne, Größe 3½",
    "Greek and Cyrillic": "Ωμέγα Привет",
    "Chinese": "客户管理系统",
    "Arabic and Hebrew": "مرحبا שלום",
    "an emoji of several characters": "👩‍👩‍👧‍👦 🇩🇪",
    "a letter with a mark of its own": "e\u0301 beside \u00e9",
    "characters beyond 16 bits": "𝔘𝔫𝔦 \U0010ffff",
    "a null character": "a\x00b",
    "control characters": "\x01\x08\x0b\x0c\x1b[31m\x7f",
    "line breaks": "one\ntwo\r\nthree\rfour",
    "separators of lines": "one\u2028two\u2029three\u0085four",
    "invisible characters": "a\u200bb\u202ec\ufeffd\u00ad",
    "quotes and backslashes": "\"'\\\\ \\n \\u00e9 /",
    "JSON in a text": '{"a": [1.0, "\\u00e9"]}',
    "JSON-RPC in a text": '{"jsonrpc": "2.0", "id": 1, "result": {}}\n',
    "an event in a text": "data: {}\n\nevent: message\n",
    "markup": "<script>alert('&amp;')</script>",
    "keys of other letters": {"größe": 1, "a/b": 2, "~0": 3, "a.b": 4, "$ref": 5},
    "a long text": "A sentence of a long text, on the sea.\n" * 1_000,
    "a long list": list(range(500)),
}
CALLS: list[tuple[str, dict[str, Any]]] = [
    *(("mirror", {"text": name, "value": value}) for name, value in VALUES.items()),
    ("say", {"text": 'é\n"quoted"\t\\'}),
    ("say", {}),
    ("blocks", {"text": "One of several blocks, each with the same text.", "count": 3}),
    ("image", {"rows": 40}),
    ("refuse", {"text": "Abgelehnt: „Größe“ \u2028 is too large"}),
    ("fail", {"text": "ungültig", "value": [1.0, None]}),
    ("nothing", {}),
]
FEW = [CALLS[3], CALLS[30], CALLS[35], *CALLS[-4:-1]]


def compact(value: Any) -> str:
    """Return ``value`` as this writes JSON, without sorting anything."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def answered(text: str) -> str:
    """Return the JSON-RPC response of an HTTP answer, as it was written."""
    if text.startswith("{"):
        return text
    (line,) = [line for line in text.split("\n") if line.startswith("data: {")]
    return line.removeprefix("data: ").removesuffix("\r")


def outcome(response: dict[str, Any]) -> Any:
    return response["error"] if "error" in response else response["result"]


def crossed(path: Path) -> list[tuple[str, str]]:
    """Return request and response of each call as lines of the server's own wire."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    parsed = [(one["to"], one["line"].rstrip("\n"), json.loads(one["line"])) for one in lines]
    responses = {
        frame["id"]: line
        for to, line, frame in parsed
        if to == "client" and "id" in frame and "method" not in frame
    }
    return [
        (line, responses[frame["id"]])
        for to, line, frame in parsed
        if to == "server" and frame.get("method") == "tools/call"
    ]


def compare(project: Project, protocol: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
    """Record ``calls`` of a program, and compare log, wire and what the program received."""
    wire, heard = project.folder / "wire.jsonl", project.folder / "heard.json"
    args = [str(tap.__file__), str(wire), sys.executable, str(mirror_server.__file__)]
    project.suite(
        "mirror",
        [{"name": "any", "prompt": "Any.", "assertions": {"must_call": ["say"]}}],
        server={"command": sys.executable, "args": args, "protocol": protocol},
    )
    given = project.folder / "calls.json"
    given.write_text(json.dumps(calls), "utf-8")
    program = [sys.executable, str(recorded_program.__file__), "write", str(given), str(heard)]
    done = project.run("record", "--suite", "mirror", "--", *program)
    assert done.code == 0, done.stderr
    received = json.loads(heard.read_text("utf-8"))
    ((_, transcript),) = list(project.log())
    assert transcript is not None
    made, frames = transcript.tool_calls, crossed(wire)
    assert len(made) == len(frames) == len(received) == len(calls)
    for (tool, arguments), one, (request, response), text in zip(
        calls, made, frames, received, strict=True
    ):
        assert one.wire is not None
        assert one.wire.request is not None
        assert one.wire.response is not None
        # The frames of the log are the lines of the wire. Only a text that is nowhere else in the
        # record is cut, and says so.
        assert compact(restore_frame(one.wire.request, one)) == request
        kept, sent = compact(restore_frame(one.wire.response, one)), json.loads(response)
        if "cut by harness" in kept:
            cut_images(sent)
        assert kept == compact(sent)
        if "cut by harness" not in kept:
            assert kept == response
        # So are the arguments that the program sent, and what it received.
        assert one.tool == tool
        assert compact(one.arguments) == compact(arguments)
        assert compact(arguments) in request
        assert compact(outcome(json.loads(answered(text)))) in response
        assert compact(outcome(json.loads(response))) in answered(text)


def cut_images(response: dict[str, Any]) -> None:
    for block in response["result"]["content"]:
        if len(block.get("data", "")) > LONGEST:
            whole_size = f"{len(block['data']):,}"
            cut = f"[… cut by harness: {whole_size} characters in all]"
            block["data"] = block["data"][:LONGEST] + cut


@pytest.mark.slow
@pytest.mark.parametrize("protocol", often(["legacy", "2026-07-28"]))
def test_some_calls_through_the_proxy_are_recorded_as_they_crossed_the_servers_wire(
    project: Project, protocol: str
) -> None:
    compare(project, protocol, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["legacy", "2026-07-28"])
def test_fifty_calls_through_the_proxy_are_recorded_as_they_crossed_the_servers_wire(
    project: Project, protocol: str
) -> None:
    assert len(CALLS) == 50
    compare(project, protocol, CALLS)
