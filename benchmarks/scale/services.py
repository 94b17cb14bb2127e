"""How long each part of a distributed run is busy with one trial: what the simulation is fed with.

Measured is the time of the processor that a part takes, since it is what the part can do no more
than one of at a time; the least of several rounds, since a busy machine only adds to it.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import anyio

from harness.base.limiting.limiter import LimitedTarget
from harness.base.redaction import KNOWN
from harness.cli.progress import PlainProgress
from harness.judging.trial import not_started
from harness.runlog import LogWriter, TrialLine
from harness.runlog.reader import read_lines
from harness.runner.control import Control, EarlyStopping
from harness.runner.engines.limits import RunLimiters
from harness.runner.engines.payloads import PayloadCodec, SharedPayload
from harness.runner.live_judge import LiveJudge
from harness.runner.planning.plan import RunPlan, make_plan
from harness.runner.planning.request import RunBudget
from harness.types import Case, ModelSpec, ServerSpec, Suite

ROUNDS = 5
SAMPLE = 2_000
"""Trials in a round."""
_LONGEST_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Seconds of one processor that a trial takes at each part."""

    dispatch: float
    """Driver: choose and pack a trial."""
    receive: float
    """Driver: unpack what it brought."""
    record: float
    """Driver: serialise the line, take secrets out, write it."""
    judge: float
    """Driver: budgets, judging across trials, progress."""
    call: float
    """Driver: Ray's part of one call of a worker."""
    limit: float
    """Limiter: lend a slot and take it back, Ray's part of both calls included."""

    @property
    def driver(self) -> float:
        """All that the driver does for a trial that comes alone."""
        return self.dispatch + self.receive + self.record + self.judge + self.call


def least(work: Callable[[], None], number: int, rounds: int = ROUNDS) -> float:
    """Return the processor's seconds of ``work`` for each of the ``number`` things that it does."""

    def once() -> float:
        began = time.process_time()
        work()
        return time.process_time() - began

    return min(once() for _ in range(rounds)) / number


def lines_of(log: Path, number: int = SAMPLE) -> list[TrialLine]:
    """Return the first trials of a log."""
    found = (line for _, _, line in read_lines(log) if isinstance(line, TrialLine))
    return list(islice(found, number))


def plan_of(lines: Sequence[TrialLine]) -> RunPlan:
    """Return a plan of as many trials."""
    cases = tuple(
        Case(name=f"customer_{number}", prompt=f"What do we know of customer {number}?", checks=())
        for number in range(len(lines))
    )
    suite = Suite(name="scale", cases=cases, server="records")
    model = ModelSpec(name="fake", provider="openai", model_id="gpt-4o")
    return make_plan(
        [suite], models_of=lambda _: [model], server_of=lambda _: ServerSpec(name="records")
    )


def driver_parts(lines: Sequence[TrialLine]) -> dict[str, float]:
    """Measure what the driver does itself, for ``lines``."""
    plan, number = plan_of(lines), len(lines)
    luggage, key = SharedPayload.from_plan(plan), PayloadCodec.new_key()
    outward, inward = PayloadCodec(key, luggage.own), PayloadCodec(key)
    parcels = [inward.pack(line) for line in lines]

    def dispatch() -> None:
        for job in plan.jobs:
            outward.pack(job)

    def receive() -> None:
        for parcel in parcels:
            inward.unpack(parcel)

    def record() -> None:
        with (
            tempfile.TemporaryDirectory() as folder,
            LogWriter(Path(folder, "log.jsonl"), KNOWN.redact_json_text) as log,
        ):
            for line in lines:
                log.write(log.prepare_line(line))

    async def judged() -> None:
        judge, progress = LiveJudge(plan), PlainProgress()
        early, control = EarlyStopping(plan), Control(RunBudget())
        progress.on_planned(number)
        for job in plan.jobs:
            result = not_started(job.trial, "skipped", reason="measured")
            await early.is_wanted(job)
            control.add_usage(result)
            early.count_result(result)
            for settled in await judge.add_trial(TrialLine(run=result)):
                progress.on_finished(settled)

    def judge() -> None:
        with Path(os.devnull).open("w") as nowhere, redirect_stderr(nowhere):
            anyio.run(judged)

    parts = {"dispatch": dispatch, "receive": receive, "record": record, "judge": judge}
    return {name: least(work, number) for name, work in parts.items()}


def parcel_sizes(lines: Sequence[TrialLine]) -> tuple[int, int]:
    """Return the bytes of a trial that is handed out, and of what it brings."""
    plan, key = plan_of(lines), PayloadCodec.new_key()
    handed_out = PayloadCodec(key, SharedPayload.from_plan(plan).own).pack(plan.jobs[0])
    return len(handed_out), len(PayloadCodec(key).pack(lines[0]))


def limiter_part() -> float:
    """Measure lending a slot to somebody who has to ask, and taking it back."""
    limited = LimitedTarget(name="m", longest_s=_LONGEST_S, most=SAMPLE)

    async def lend() -> None:
        limits = RunLimiters()
        for number in range(SAMPLE):
            await limits.acquire(limited, str(number), _LONGEST_S)
            await limits.release(str(number), succeeded=True, throttled=False)

    return least(lambda: anyio.run(lend), SAMPLE)
