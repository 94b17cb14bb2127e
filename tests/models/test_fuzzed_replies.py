"""Thousands of damaged replies, over real HTTP into real trials.

Each ends in one status, and none passes unanswered.

The seeds are kept, so that every run sends the same replies; what once failed stands as an example
of its own in `test_endings` and `test_wire`. Of the lines of code that 1,000 replies reach, 100
reach 97 %, and the second 500 add 10 of 2,087: more of them show little more.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from random import Random
from typing import Any, Self

import anyio
import pytest

from harness.base.redaction import Redactor
from harness.runlog.lines import TrialLine, dump_line, parse_line
from harness.runner.planning.plan import Job, make_plan
from harness.runner.preflight.preflight import Preflight
from harness.runner.run_context import RunContext
from harness.runner.trial import run_trial
from harness.types import Check, Limits, ServerSpec, Suite, TrialResult
from tests.models.fuzzed import Reply, make_reply, valid
from tests.models.support import APIS, Api, opened, spec_for
from tests.models.wire_server import response, serving
from tests.support import MemoryPool, a_case

SEED = 20_261_122
MEMORY_MB = 400
"""What all of it may add to the process: a leak of a few kilobytes a reply would show, and a reply
held for good."""
NOTHING_FORBIDDEN = Check(kind="must_not_call", params={"tool": "delete_everything", "args": {}})
ANSWERED = Check(kind="answer_contains", params={"text": "Fine."})
EVERY = 10
"""How often a healthy provider is asked beside the damaged one: each time would double the cost."""
BOUND_S = 30.0
"""No trial of a reply that comes at once takes longer; it only ends a test that hangs."""


def a_job(check: Check) -> Job:
    case = a_case(checks=(check,), limits=Limits(max_replies=3, timeout_s=BOUND_S - 5))
    model, server = spec_for("chat", "http://127.0.0.1:9"), ServerSpec(name="srv")
    plan = make_plan(
        [Suite(name="s", cases=(case,))], models_of=lambda _: [model], server_of=lambda _: server
    )
    return plan.jobs[0]


class Bench:
    """One API's client, asked by trials of a damaged provider and of a healthy one."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.endings: Counter[str] = Counter()
        self.reply = Reply(pieces=())
        self._count = 0
        self._loop = asyncio.new_event_loop()
        self._stack = AsyncExitStack()
        self._pool: Any = MemoryPool()
        self._damaged, self._healthy = a_job(NOTHING_FORBIDDEN), a_job(ANSWERED)
        self._redactor = Redactor(["test-key"])

    def __enter__(self) -> Self:
        self._loop.run_until_complete(self._open())
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.run_until_complete(self._stack.aclose())
        self._loop.close()

    async def _open(self) -> None:
        good = response(json.dumps(valid(self.api)[0]).encode())

        async def damaged(head: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
            for piece in self.reply.pieces:
                writer.write(piece)
                await writer.drain()

        async def healthy(head: bytes, body: bytes, writer: asyncio.StreamWriter) -> None:
            writer.write(good)

        async def model(say: Any) -> Any:
            url = await self._stack.enter_async_context(serving(say))
            return await self._stack.enter_async_context(
                opened(self.api, url, max_retries=1, timeout_s=BOUND_S)
            )

        self._broken, self._sound = await model(damaged), await model(healthy)

    def hold(self, reply: Reply) -> None:
        """Run a trial of ``reply``, now and then beside a healthy one, and hold what came of it."""
        self.reply = reply
        self._count += 1
        self._loop.run_until_complete(self._hold())

    async def _hold(self) -> None:
        found: dict[str, TrialLine] = {}

        async def run(name: str, job: Job, model: Any) -> None:
            context = RunContext(pool=self._pool, models={job.model.name: model})
            ran = await run_trial(job, context, Preflight.from_trial(job), anyio.CancelScope())
            found[name] = ran.line

        with anyio.fail_after(BOUND_S):
            async with anyio.create_task_group() as group:
                group.start_soon(run, "damaged", self._damaged, self._broken)
                if beside := self._count % EVERY == 0:
                    group.start_soon(run, "healthy", self._healthy, self._sound)
        if beside:
            assert found["healthy"].run.status == "passed", found["healthy"].run.error
        line = found["damaged"]
        self._check(line)
        self.endings[line.run.status] += 1
        # The log takes it as it is, and gives it back.
        read = parse_line(self._redactor.redact_json_text(dump_line(line)).encode())
        assert isinstance(read, TrialLine)
        assert (read.run.status, read.run.key) == (line.run.status, line.run.key)

    def _check(self, line: TrialLine) -> None:
        run: TrialResult = line.run
        assert run.status in ("passed", "failed", "error")
        if run.status == "error":
            assert run.error is not None
            assert run.error.kind in ("provider", "configuration"), run.error
            assert "Traceback" not in f"{run.error.message}{run.error.detail}"
            assert len(run.error.message) < 2_000
        if run.status == "passed":
            assert line.transcript is not None
            assert line.transcript.stop == "refusal" or line.transcript.answer.strip()


def peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1_000_000 if sys.platform == "darwin" else peak / 1_000


@pytest.fixture(params=APIS)
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    with Bench(request.param) as opened:
        for reply in valid(request.param):  # what is loaded once is no memory of a reply
            opened.hold(Reply(pieces=(response(json.dumps(reply).encode()),)))
        opened.endings.clear()
        yield opened


def hold(bench: Bench, count: int, part: int = 0) -> None:
    before = peak_mb()

    for number in range(count):
        reply = make_reply(Random(f"{SEED} {part} {number}"), bench.api)
        try:
            bench.hold(reply)
        except BaseException as error:
            error.add_note(f"reply {number} of part {part}: {reply.pieces!r}")
            raise
    sys.stdout.write(
        f"{bench.api}: {dict(bench.endings)}, {peak_mb() - before:.0f} MB more at the peak\n"
    )
    assert bench.endings.total() >= count
    assert (
        min(bench.endings[status] for status in ("passed", "failed", "error")) > 0
    )  # it reaches every ending
    assert peak_mb() - before < MEMORY_MB


def test_no_damaged_reply_passes_unanswered_breaks_anything_or_touches_its_neighbour(
    bench: Bench,
) -> None:
    hold(bench, 40)


@pytest.mark.slow
def test_two_thousand_damaged_replies_of_each_api_do_no_harm(bench: Bench) -> None:
    hold(bench, 2_000, part=1)
