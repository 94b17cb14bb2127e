"""A probe: the server warms up, all callers call concurrently, then in turns, then suspects again.

All is logged.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

import anyio

from harness.base import GATE, utc_now
from harness.probing.caller_sessions import NO_MODEL, SUITE, ProbePlan, Prober, result_of
from harness.probing.caller_views import ProbedTrials, label_of, name_of
from harness.probing.callers import ProbeCaller
from harness.probing.cursors.following import crossed, pairs
from harness.probing.equal_answers.asking_alone import ask_alone, is_unknown
from harness.probing.equal_answers.own_records import read_own_records
from harness.probing.equal_answers.warming_up import warm_up, with_verdicts
from harness.probing.findings import read_probe
from harness.probing.forged_calls import ForgedCall, by_caller
from harness.probing.forging import Forging
from harness.probing.inputs import inputs_of
from harness.probing.interference.data_sets import servers_with
from harness.probing.interference.run import Interference
from harness.probing.kept_decisions import Change, Kept
from harness.probing.planned_calls import ProbeCall, Skipped
from harness.probing.repeated_calls import MOST_CONFIRMED
from harness.probing.report import ProbeReport
from harness.probing.requests.choosing import requests_to_make
from harness.probing.smuggling.in_requests import beside_tokens
from harness.probing.stability import Answer, suspicions
from harness.probing.token_ages import aged, aged_at_members, aging_call
from harness.probing.token_swaps import swapped, swaps
from harness.probing.verdict_lines import verdict_lines
from harness.reports import build_report
from harness.runlog import Footer, LogWriter, RunLog, ToolsLine, TrialLine, read_log
from harness.runner import RUNS, Job, Plan, RunOptions, header_of, log_path, new_run_id, redactor_of
from harness.sessions import open_sessions
from harness.types import Suite, ToolList

__all__ = ["ProbePlan", "Probed", "probe"]

AT_ONCE = 4
"""Number of concurrent callers."""


class Probed(NamedTuple):
    """A finished probe."""

    log: RunLog
    """Its log, which includes the findings."""
    report: ProbeReport
    """The report on the log."""
    skipped: tuple[Skipped, ...]
    """The tools that were left out."""


async def probe(
    plan: ProbePlan,
    runs: Path = RUNS,
    begin: Callable[[int, int], None] | None = None,
    failing_changes: Callable[[ProbeReport], Sequence[Change]] | None = None,
    judge_suite: Callable[[RunLog], Awaitable[str | None]] | None = None,
    *,
    kept: Kept | None = None,
) -> Probed:
    """Run the probe.

    ``begin`` is called with the number of callers and the number of calls of each.
    ``failing_changes`` returns the changed decisions that fail the probe. ``judge_suite`` gets the
    log and returns why the suite itself fails the probe, if it does. ``kept`` are the decisions of
    ``--expect``, for the digest of the inputs.

    Raises:
        NothingToRun: there is no call to make.
        ServerError: the server cannot be started.
    """
    secrets: list[str] = []  # what comes up before there is a log to keep them out of
    learners: list[Callable[[str], None]] = [secrets.append]
    GATE.plan([plan.server])
    async with open_sessions(partial(_tell, learners)) as pool:
        prober = Prober(plan, pool)
        await prober.look()
        callers = prober.callers()
        if begin is not None:
            begin(len(callers), len(prober.calls))
        reads = [call for call in prober.calls if not call.changes]
        changing = [call for call in prober.calls if call.changes]
        rounds: list[_Round] = [(caller, reads, 0) for caller in callers]
        to_change: list[_Round] = [(caller, changing, 0) for caller in callers if changing]
        in_turn = [(caller, [call], 1) for call in reads for caller in reversed(plan.callers)]
        trials = [
            prober.trial(caller, call, index)
            for caller, calls, index in (*rounds, *in_turn, *to_change)
            for call in calls
        ]
        suite = Suite(name=SUITE, cases=tuple(trial.case for trial in trials if trial.index == 0))
        jobs = [
            Job(trial=trial, suite=suite, model=NO_MODEL, server=plan.server) for trial in trials
        ]
        described = Plan(jobs=tuple(jobs), settings=prober.settings())
        run_id = new_run_id([f"{SUITE}-{plan.server.name}"])
        redactor = redactor_of(described)
        redactor.know(servers=servers_with(plan.server, plan.alterations), environ=os.environ)
        for secret in secrets:
            redactor.learn(secret)
        learners.append(redactor.learn)
        with LogWriter(log_path(run_id, runs), redactor.document, redactor.learn) as log:
            inputs = {"inputs": inputs_of(plan, prober.lists, kept)}  # its secrets are known now
            header = header_of(described, run_id, RunOptions(concurrency=AT_ONCE))
            log.append(replace(header, settings={**header.settings, **inputs}))
            began = anyio.current_time()
            course = _Course(prober, log)
            await course.run(rounds, in_turn)
            await course.ask_apart()
            so_far = read_log(log.path)
            await course.attack(so_far)
            for number in range(len(plan.alterations)):
                learn = partial(_tell, learners)
                await Interference(prober, number, learn, course.keep).run()
            if changing:
                await course.change(to_change)
                await course.change_nothing()
            so_far = so_far.read_on()
            report = read_probe(so_far)
            changed = () if failing_changes is None else failing_changes(report)
            fault = None if judge_suite is None else await judge_suite(so_far)
            kept_otherwise = [change.summary for change in changed]
            for line in verdict_lines(report, so_far, kept_otherwise, fault):
                log.append(line)
            elapsed_s = round(anyio.current_time() - began, 6)
            log.append(Footer(finished_at=utc_now(), elapsed_s=elapsed_s, reason="complete"))
        whole = so_far.read_on()
        # The verdicts are those of the report: with them only the results are others.
        judged = replace(report, report=build_report(whole))
        return Probed(whole, judged, tuple(prober.skipped))


def _tell(learners: Iterable[Callable[[str], None]], secret: str) -> None:
    for learn in learners:
        learn(secret)


_Round: TypeAlias = tuple[ProbeCaller, Sequence[ProbeCall], int]
"""A caller, its calls, and the number of the round from 0."""


@dataclass(slots=True)
class _Course:
    """The execution of a probe: its order of calls, and the answers so far."""

    prober: Prober
    log: LogWriter
    listed: set[str] = field(default_factory=set)
    answers: list[Answer] = field(default_factory=list)
    """The answers to the suite's own identities."""
    answers_of_unknown: list[Answer] = field(default_factory=list)
    """The answers to those made from them with an unknown attribute."""
    forging: Forging | None = None
    """The forged calls, once they are chosen."""

    async def attack(self, so_far: RunLog) -> None:
        """Make the calls that are chosen by the answers ``so_far``: aged, forged, swapped, crossed.

        With the suite's identities alone, it is those with expired tokens.
        """
        probed = ProbedTrials(build_report(so_far), so_far)
        aging = aging_call(self.prober, probed)
        if aging is not None:
            self.keep(await aged(self.prober, aging))
        self.keep(await aged_at_members(self.prober, probed))
        if not self.prober.plan.damaged:
            return
        await self.forge(Forging(self.prober, probed))
        for swap in swaps(self.prober, probed):
            self.keep(await swapped(self.prober, swap))
        for pair in await pairs(self.prober, probed):
            self.keep(await crossed(self.prober, pair))

    async def run(self, side_by_side: Sequence[_Round], in_turn: Sequence[_Round]) -> None:
        limiter = anyio.CapacityLimiter(AT_ONCE)

        async def work(caller: ProbeCaller, calls: Sequence[ProbeCall], index: int) -> None:
            async with limiter:
                lines = await self.prober.ask(caller, calls, index)
            self.keep(lines)
            if not caller.bases or is_unknown(caller):
                answers = self.answers_of_unknown if caller.bases else self.answers
                answers += (
                    Answer(name_of(line.run), label_of(line.run), result_of(line))
                    for line, _ in lines
                )

        first = await warm_up(self.prober)
        async with anyio.create_task_group() as group:
            for one in side_by_side:
                group.start_soon(work, *one)
        for one in in_turn:
            await work(*one)
        self.keep(await with_verdicts(self.prober, first, self.answers))
        await self._confirm()

    async def ask_apart(self) -> None:
        """Make the calls in separate processes, and read the identities' own records."""
        self.keep(await ask_alone(self.prober, [*self.answers, *self.answers_of_unknown]))
        self.keep(await read_own_records(self.prober))

    async def change_nothing(self) -> None:
        """Make calls that change data with nothing to change, each caller in a new process."""
        if self.forging is not None:
            for calls in by_caller(self.forging.changing).values():
                self.keep(await self.forging.ask_riskily(calls[0].caller, calls))
                await self.prober.pool.end_idle()

    async def forge(self, forging: Forging) -> None:
        """Make the forged calls, all callers concurrently; the risky ones of one after another."""
        self.forging = forging
        further = [
            *await requests_to_make(self.prober, forging.withheld),
            *await beside_tokens(self.prober, forging.withheld),
        ]
        limiter = anyio.CapacityLimiter(AT_ONCE)

        async def work(caller: ProbeCaller, calls: Sequence[ForgedCall]) -> None:
            async with limiter:
                self.keep(await forging.ask(caller, calls))

        async with anyio.create_task_group() as group:
            for calls in by_caller([*forging.calls, *further]).values():
                group.start_soon(work, calls[0].caller, calls)
        await self.prober.pool.end_idle()
        for calls in by_caller(forging.risky).values():
            self.keep(await forging.ask_riskily(calls[0].caller, calls))
            await self.prober.pool.end_idle()

    async def change(self, rounds: Sequence[_Round]) -> None:
        """Make the calls that change data, after all other calls.

        With ``isolation: none`` only one process of the server runs at a time.
        """
        await self.prober.pool.end_idle()
        alone = self.prober.plan.server.isolation == "none"
        limiter = anyio.CapacityLimiter(1 if alone else AT_ONCE)

        async def work(caller: ProbeCaller, calls: Sequence[ProbeCall]) -> None:
            async with limiter:
                self.keep(await self.prober.ask_to_change(caller, calls))
                if alone:
                    await self.prober.pool.end_idle()

        async with anyio.create_task_group() as group:
            for caller, calls, _ in rounds:
                group.start_soon(work, caller, calls)

    async def _confirm(self) -> None:
        """Repeat suspicious calls until each is confirmed or cleared."""
        guilty: Counter[str] = Counter()
        in_order = sorted(
            self.answers, key=lambda answer: (answer.call, answer.name)
        )  # not as they happened to come
        for suspicion in suspicions(in_order):
            if guilty[suspicion.name] < MOST_CONFIRMED:
                followed, lines = await self.prober.confirm(suspicion)
                self.keep(lines)
                guilty[suspicion.name] += followed

    def keep(self, lines: Sequence[tuple[TrialLine, ToolList | None]]) -> None:
        """Log ``lines``, with new tool lists."""
        for line, tools in lines:
            if tools is not None and tools.digest not in self.listed:
                self.listed.add(tools.digest)
                name = self.prober.plan.server.name
                self.log.append(
                    ToolsLine(server=name, tools=tools, user_context=line.run.case.user_context)
                )
            self.log.append(line)
