"""What CONTRIBUTING.md shows can be added by one file each, and works from the command line."""

from __future__ import annotations

import csv
import json
import re
import shutil
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
AGENT = ROOT / "tests" / "agents" / "agent.py"
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")

_KINDS = {"#": "python", "---": "diff"}
"""How the first line of an addition, with the path of its file, begins."""
_SECTION = re.compile(r"^### … (?P<what>.+?)\n(?P<text>.*?)(?=^##)", re.MULTILINE | re.DOTALL)
_DIFF = re.compile(r"^```diff\n(.*?)^```", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^Example: \[`\w+\.py`\]\((.+)\)", re.MULTILINE)


@dataclass(frozen=True)
class Addition:
    """One example of the page."""

    what: str
    kind: str
    path: str
    text: str

    def apply(self, tree: Path) -> None:
        file = tree / self.path
        if self.kind == "python":
            assert not file.exists()
            file.write_text(self.text, "utf-8")
            return
        text = file.read_text("utf-8")
        for hunk in self.text.split("@@\n"):
            lines = hunk.splitlines(keepends=True)
            before = "".join(line[1:] or "\n" for line in lines if line[0] in " -")
            after = "".join(line[1:] or "\n" for line in lines if line[0] in " +")
            assert text.count(before) == 1, (
                f"{self.path} holds this {text.count(before)} times:\n{before}"
            )
            text = text.replace(before, after)
        file.write_text(text, "utf-8")


def additions() -> list[Addition]:
    found = []
    for section in _SECTION.finditer(PAGE):
        files = [(ROOT / name).read_text("utf-8") for name in _FILE.findall(section["text"])]
        for text in (*files, *_DIFF.findall(section["text"])):
            first, _, rest = text.partition("\n")
            mark, _, path = first.partition(" ")
            found.append(Addition(section["what"], _KINDS[mark], path, rest))
    return found


class _Greeter(socketserver.StreamRequestHandler):
    """An MCP server over TCP, one JSON-RPC message a line."""

    def handle(self) -> None:
        for line in self.rfile:
            asked = json.loads(line)
            if "id" in asked:
                answer = {"jsonrpc": "2.0", "id": asked["id"], **_answer(asked)}
                self.wfile.write(json.dumps(answer).encode() + b"\n")


def _answer(asked: Mapping[str, Any]) -> dict[str, Any]:
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        server = {"name": "greeter", "version": "1"}
        return {
            "result": {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": server,
            }
        }
    if asked["method"] == "tools/list":
        tool = {"name": "greet_somebody", "description": "GREET SOMEBODY WITH A FRIENDLY WORD"}
        return {
            "result": {"tools": [{**tool, "inputSchema": {"type": "object", "properties": {}}}]}
        }
    return {"error": {"code": -32601, "message": "Method not found"}}


@pytest.fixture(scope="module")
def greeter() -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Greeter) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"tcp://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the source with every addition of the page."""
    top = tmp_path_factory.mktemp("tree")
    ignored = shutil.ignore_patterns("__pycache__", "_builtin")
    shutil.copytree(ROOT / "harness", top / "harness", ignore=ignored)
    for name in ("servers", "evals"):
        (top / name).symlink_to(ROOT / name)
    for addition in additions():
        addition.apply(top)
    return top


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project")


def run(tree: Path, project: Path, *arguments: str, exits: int = 0, **env: str) -> str:
    """Run the command of the copied tree, and return what it prints."""
    ended = subprocess.run(
        [sys.executable, "-m", "harness.cli", *arguments],
        cwd=project,
        env={"PATH": "/usr/bin:/bin", "HOME": str(project), "PYTHONPATH": str(tree), **env},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert ended.returncode == exits, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def test_every_addition_is_shown_and_touches_one_file() -> None:
    shown = {addition.what: addition.path for addition in additions()}
    assert len(shown) == len(additions())
    assert set(shown) >= {
        "a model provider",
        "a kind of agent",
        "a name for a model",
        "a check",
        "a reader of suites",
        "a transport",
        "a way to send an identity",
        "a lint rule",
        "a report",
        "a field of a trial",
        "a command",
        "an option of a command",
    }


@pytest.fixture(scope="module")
def evaluated(tree: Path, project: Path, greeter: str) -> str:
    """Return what a run says in which provider, check, transport, report, field and column take
    part.
    """
    (project / "greeting.yml").write_text(
        "suite: greeting\n"
        "tests:\n"
        "- name: hello\n"
        "  description: A greeting.\n"
        "  prompt: Good morning to you\n"
        "  assertions: {answer_contains: morning, answer_short: 3}\n",
        "utf-8",
    )
    reports = [
        option for name in ("out.txt", "out.csv", "out.jsonl") for option in ("--report", name)
    ]
    return run(
        tree,
        project,
        "evals",
        "greeting.yml",
        "--server",
        greeter,
        "--model",
        "parrot:any",
        *reports,
        exits=1,
    )


@pytest.mark.slow
def test_a_provider_and_a_transport_take_part_in_a_run_and_a_check_judges_it(
    evaluated: str,
) -> None:
    assert "Answer too long: 4 words, at most 3" in evaluated
    assert "answer_contains" not in evaluated


@pytest.mark.slow
def test_a_way_to_send_an_identity_is_configured_like_those_that_there_were(
    tree: Path, project: Path
) -> None:
    (project / "told.yml").write_text(
        "suite: told\nserver: {url: http://127.0.0.1:1/mcp, identity: cookie}\n"
        "tests: [{name: a, prompt: b, assertions: {answer_contains: c}}]\n",
        "utf-8",
    )
    said = run(tree, project, "evals", "told.yml", "--list", exits=3)
    assert "told.yml:2:49: identity via cookie names no cookie." in said


@pytest.mark.slow
def test_a_reader_reads_the_files_that_it_recognises_beside_those_of_the_same_extension(
    tree: Path, project: Path, greeter: str, evaluated: str
) -> None:
    (project / "quiz.yml").write_text("questions:\n  Good night?: night\n  Hello?: [1]\n", "utf-8")
    shared = ["--server", greeter, "--model", "parrot:any"]
    assert "quiz.yml:3" in run(tree, project, "evals", "quiz.yml", *shared, exits=3)
    (project / "quiz.yml").write_text("questions:\n  Good night?: night\n", "utf-8")
    assert "1 passed" in run(tree, project, "evals", "quiz.yml", *shared)
    (project / "other.yml").write_text("services: {}\n", "utf-8")
    told = run(tree, project, "evals", "other.yml", *shared, exits=3)
    assert "'questions:' in the first line (questions)" in told


@pytest.mark.slow
def test_a_kind_of_agent_answers_a_suite(tree: Path, project: Path) -> None:
    agent = {"type": "doubled", "command": [sys.executable, str(AGENT), "stdin"]}
    (project / "harness.yml").write_text(json.dumps({"agents": {"echo": agent}}), "utf-8")
    (project / "twice.yml").write_text(
        "suite: twice\n"
        "server: data_governance\n"
        "tests:\n"
        "- name: hello\n"
        "  prompt: Good morning\n"
        "  assertions: {answer_contains: Good morning Good morning}\n",
        "utf-8",
    )
    try:
        told = run(tree, project, "evals", "twice.yml", "--agent", "echo")
    finally:
        (project / "harness.yml").unlink()
    assert "1 passed" in told


@pytest.mark.slow
def test_a_report_and_a_field_are_written(evaluated: str, project: Path) -> None:
    assert (project / "out.txt").read_text("utf-8") == "failed hello\n"
    (columns,) = csv.DictReader((project / "out.csv").read_text("utf-8-sig").splitlines())
    assert columns["checks"] == "2"
    line = json.loads((project / "out.jsonl").read_text("utf-8"))
    assert line["metadata"]["harness"]["checks"] == 2


@pytest.mark.slow
def test_a_lint_rule_and_a_providers_dialect_find_what_they_are_for(
    tree: Path, project: Path, greeter: str
) -> None:
    told = run(tree, project, "lint", "--server", greeter, exits=1)
    assert "shouting: Its description is all in capitals." in told
    assert "Echo does not accept its name" in told


@pytest.mark.slow
def test_a_command_and_an_option_are_offered_and_work(
    tree: Path, project: Path, evaluated: str
) -> None:
    assert "Greet somebody." in run(tree, project, "--help")
    assert run(tree, project, "hello", "Ada") == "Hello, Ada.\n"
    assert "greeting" in run(tree, project, "runs", "--suite", "greeting")
    assert "greeting" not in run(tree, project, "runs", "--suite", "other")


@pytest.mark.slow
def test_a_name_for_a_model_is_resolved(
    tree: Path, project: Path, greeter: str, evaluated: str
) -> None:
    told = run(
        tree, project, "evals", "greeting.yml", "--server", greeter, "--model",
        "anthropic:claude-2", "--dry-run", ANTHROPIC_API_KEY="k",
    )  # fmt: skip
    assert "claude-2 names Claude 2" in told


_STEP = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
_FUNCTION = re.compile(r"`(harness[\w.]*):([\w.]+)`")


def test_the_walk_through_one_case_has_ten_steps_at_most_and_each_names_its_function() -> None:
    walk = PAGE.partition("## One case, from YAML to report")[2].partition("## How to add")[0]
    steps = _STEP.findall(walk)
    assert [int(number) for number, _ in steps] == list(range(1, len(steps) + 1))
    assert 5 < len(steps) <= 10
    for _, text in steps:
        found = _FUNCTION.findall(text)
        assert found, text
        for module, name in found:
            thing: Any = import_module(module)
            for part in name.split("."):
                thing = getattr(thing, part)


@pytest.mark.slow
def test_the_case_of_the_walk_passes(tree: Path, project: Path) -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (project / "governance.yml").write_text(text, "utf-8")
    assert "1 passed" in run(tree, project, "evals", "governance.yml")
