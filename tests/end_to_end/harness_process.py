"""`harness` as a user runs it: a process of its own, in a folder of its own, with an empty home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from harness.runlog import RunLog, read_log
from harness.runlog.folders import find_log
from tests.end_to_end.warm import WarmProcess, fits
from tests.fake_provider import FakeProvider, Script

TIMEOUT_S = 120.0
"""No command of these tests takes nearly as long, even on a busy machine."""
HARNESS = (sys.executable, "-c", "from harness.cli import main; main()")
PLAIN_SERVER = Path(__file__).parents[1] / "sessions" / "bad_server.py"
"""A server that starts in 20 ms; its first argument says how it behaves."""


@dataclass(frozen=True)
class Finished:
    """What a command left behind."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.stdout)


@dataclass(frozen=True)
class Project:
    """A folder with a configuration and suites, and what to run there."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict)

    def configure(self, **settings: Any) -> None:
        (self.folder / "harness.yml").write_text(yaml.safe_dump({"mxcp": 1, **settings}))

    def suite(self, name: str, tests: list[dict[str, Any]], **settings: Any) -> Path:
        path = self.folder / "evals" / f"{name}.yml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            yaml.safe_dump({"suite": name, **settings, "tests": tests}, sort_keys=False)
        )
        return path

    def start(
        self, *arguments: str, stdout_to: str | None = None, **env: str
    ) -> subprocess.Popen[str]:
        environment = self._environment(env)
        with Path(stdout_to or os.devnull).open("w") as out:
            if fits(environment):
                return WarmProcess(
                    arguments, self.folder, environment, out.fileno() if stdout_to else None
                )
            return subprocess.Popen(
                [*HARNESS, *arguments],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out if stdout_to else subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )

    def run(self, *arguments: str, **env: str) -> Finished:
        process = self.start(*arguments, **env)
        return finish(process)

    def log(self, name: str = "latest") -> RunLog:
        return read_log(find_log(name, self.folder / ".harness" / "runs"))

    def _environment(self, env: Mapping[str, str]) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **self.env, **env}


def finish(process: subprocess.Popen[str]) -> Finished:
    """Wait for a command, and show what it said if it does not end."""
    try:
        stdout, stderr = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        stdout, stderr = process.communicate()
        raise AssertionError(
            f"harness did not end\n--- stdout\n{stdout}\n--- stderr\n{stderr}"
        ) from None
    return Finished(process.returncode, stdout, stderr)


def code_of(log: RunLog) -> int:
    """Return the exit code that stands for what a run found, if it had a verdict on every trial."""
    statuses = {run.status for run in log.results}
    assert statuses <= {"passed", "failed"}, statuses
    return 1 if "failed" in statuses else 0


def plain_server(mode: str = "good", **settings: Any) -> dict[str, Any]:
    """Return the ``server:`` of a suite that uses the plain server."""
    return {"command": sys.executable, "args": [str(PLAIN_SERVER), mode], **settings}


def findings(log: RunLog) -> dict[str, Any]:
    """Return all that a run found, without times and ids."""
    found = {}
    for run, transcript in log:
        assert transcript is not None
        checks = [
            (check.label, check.verdict, check.actual, check.explanation) for check in run.checks
        ]
        calls = [
            (made.tool, made.arguments, made.outcome, made.text) for made in transcript.tool_calls
        ]
        found[f"{run.suite}::{run.case.name}"] = (
            run.status,
            transcript.tools,
            calls,
            checks,
            transcript.answer,
        )
    return found


@contextmanager
def provided(project: Project, script: Script) -> Iterator[FakeProvider]:
    """Have the project's model answer as ``script`` says."""
    with FakeProvider(script) as server:
        entry = {
            "type": "openai",
            "model": "m",
            "api_key": "test-key",
            "base_url": f"{server.url}/v1",
        }
        project.configure(models={"default": "m", "models": {"m": entry}})
        yield server
