"""The project for the benchmark, and both ways to run it."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.process import Measured, run

HERE = Path(__file__).parent
CONCURRENCY = 50
TURNS = 2
"""Replies of the model per case: a call of the tool, then the answer."""

_CASE = """\
  - name: customer_{number}
    prompt: What do we know of customer {number}?
    assertions:
      must_call:
        - tool: get_record
          args: {{}}
      answer_contains:
        - Done
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A suite of ``cases`` cases for the benchmark's server, with the fake provider as model."""

    folder: Path
    """An empty folder to run in."""
    url: str
    """Root of the fake provider."""
    cases: int
    """Number of cases."""
    result_bytes: int = 0
    """Length of each tool result, in addition to a few words."""

    def write(self) -> None:
        """Write the suite and the configuration."""
        (self.folder / "evals").mkdir(parents=True, exist_ok=True)
        server = {"command": sys.executable, "args": self._server}
        head = f"suite: bench\nmodel: fake\nserver: {json.dumps(server)}\ntests:\n"
        cases = "".join(_CASE.format(number=number) for number in range(self.cases))
        (self.folder / "evals" / "bench.yml").write_text(head + cases, "utf-8")
        model = {
            "type": "openai",
            "model": "gpt-4o",
            "base_url": f"{self.url}/v1",
            "api_key": "${BENCH_KEY}",
        }
        (self.folder / "harness.yml").write_text(
            json.dumps({"models": {"models": {"fake": model}}}), "utf-8"
        )

    def harness(self, *options: str) -> Measured:
        """Run the suite as a user would."""
        command = [str(Path(sys.executable).with_name("harness")), "evals", "bench"]
        return run(
            [*command, "--concurrency", str(CONCURRENCY), *options],
            self.folder,
            {"BENCH_KEY": "test-key"},
        )

    def by_hand(self) -> Measured:
        """Run the same work without the harness."""
        loop = [
            sys.executable,
            str(HERE / "by_hand.py"),
            self.url,
            str(self.cases),
            str(CONCURRENCY),
        ]
        return run([*loop, sys.executable, *self._server], self.folder)

    def log_bytes(self) -> int:
        """Return the size of the newest run log."""
        newest = max(
            self.folder.glob(".harness/runs/*/log.jsonl"), key=lambda path: path.stat().st_mtime
        )
        return newest.stat().st_size

    @property
    def _server(self) -> list[str]:
        return [str(HERE / "server.py"), str(self.result_bytes)]
