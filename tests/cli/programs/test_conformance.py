"""``harness conformance`` against servers that keep the protocol, break it, or cannot be tested."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.agents import ScenarioResult
from harness.base import HarnessError, UsageError
from harness.cli.programs.conformance import choose_conformance_exit, command
from harness.judging import EXIT_FAILED, EXIT_NOTHING, EXIT_PASSED, EXIT_UNJUDGED
from tests.sessions.test_conformance import PLACE, PROGRAM, node

needs_package = pytest.mark.skipif(
    not PROGRAM.exists() or node() is None, reason="npm ci --prefix tests/strangers/conformance"
)
URL = "http://127.0.0.1:9/mcp"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, catch_exceptions=True)


def refusal(*arguments: str) -> str:
    error = run(*arguments).exception
    assert isinstance(error, HarnessError), error
    return str(error)


@contextmanager
def broken_server(seen: list[dict[str, str]], hangs: Event | None = None) -> Iterator[str]:
    """Run a server whose list of tools is a text, and which may answer nothing until ``hangs``."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            seen.append({**self.headers, "method": body["method"]})
            if hangs is not None and body["method"] == "tools/list":
                hangs.wait(60)
            answer = {"jsonrpc": "2.0", "id": body.get("id"), "result": {"tools": "none"}}
            out = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(out)))
            self.end_headers()
            self.wfile.write(out)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp"
        finally:
            if hangs is not None:
                hangs.set()
            server.shutdown()


# ── Runs of the package ──────────────────────────────────────────────────────────────────────


@needs_package
@pytest.mark.slow
def test_a_domain_server_passes_what_needs_no_fixture_and_lacks_the_rest() -> None:
    wanted = ("tools-list", "tools-call-simple-text", "dns-rebinding-protection")
    named = [word for name in wanted for word in ("--scenario", name)]
    done = run("data_governance_http", "--package", str(PLACE), *named, "--json-output")
    assert done.exit_code == EXIT_UNJUDGED, done.output
    found = json.loads(done.stdout)["result"]
    assert found["counts"] == {"passed": 2, "failed": 0, "not testable": 1}
    assert {one["name"]: (one["status"], one["why"]) for one in found["scenarios"]} == {
        "tools-list": ("passed", []),
        "tools-call-simple-text": ("not testable", ["needs tool 'test_simple_text'"]),
        "dns-rebinding-protection": ("passed", []),
    }


@needs_package
@pytest.mark.slow
def test_a_broken_server_fails_in_the_words_of_the_checks_and_gets_the_headers_of_its_caller(
    tmp_path: Path,
) -> None:
    seen: list[dict[str, str]] = []
    with broken_server(seen) as url:
        identity = '{via: header, headers: {X-Role: "{role}"}}'
        entry = f"{{type: http, url: '{url}', headers: {{X-Key: a}}, identity: {identity}}}"
        (tmp_path / "harness.yml").write_text(f"servers: {{bad: {entry}}}\n")
        wanted = ("--scenario", "tools-list", "--scenario", "dns-rebinding-protection")
        who = ("--user-context", '{"role": "admin"}')
        done = run("bad", "--trust", "--package", str(PLACE), *wanted, *who)
    assert done.exit_code == EXIT_FAILED, done.output
    assert "failed        tools-list  0/2: Failed: r.tools.forEach is not a function" in done.stdout
    assert "ListToolsResult/tools: must be array" in done.stdout
    assert "Expected HTTP 4xx for invalid Host/Origin headers, got 200" in done.stdout
    assert "2 scenarios of 2026-07-28 (package 0.2.0-alpha.12): 2 failed" in done.stdout
    assert "answered tools/list without a list of tools" in done.stderr
    mine = [one for one in seen if one.get("user-agent") != "harness"]
    assert len(mine) == 3
    assert {(one["X-Key"], one["X-Role"]) for one in mine} == {("a", "admin")}


@needs_package
@pytest.mark.slow
def test_a_scenario_that_hangs_ends_in_time_and_fails() -> None:
    with broken_server([], Event()) as url:
        limits = ("--timeout", "1", "--start-timeout", "5")
        done = run(url, "--package", str(PLACE), "--scenario", "tools-list", *limits)
    assert done.exit_code == EXIT_FAILED, done.output
    assert "did not complete within 1000ms" in done.stdout


@needs_package
def test_a_server_that_is_not_there_is_an_error_and_no_failed_scenarios() -> None:
    told = refusal(URL, "--package", str(PLACE))
    assert told == f"server '127.0.0.1:9' cannot be reached at {URL}"


# ── What is refused before anything starts ───────────────────────────────────────────────────


def test_a_server_over_stdio_is_refused() -> None:
    told = refusal("data_governance", "--package", ".")
    assert "tests servers over streamable HTTP" in told
    assert "'data_governance' is reached over stdio" in told


def test_a_folder_without_the_package_is_refused() -> None:
    told = refusal(URL, "--package", ".")
    assert "@modelcontextprotocol/conformance is not in ." in told
    assert "npm install --prefix . @modelcontextprotocol/conformance@0.2.0-alpha.12" in told


@pytest.mark.parametrize(
    ("prints", "told"), [("v18.20.1", "Node.js v18.20.1 is too old"), (None, "was not found")]
)
def test_a_node_that_is_missing_or_too_old_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prints: str | None, told: str
) -> None:
    if prints is not None:
        (tmp_path / "node").write_text(f"#!/bin/sh\necho {prints}\n")
        (tmp_path / "node").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    said = refusal(URL)
    assert told in said
    assert "Install Node.js 22" in said


def test_an_identity_that_no_header_carries_is_refused(tmp_path: Path) -> None:
    (tmp_path / "harness.yml").write_text(f"servers: {{desk: {{type: http, url: '{URL}'}}}}\n")
    told = run("desk", "--user-context", '{"role": "admin"}').exception
    assert isinstance(told, UsageError)
    assert "identities by meta cannot be added" in str(told)


def outcome(status: Any, unscored: str | None = None) -> ScenarioResult:
    return ScenarioResult(
        name="one", status=status, passed=1, total=1, why=(), warnings=(), unscored=unscored
    )


def test_only_required_scenarios_decide_the_exit_code() -> None:
    passed, untestable, failed = map(outcome, ("passed", "not testable", "failed"))
    extra = outcome("failed", "extension")
    assert choose_conformance_exit([passed, extra]) == EXIT_PASSED
    assert choose_conformance_exit([passed, untestable]) == EXIT_UNJUDGED
    assert choose_conformance_exit([untestable, failed]) == EXIT_FAILED
    assert choose_conformance_exit([extra]) == EXIT_NOTHING
