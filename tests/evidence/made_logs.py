"""Runs that end in every way, each made by the command itself, in this process.

One server answers all of them over HTTP on loopback. How a run ends is decided by the tool that its
prompts name, and by who asks.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from itertools import count
from pathlib import Path
from typing import Any

from harness import cli as command_line
from harness.reports.build import build_report
from harness.reports.writers import WRITERS, ReportRequest, write_report
from harness.runlog import read_log
from harness.runlog.folders import RUNS, log_path, run_ids
from tests.probing.loopback import QuietHandler

KEY = "harness/user_context"
ANY: dict[str, Any] = {"type": "object"}
BY_ID: dict[str, Any] = {
    "type": "object",
    "properties": {"id": {"type": "string", "examples": ["P-1"]}},
    "required": ["id"],
}
TOOLS = {
    "get_weather": ("Show the weather.", ANY),
    "get_record": ("Show the record of a person by id.", BY_ID),
    "list_records": ("List all records.", ANY),
    "lose_line": ("Lose the line to the server.", ANY),
    "stop_run": ("Stop the run.", ANY),
}


class Desk(QuietHandler):
    """The server: at ``/leaky`` a list shows everybody what the record withholds from a clerk."""

    def do_POST(self) -> None:  # noqa: N802 - the base calls it so
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        params = message.get("params") or {}
        result: dict[str, Any] | None = {}
        if message["method"] == "tools/list":
            result = {"tools": [_tool(name, *told) for name, told in TOOLS.items()]}
        elif message["method"] == "tools/call":
            result = _answer(params["name"], self._role(params), leaks=self.path == "/leaky")
        if result is None:
            self.close_connection = True
            return
        body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _role(self, params: dict[str, Any]) -> str | None:
        """Return as whom a call is answered; ``/faulty`` and ``/headed`` can be deceived."""
        told, arguments = params.get("_meta", {}).get(KEY) or {}, params.get("arguments") or {}
        role = told.get("role")
        if self.path == "/headed":
            role = role or self.headers.get("x-role")
        if self.path == "/faulty":
            if "role" in told and role not in ("admin", "clerk"):
                role = "admin"  # fails open
            if arguments.get("id") == "p-1":
                role = "admin"
            role = arguments.get("role", role)
        return role if isinstance(role, str) else None


def _tool(name: str, text: str, schema: dict[str, Any]) -> dict[str, Any]:
    reads = name not in ("lose_line", "stop_run")
    hints = {"annotations": {"readOnlyHint": True}} if reads else {}
    return {"name": name, "description": text, "inputSchema": schema, **hints}


_WEATHER_OF_DAYS = count()


def _answer(tool: str, role: str | None, *, leaks: bool) -> dict[str, Any] | None:
    """Return the result of a call; ``None`` to hang up."""
    if tool == "lose_line" or role == "ghost":
        return None
    if tool == "stop_run" or role == "stopper":
        os.kill(os.getpid(), signal.SIGINT)
    whole = {"id": "P-1", "name": "Ann Lee", "email": "ann.lee@example.com"}
    record = whole if role == "admin" else {"id": "P-1", "name": "Ann Lee"}
    records = [whole if leaks else record]
    sky = "cloudy" if next(_WEATHER_OF_DAYS) % 2 else "clear"
    known: dict[str, dict[str, Any]] = {"get_record": record, "list_records": {"records": records}}
    found = known.get(tool, {"sky": sky})
    text = [{"type": "text", "text": json.dumps(found)}]
    return {"content": text, "structuredContent": found}


_WEATHER = "prompt: Show the weather., assertions: {must_call: get_weather}"
_RECORD = """- name: record
  prompt: Show the record of the person P-1.
  tool: {tool: get_record, args: {id: P-1}}
  expect: {admin: allowed, clerk: {decision: filtered, without: [email]}}
- name: list
  prompt: List all records.
  tool: list_records
  expect: {admin: allowed}
"""
SUITES = {
    "good": f"- {{name: one, {_WEATHER}}}\n- {{name: two, {_WEATHER}}}\n",
    "wrong": f"- {{name: one, {_WEATHER}}}\n"
    "- {name: two, prompt: Show the weather., assertions: {must_call: list_records}}\n",
    "broken": f"- {{name: one, {_WEATHER}}}\n"
    "- {name: two, prompt: Lose the line to the server., assertions: {must_call: lose_line}}\n",
    "stopped": "- {name: one, prompt: Stop the run., assertions: {must_call: stop_run}}\n"
    f"- {{name: two, {_WEATHER}}}\n",
    "stopped_last": f"- {{name: one, {_WEATHER}}}\n"
    "- {name: two, prompt: Stop the run., assertions: {must_call: stop_run}}\n",
    "leaky": _RECORD,
    "sound": _RECORD,
    "faulty": _RECORD,
    "headed": _RECORD,
}
"""Suite → its tests; those of `POLICY` ask as several identities."""
POLICY = ("leaky", "sound", "faulty", "headed")


def make_project(folder: Path, url: str) -> None:
    """Write the configuration and the suites into ``folder``, for the server at ``url``."""
    root = url.rpartition("/")[0]
    servers = "".join(
        f"  {name}: {{url: '{root}/{name}', type: http, protocol: '2026-07-28'{how}}}\n"
        for name in POLICY
        for how in [", identity: {via: header, headers: {X-Role: '{role}'}}" * (name == "headed")]
    )
    (folder / "harness.yml").write_text(f"mxcp: 1\nservers:\n{servers}", encoding="utf-8")
    (folder / "evals").mkdir()
    for name, tests in SUITES.items():
        write_suite(folder, name, tests)


def write_suite(folder: Path, name: str, tests: str, more: str = "") -> None:
    """Write one suite; ``more`` names further identities."""
    head = f"suite: {name}\nserver: {name if name in POLICY else 'sound'}\n"
    if name in POLICY:
        names = ["admin", "clerk", *([more] if more else [])]
        told = ", ".join(f"{one}: {{role: {one}}}" for one in names)
        head += f"identities: {{{told}}}\ndefaults: {{as: [{', '.join(names)}]}}\n"
    (folder / "evals" / f"{name}.yml").write_text(f"{head}tests:\n{tests}", encoding="utf-8")


def harness(*arguments: str) -> tuple[int, str]:
    """Run a command in this process, and return its exit code and stdout."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        sys.argv, given = ["harness", *arguments], sys.argv
        try:
            code = command_line._run_command()
        finally:
            sys.argv = given
    out.flush()
    return code, out.buffer.getvalue().decode()


def made_by(*arguments: str) -> tuple[int, str]:
    """Return a command's exit code, and the name of the run that it left; empty if it left none."""
    before = set(run_ids())
    code, _ = harness(*arguments)
    left = [name for name in run_ids() if name not in before]
    return code, left[-1] if left else ""


Make = Callable[[Path], tuple[int, str]]
"""Makes a run in a project's folder, and returns the exit code and the run's name."""


def cut_off(run: str) -> str:
    """Return a run whose process was killed after the first trial of ``run``."""
    lines = log_path(run).read_text("utf-8").splitlines(keepends=True)
    kept = [line for line in lines if '"kind":"footer"' not in line]
    trials = [line for line in kept if line.startswith('{"run":')]
    (RUNS / f"{run}-cut").mkdir()
    text = "".join(line for line in kept if line not in trials[1:])
    log_path(f"{run}-cut").write_text(text, encoding="utf-8")
    return f"{run}-cut"


def damaged(run: str) -> str:
    """Return a copy of ``run`` in which the line of one trial is damaged."""
    lines = log_path(run).read_text("utf-8").splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if line.startswith('{"run":'))
    lines[place] = lines[place].rstrip()[:-1] + "\n"
    (RUNS / f"{run}-bad").mkdir()
    log_path(f"{run}-bad").write_text("".join(lines), encoding="utf-8")
    return f"{run}-bad"


def write_reports(run: str) -> None:
    """Write every report of ``run`` into its folder."""
    log = read_log(log_path(run))
    for name in WRITERS.list_names():
        write_report(ReportRequest(format=name), build_report(log), log)
