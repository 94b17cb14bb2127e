"""``python -m benchmarks.strangers HOME [NAME…]``: 14 public servers, five questions on each.

Servers are installed below the folder HOME, once; that needs node, npm and the package registries.
All the rest happens on this machine, in a temporary folder. Of each server it tells how many tools
`harness tools` lists, how many findings `harness lint` has, what the suite comes to that
`harness init` drafts (a case is *marked* if it passed although no call succeeded), and what the
baseline does with the questions in ``benchmarks/strangers/questions/``: the right tools and no
other, the right arguments, a case that passes.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.strangers.servers import STRANGERS, entry, lay_out
from harness import Case, Transcript
from harness.api import load_suite, run
from harness.judging.matching.matchers import matches_partly
from harness.reports.sections.remarks import select_marked
from harness.types import JsonObject, ToolCall

_QUESTIONS = Path(__file__).parent / "questions"
_HEAD = (
    "| server | tools | findings of lint | draft: passed (marked), failed | right tool | right "
    "arguments | answered |"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What came of one server's questions."""

    questions: int
    tools: int
    """Questions to which the right tools were called, and no other."""
    arguments: int
    """Of these, those with the right arguments."""
    answered: int
    """Cases that passed."""
    lines: tuple[str, ...]
    """Each question with what was called."""


def main() -> None:
    """Print the two tables, and what was called for each question."""
    home, *chosen = sys.argv[1:] or sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder, _website(Path(folder)) as port:
        lay_out(Path(folder))
        os.chdir(folder)
        names = [name for name in STRANGERS if name in chosen or not chosen]
        servers = {name: entry(name, Path(home).absolute(), Path(folder)) for name in names}
        Path("harness.yml").write_text(json.dumps({"servers": servers}))
        for held_out in (False, True):
            own = [name for name in names if STRANGERS[name].held_out == held_out]
            if own:
                print(
                    f"\n**{'Held out' if held_out else 'Developed on'}**\n\n"
                    f"{_HEAD}\n|---|--:|---|---|--:|--:|--:|"
                )
                lines = _rows(own, Path(folder), port)
                print("\n" + "\n".join(lines), flush=True)


def _rows(names: list[str], folder: Path, port: int) -> list[str]:
    """Print one row for each server, and their sum; return what was called."""
    total: Counter[str] = Counter()
    lines: list[str] = []
    for name in names:
        told = asked(name, folder, port)
        answered = f"{told.answered} of {told.questions}" if STRANGERS[name].answers else "–"
        figures = (
            f"{told.tools} of {told.questions} | {told.arguments} of {told.questions} | {answered}"
        )
        print(
            f"| {name} | {_listed(name)} | {_linted(name)} | {_drafted(name)} | {figures} |",
            flush=True,
        )
        total.update(questions=told.questions, tools=told.tools, arguments=told.arguments)
        if STRANGERS[name].answers:
            total.update(answered=told.answered, answerable=told.questions)
        lines += [f"{name}: {line}" for line in told.lines]
    of = total["questions"]
    print(
        f"| **all** | | | | {total['tools']} of {of} | {total['arguments']} of {of} "
        f"| {total['answered']} of {total['answerable']} |"
    )
    return lines


# ── What harness says ────────────────────────────────────────────────────────────────────────


def _listed(name: str) -> int:
    return len(_json("tools", name)["tools"])


def _linted(name: str) -> str:
    found = Counter(str(finding["severity"]) for finding in _json("lint", name)["findings"])
    return ", ".join(f"{count} {severity}" for severity, count in sorted(found.items())) or "none"


def _drafted(name: str) -> str:
    _harness("init", name, "--name", f"drafted_{name}")
    report = run(f"evals/drafted_{name}.yml")
    passed = report.counts.passed
    return f"{passed} ({len(select_marked(report))}), {len(report.results) - passed}"


def _json(*command: str) -> Any:
    return json.loads(_harness(*command, "--json-output"))


def _harness(*command: str) -> str:
    done = subprocess.run(
        [Path(sys.executable).with_name("harness"), *command],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"harness {' '.join(command)} failed: {done.stderr}")
    return done.stdout


# ── What the baseline does ───────────────────────────────────────────────────────────────────


def asked(name: str, folder: Path, port: int) -> Told:
    """Run one server's questions."""
    text = (
        (_QUESTIONS / f"{name}.yml")
        .read_text()
        .replace("%FOLDER%", str(folder))
        .replace("%PORT%", str(port))
    )
    suite = Path("questions") / f"{name}.yml"
    suite.parent.mkdir(exist_ok=True)
    suite.write_text(text)
    cases = {case.name: case for case in load_suite(suite).cases}
    report = run(suite)
    tools = arguments = 0
    lines = []
    for result in report.results:
        transcript = result.transcript or Transcript()
        right = _right_tools(cases[result.case.name], transcript)
        fitting = right and _right_arguments(cases[result.case.name], transcript)
        tools, arguments = tools + right, arguments + fitting
        called = "; ".join(
            f"{call.tool} {json.dumps(dict(call.arguments))}" for call in transcript.tool_calls
        )
        mark = (
            "answered"
            if result.status == "passed"
            else "arguments"
            if fitting
            else "tool"
            if right
            else "wrong"
        )
        said = called or f"no call; “{transcript.answer[:100]}”"
        lines.append(f"{mark}: {cases[result.case.name].prompt} → {said}".replace(str(folder), ""))
    passed = report.counts.passed
    return Told(
        questions=len(cases), tools=tools, arguments=arguments, answered=passed, lines=tuple(lines)
    )


def _right_tools(case: Case, transcript: Transcript) -> bool:
    """Whether every expected tool was called, or one of several right ones, and no other tool."""
    called = {call.tool for call in transcript.tool_calls}
    expected, any_of = _expected(case)
    needed = {call["tool"] for call in expected}
    allowed = needed | {call["tool"] for call in any_of}
    return needed <= called <= allowed and bool(called) == bool(allowed)


def _right_arguments(case: Case, transcript: Transcript) -> bool:
    expected, any_of = _expected(case)
    made = transcript.tool_calls
    forbidden = [check.params for check in case.checks if check.kind == "must_not_call"]
    return (
        all(_made(call, made) for call in expected)
        and (not any_of or any(_made(call, made) for call in any_of))
        and not any(_made(call, made) for call in forbidden)
    )


def _expected(case: Case) -> tuple[list[JsonObject], list[JsonObject]]:
    """Return the calls that are all expected, and those of which one is."""
    every = [check.params for check in case.checks if check.kind == "must_succeed"]
    some = [
        call
        for check in case.checks
        if check.kind == "must_call_any"
        for call in check.params["calls"]
    ]
    return every, some


def _made(call: JsonObject, calls: tuple[ToolCall, ...]) -> bool:
    return any(
        made.tool == call["tool"] and matches_partly(call["args"], made.arguments) for made in calls
    )


# ── Pages to fetch ───────────────────────────────────────────────────────────────────────────


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Write no log."""


@contextlib.contextmanager
def _website(folder: Path) -> Iterator[int]:
    """Serve the folder ``web`` below ``folder`` on this machine; yield the port."""
    handler = functools.partial(_Quiet, directory=str(folder / "web"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


if __name__ == "__main__":
    main()
