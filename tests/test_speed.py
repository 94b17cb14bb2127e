"""What a run costs, held by counts and never by a clock: requests, bytes, memory, modules.

`make bench` measures time, where nothing else disturbs it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.end_to_end.harness_process import Project, plain_server
from tests.fake_provider import FakeProvider, Incoming, Step, call, say

RESULT_BYTES = 30_000
"""Twice in each transcript: as the server's result, and as it was told to the model."""
FEW, MANY = 100, 300
"""Cases. Of both, the log is so long that the store is filled meanwhile, which loads modules."""

COUNTED = """
import json, sys
from pathlib import Path
from harness.cli import main
try:
    main()
finally:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    Path("cost.json").write_text(json.dumps({
        "peak_kb": int(status["VmHWM"].split()[0]),
        "modules": [
            name for name in ("anthropic", "openai", "genai_prices", "mcp") if name in sys.modules
        ],
    }))
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads what Linux counts"),
]


@dataclass(frozen=True)
class Cost:
    """What one run took."""

    requests: int
    log_bytes: int
    peak_kb: int
    modules: list[str]


def script(request: Incoming) -> Step:
    return say("Done.") if request.turn else call("big", {"size": RESULT_BYTES})


def cost_of(folder: Path, cases: int, **settings: object) -> Cost:
    """Run so many cases in a process of their own."""
    project = Project(folder, {"KEY": "test-key"})
    with FakeProvider(script) as provider:
        fake = {
            "type": "openai",
            "model": "gpt-4o",
            "base_url": f"{provider.url}/v1",
            "api_key": "${KEY}",
        }
        project.configure(models={"models": {"fake": fake}})
        tests = [
            {
                "name": f"case_{number}",
                "prompt": f"Question {number}.",
                "assertions": {"must_call": ["big"], "answer_contains": ["done"]},
            }
            for number in range(cases)
        ]
        project.suite(
            "speed",
            tests,
            **{"server": plain_server(protocol="legacy"), "model": "fake", **settings},
        )
        subprocess.run(
            [
                sys.executable,
                "-c",
                COUNTED,
                "evals",
                "speed",
                "--concurrency",
                "20",
                "--json-output",
            ],
            cwd=folder,
            env={**project.env, "HOME": str(folder), "PATH": ""},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
            check="model" not in settings,
        )
        requests = len(provider.journal)
    counted = json.loads((folder / "cost.json").read_text())
    return Cost(requests=requests, log_bytes=project.log().path.stat().st_size, **counted)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Cost:
    return cost_of(tmp_path_factory.mktemp("few"), FEW)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Cost:
    return cost_of(tmp_path_factory.mktemp("many"), MANY)


def test_a_case_of_two_turns_costs_two_requests(few: Cost, many: Cost) -> None:
    assert (few.requests, many.requests) == (2 * FEW, 2 * MANY)


def test_the_log_holds_a_result_twice_and_little_else(few: Cost, many: Cost) -> None:
    a_case = (many.log_bytes - few.log_bytes) / (MANY - FEW)
    assert 2 * RESULT_BYTES < a_case < 2 * RESULT_BYTES + 4_700  # its calls, frames, checks, usage


def test_memory_holds_no_transcript_of_a_case_that_is_over(few: Cost, many: Cost) -> None:
    a_case = 1024 * (many.peak_kb - few.peak_kb) / (MANY - FEW)
    assert a_case < RESULT_BYTES  # measured: 13 kB, and 51 kB where transcripts are kept


def test_a_run_loads_the_sdk_of_its_own_model_only(few: Cost, tmp_path: Path) -> None:
    assert few.modules == ["openai", "mcp"]  # an API on this machine has no price
    assert cost_of(tmp_path, 1, model="lexical").modules == ["mcp"]
