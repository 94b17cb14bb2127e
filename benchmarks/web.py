"""``python -m benchmarks.web``: many runs and many listeners at once, on one page.

Twenty runs of a hundred cases each with a model that takes 50 ms a reply, and fifty clients that
listen to them, a fifth of which disconnect every few events and reconnect. Every client checks that
no event is missing, repeated or out of order.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.provider import provider
from tests.end_to_end.harness_process import Project, plain_server
from tests.web.support import Page, dataset, served

TIMEOUT_S = 600.0
BREAK_OFF_AFTER = 23
"""Number of events after which a restless client disconnects."""
SAMPLE_S = 0.25
MB = 1024


@dataclass
class Finding:
    """The observations."""

    events: int = 0
    """Events received by all clients together."""
    faults: list[str] = field(default_factory=list)
    """Events that a client missed, got twice or got out of order."""
    seconds: float = 0.0
    """Seconds from the first upload to the last summary."""
    memory_mb: list[tuple[int, float]] = field(default_factory=list)
    """(events received so far, memory of the page's process in MB)."""
    answer_s: list[float] = field(default_factory=list)
    """Response times of the page during the runs."""

    def growth_mb(self) -> float:
        """Return the memory at the end minus that after a quarter of all events."""
        early = [size for events, size in self.memory_mb if events <= self.events / 4]
        return self.memory_mb[-1][1] - (early[-1] if early else self.memory_mb[0][1])


def measure(runs: int, cases: int, clients: int, latency_ms: int, folder: Path) -> Finding:
    """Run that many runs at once below ``folder``, with that many listening clients."""
    with provider(latency_ms=latency_ms) as url:
        project = Project(folder, {"KEY": "test-key"})
        model = {
            "type": "openai",
            "model": "gpt-4o",
            "base_url": f"{url}/v1",
            "api_key": "${KEY}",
            "timeout": 60,
        }
        project.configure(
            models={"models": {"fake": model}}, servers={"plain": plain_server(protocol="legacy")}
        )
        with served(project, "--at-once", str(runs), "--queue", str(runs)) as page:
            return asyncio.run(_measure(page, runs, cases, clients))


async def _measure(page: Page, runs: int, cases: int, clients: int) -> Finding:
    finding = Finding()
    began = time.perf_counter()
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(base_url=page.url, timeout=TIMEOUT_S, limits=limits) as client:
        watching = asyncio.create_task(_watch(client, page.process.pid, finding))
        text = dataset(["Say it."] * cases)
        names = await asyncio.gather(*(_begin(client, text) for _ in range(runs)))
        await asyncio.gather(
            *(_listen(client, names[who % runs], cases, who, finding) for who in range(clients))
        )
        finding.seconds = time.perf_counter() - began
        watching.cancel()
        finding.memory_mb.append((finding.events, _memory(page.process.pid)))
    return finding


async def _begin(client: httpx2.AsyncClient, text: str) -> str:
    answer = await client.post(
        "/evaluations",
        files={"file": ("load.csv", text)},
        data={"model": "fake", "server": "plain"},
    )
    if answer.is_error:
        raise RuntimeError(answer.text)
    return str(answer.json()["id"])


async def _listen(
    client: httpx2.AsyncClient, run: str, cases: int, who: int, finding: Finding
) -> None:
    """Receive a run's events to the end, and check every event."""
    restless = who % 5 == 0
    seen, number, done, started = "", 0, 0, set()
    while True:
        heard = 0
        async for identity, name, data in _events(client, run, seen):
            heard += 1
            seen, number = identity, number + 1
            finding.events += 1
            if int(identity.rpartition("-")[2]) != number:
                finding.faults.append(f"client {who}: event {identity} in place of {number}")
            if name == "test_case_start":
                started.add(data["case"])
            elif name == "test_case_result":
                done += 1
                if data["progress"]["done"] != done or data["case"] not in started:
                    finding.faults.append(f"client {who}: result of {data['case']} out of order")
            elif name in {"summary", "error"}:
                if (name, done, len(started)) != ("summary", cases, cases):
                    finding.faults.append(
                        f"client {who}: {name} after {done} results of {len(started)} started"
                    )
                return
            if restless and heard == BREAK_OFF_AFTER:
                break
        else:
            finding.faults.append(f"client {who}: the stream ended without a summary")
            return


async def _events(
    client: httpx2.AsyncClient, run: str, seen: str
) -> AsyncIterator[tuple[str, str, dict[str, Any]]]:
    async with client.stream(
        "GET", f"/evaluations/{run}/events", headers={"Last-Event-ID": seen}
    ) as answer:
        fields: dict[str, str] = {}
        async for line in answer.aiter_lines():
            name, _, value = line.partition(": ")
            if line:
                fields[name] = value
            else:
                if "data" in fields:
                    yield fields["id"], fields["event"], json.loads(fields["data"])
                fields = {}


async def _watch(client: httpx2.AsyncClient, pid: int, finding: Finding) -> None:
    while True:
        asked = time.perf_counter()
        (await client.get("/evaluation")).raise_for_status()
        finding.answer_s.append(time.perf_counter() - asked)
        finding.memory_mb.append((finding.events, _memory(pid)))
        await asyncio.sleep(SAMPLE_S)


def _memory(pid: int) -> float:
    """Return the resident memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / MB / MB


def main() -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.web", description="Many runs and listeners at once."
    )
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--latency-ms", type=int, default=50)
    options = parser.parse_args()
    print(
        f"{os.cpu_count()} cores, Python {platform.python_version()}, load "
        f"{os.getloadavg()[0]:.1f}",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        finding = measure(
            options.runs, options.cases, options.clients, options.latency_ms, Path(folder)
        )
    answers = sorted(finding.answer_s)
    print(
        f"{options.runs} runs at once of {options.cases} cases, a model of {options.latency_ms} "
        f"ms, "
        f"{options.clients} clients: {finding.seconds:.1f} s\n"
        f"    {finding.events:,} events heard; lost, repeated or out of order: "
        f"{len(finding.faults)}\n"
        f"    memory of the page: {finding.memory_mb[0][1]:.0f} MB at first, "
        f"{max(size for _, size in finding.memory_mb):.0f} MB at most, "
        f"{finding.memory_mb[-1][1]:.0f} MB at the end;\n"
        f"        {finding.growth_mb():+.1f} MB over the last three quarters of the events\n"
        f"    the page answered in {1000 * answers[len(answers) // 2]:.0f} ms (median), "
        f"{1000 * answers[-1]:.0f} ms (slowest of {len(answers)})"
    )
    print("\n".join(f"    {fault}" for fault in finding.faults[:20]))
    return 1 if finding.faults else 0


if __name__ == "__main__":
    sys.exit(main())
