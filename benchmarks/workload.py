"""The project that the harness is given: a suite of as many cases as asked, and the fake provider as its model."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SERVER = Path(__file__).with_name("server.py")
CONCURRENCY = 50
TURNS = 2
"""Replies of the model to each case: it calls the tool, then it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A folder to run in, and both ways to run the same work there."""

    folder: Path
    """Where the suite is and the logs will be."""
    url: str
    """Root of the fake provider."""
    cases: int
    """How many."""
    result_bytes: int = 0
    """Length of each tool result, beyond a few words."""

    def write(self) -> None:
        """Write the suite and the configuration."""
        (self.folder / "evals").mkdir(parents=True, exist_ok=True)
        suite = {
            "suite": "bench",
            "model": "fake",
            "server": {"command": sys.executable, "args": self._server_arguments},
            "tests": [_case(number) for number in range(self.cases)],
        }
        (self.folder / "evals" / "bench.yml").write_text(_yaml(suite), "utf-8")
        model = {"type": "openai", "model": "gpt-4o", "base_url": f"{self.url}/v1", "api_key": "${BENCH_KEY}"}
        (self.folder / "harness.yml").write_text(json.dumps({"models": {"models": {"fake": model}}}), "utf-8")

    @property
    def environment(self) -> Mapping[str, str]:
        """What the harness finds in its environment beside the usual."""
        return {"BENCH_KEY": "test-key"}

    @property
    def harness(self) -> list[str]:
        """The command line of a run, as a user types it."""
        script = Path(sys.executable).with_name("harness")
        return [str(script), "evals", "bench", "--concurrency", str(CONCURRENCY)]

    @property
    def by_hand(self) -> list[str]:
        """The command line of the same work without the harness."""
        loop = [sys.executable, "-m", "benchmarks.by_hand", self.url, str(self.cases), str(CONCURRENCY)]
        return [*loop, sys.executable, *self._server_arguments]

    @property
    def _server_arguments(self) -> list[str]:
        return [str(SERVER), str(self.result_bytes)]


def _case(number: int) -> dict[str, object]:
    return {
        "name": f"customer_{number}",
        "prompt": f"What do we know of customer {number}?",
        "assertions": {"must_call": [{"tool": "get_record", "args": {}}], "answer_contains": ["Done"]},
    }


def _yaml(suite: Mapping[str, object]) -> str:
    """Write it in the block style that people use."""
    lines = [f"{key}: {json.dumps(value)}" for key, value in suite.items() if key != "tests"]
    tests = suite["tests"]
    assert isinstance(tests, list)
    lines.append("tests:")
    for test in tests:
        lines += [f"  - name: {test['name']}", f"    prompt: {test['prompt']}", "    assertions:"]
        lines += ["      must_call:", "        - tool: get_record", "          args: {}"]
        lines += ["      answer_contains:", "        - Done"]
    return "\n".join(lines) + "\n"
