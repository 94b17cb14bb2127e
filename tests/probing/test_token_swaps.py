"""Servers with sessions over HTTP, each of which knows who asks in its own way."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from harness.cli.probe_output import format_lines
from harness.probing.callers import name_callers
from harness.probing.prober import ProbePlan, run_probe
from harness.probing.report import ProbeReport
from harness.types import IdentitySpec, Protocol, ServerSpec, TransportSpec
from tests.probing.loopback import QuietHandler, on_loopback
from tests.probing.test_findings import CASES, READ, failed, said

SECRET = {"iban": "DE89370400440532013000"}


def owner_of(token: str | None) -> str | None:
    """Return whom a token names, if it is one and has not expired."""
    if token is None:
        return None
    part = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    return claims["id"] if claims.get("exp", 0) > time.time() else None


def believed(fault: str, shown: str | None, opener: str | None) -> str | None:
    """Return whom a server takes for the caller, by the token and by who opened the session."""
    if fault == "verified_once" or (fault == "keeps_the_first" and shown is not None):
        return opener
    return None if fault in ("strict", *ENDS) and shown != opener else shown


def result_of(method: str, owner: str) -> dict[str, Any]:
    if method == "server/discover":
        return {
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"},
            "ttlMs": 0,
            "cacheScope": "private",
        }
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [READ]}
    if owner == "alice":
        return said(json.dumps(SECRET), **SECRET)
    return failed("Access denied: this is for Alice alone.")


FORGOTTEN = {"jsonrpc": "2.0", "error": {"code": -32001, "message": "Session not found"}}
ENDS: Mapping[str, tuple[int, dict[str, Any]]] = {
    "ends": (404, {}),
    "forgets": (200, FORGOTTEN),
    "refuses_as_unknown": (401, FORGOTTEN),
}
"""How a server ends the session of a caller whose token has changed."""


@contextmanager
def serving(fault: str) -> Iterator[str]:
    sessions: dict[str, str] = {}

    class Handler(QuietHandler):
        def do_POST(self) -> None:  # noqa: N802 - the base calls it so
            message = json.loads(self.rfile.read(int(self.headers["content-length"])))
            session, owner = (
                self.headers.get("mcp-session-id"),
                owner_of(self.headers.get("authorization")),
            )
            if session is None and owner is not None:
                session = f"s{len(sessions)}"
                sessions[session] = owner
            owner = believed(fault, owner, sessions.get(session or ""))
            if owner is None:
                status, body = ENDS.get(fault, (401, {})) if session in sessions else (401, {})
                self.answer(status, {**body, "id": message.get("id")}, None)
                return
            result = result_of(message["method"], owner)
            self.answer(200, {"jsonrpc": "2.0", "id": message.get("id"), "result": result}, session)

        def do_DELETE(self) -> None:  # noqa: N802 - the base calls it so
            self.answer(200, {}, None)

        def answer(self, status: int, body: dict[str, Any], session: str | None) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            if session is not None:
                self.send_header("mcp-session-id", session)
            self.end_headers()
            self.wfile.write(content)

    with on_loopback(Handler) as url:
        yield url


def probed(folder: Path, fault: str, protocol: Protocol = "legacy") -> ProbeReport:
    with serving(fault) as url:
        spec = ServerSpec(
            name="s",
            transport=TransportSpec(url=url, kind="http", protocol=protocol),
            identity=IdentitySpec(via="bearer"),
        )
        plan = ProbePlan(server=spec, callers=name_callers(CASES), cases=CASES)
        return anyio.run(run_probe, plan, folder / "runs").report


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["none", "strict", *ENDS])
def test_a_server_that_verifies_each_request_gives_nothing_to_a_swapped_token(
    tmp_path: Path, fault: str
) -> None:
    report = probed(tmp_path, fault)
    assert [finding for finding in report.findings if finding.problem == "token_swapped"] == []
    assert (report.swapped, report.lost) == (3, ())
    (tried,) = (
        line for line, _ in format_lines(report, (), (), 100) if line.startswith("  tried:")
    )
    assert "the session id of another caller" in tried


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "shown"),
    [
        ("verified_once", ["an expired token of their own", "no token", "the token of bobby"]),
        ("keeps_the_first", ["the token of bobby"]),
    ],
)
def test_a_session_that_keeps_the_identity_of_its_first_token_is_found(
    tmp_path: Path, fault: str, shown: list[str]
) -> None:
    found = [
        finding.words
        for finding in probed(tmp_path, fault).findings
        if finding.problem == "token_swapped"
    ]
    assert (
        sorted(
            words.partition(" with ")[2].partition(" in a session of alice")[0] for words in found
        )
        == shown
    )


@pytest.mark.slow
def test_a_session_is_opened_by_the_handshake_where_the_newest_revision_has_none(
    tmp_path: Path,
) -> None:
    found = probed(tmp_path, "verified_once", "auto").findings
    assert {finding.problem for finding in found} >= {"token_swapped"}
