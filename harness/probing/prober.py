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
from typing import Any, NamedTuple, TypeAlias

import anyio

from harness.base import GATE, utc_now
from harness.probing.call_facts import Lines, get_result
from harness.probing.caller_sessions import NO_MODEL, SUITE, Prober
from harness.probing.caller_views import ProbedTrials, get_caller_name, get_label
from harness.probing.callers import ProbeCaller
from harness.probing.control_calls import (
    add_verdicts,
    confirm_suspicion,
    is_unknown,
    make_isolated_calls,
    read_own_records,
    try_shared_values,
    warm_up,
)
from harness.probing.cursors import cross_cursors, find_pairs
from harness.probing.findings import read_probe
from harness.probing.forged_calls import ForgedCall, group_by_caller
from harness.probing.forging import CallForger
from harness.probing.interference.data_sets import iterate_data_servers
from harness.probing.interference.run import Interference
from harness.probing.kept_decisions import DecisionChange, Kept
from harness.probing.planned_calls import ProbeCall, SkippedTool
from harness.probing.probe_plan import ProbePlan, digest_inputs
from harness.probing.report import ProbeReport
from harness.probing.requests import choose_requests
from harness.probing.smuggling import smuggle_beside_tokens
from harness.probing.stability import MOST_CONFIRMED, CallerAnswer, find_suspicions
from harness.probing.token_calls import (
    aging_call,
    find_swaps,
    measure_ages,
    measure_member_ages,
    try_swap,
)
from harness.probing.verdict_lines import build_verdict_lines
from harness.reports import build_report
from harness.runlog import Footer, LogWriter, RunLog, ToolsLine, read_log
from harness.runner import (
    RUNS,
    Job,
    RunOptions,
    RunPlan,
    build_header,
    build_redactor,
    log_path,
    new_run_id,
)
from harness.sessions import open_sessions
from harness.types import Suite

__all__ = ["ProbeOutcome", "ProbePlan", "run_probe"]

AT_ONCE = 4
"""Number of concurrent callers."""


class ProbeOutcome(NamedTuple):
    """A finished probe."""

    log: RunLog
    """Its log, which includes the findings."""
    report: ProbeReport
    """The report on the log."""
    skipped: tuple[SkippedTool, ...]
    """The tools that were left out."""


async def run_probe(
    plan: ProbePlan,
    runs: Path = RUNS,
    begin: Callable[[int, int], None] | None = None,
    failing_changes: Callable[[ProbeReport], Sequence[DecisionChange]] | None = None,
    judge_suite: Callable[[RunLog], Awaitable[str | None]] | None = None,
    *,
    kept: Kept | None = None,
) -> ProbeOutcome:
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
    GATE.require_plan([plan.server])
    learn = partial(_share_secret, learners)
    async with open_sessions(learn) as pool:
        prober = Prober(plan, pool)
        await prober.list_tools()
        callers = prober.list_callers()
        if begin is not None:
            begin(len(callers), len(prober.calls))
        changing = [call for call in prober.calls if call.changes]
        rounds: list[_Round] = [(caller, prober.reads, 1) for caller in callers]
        to_change: list[_Round] = [(caller, changing, 1) for caller in callers if changing]
        in_turn = [(one, [call], 2) for call in prober.reads for one in reversed(plan.callers)]
        trials = [
            prober.build_trial(caller, call, number)
            for caller, calls, number in (*rounds, *in_turn, *to_change)
            for call in calls
        ]
        # The second round has the same cases.
        suite = Suite(name=SUITE, cases=tuple(trial.case for trial in trials if trial.number == 1))
        job = partial(Job, suite=suite, model=NO_MODEL, server=plan.server)
        jobs = [job(trial=trial) for trial in trials]
        described = RunPlan(jobs=tuple(jobs), settings=prober.build_settings())
        run_id = new_run_id([f"{SUITE}-{plan.server.name}"])
        redactor = build_redactor(described)
        servers = iterate_data_servers(plan.server, plan.alterations)
        redactor.add_specs(servers=servers, environ=os.environ)
        for secret in secrets:
            redactor.add_secret(secret)
        # From here on a secret that comes up late is kept out of the log, too.
        learners.append(redactor.add_secret)
        with LogWriter(
            log_path(run_id, runs), redactor.redact_json_text, redactor.add_secret
        ) as log:
            inputs = digest_inputs(plan, prober.lists, kept)  # its secrets are known now
            header = build_header(described, run_id, RunOptions(concurrency=AT_ONCE))
            log.append(replace(header, settings={**header.settings, "inputs": inputs}))
            began = anyio.current_time()
            course = _ProbeExecution(prober, log)
            await course.run_rounds(rounds, in_turn)
            await course.make_isolated_calls()
            # Attacks are chosen by the answers so far, as every later reader of the log sees them.
            so_far = read_log(log.path)
            await course.run_attacks(so_far)
            for number in range(len(plan.alterations)):
                await Interference(prober, number, learn, course.log_lines).run()
            # Last, since nothing can be compared on data that calls have changed.
            if changing:
                await course.make_changing_calls(to_change)
            so_far = so_far.read_further()
            report = read_probe(so_far)
            changed = () if failing_changes is None else failing_changes(report)
            fault = None if judge_suite is None else await judge_suite(so_far)
            for line in build_verdict_lines(
                report, so_far, [change.summary for change in changed], fault
            ):
                log.append(line)
            elapsed_s = round(anyio.current_time() - began, 6)
            log.append(Footer(finished_at=utc_now(), elapsed_s=elapsed_s, reason="complete"))
        whole = so_far.read_further()
        # The verdicts are those of the report: with them only the results are others.
        judged = replace(report, report=build_report(whole))
        return ProbeOutcome(whole, judged, tuple(prober.skipped))


def _share_secret(learners: Iterable[Callable[[str], None]], secret: str) -> None:
    for learn in learners:
        learn(secret)


_Round: TypeAlias = tuple[ProbeCaller, Sequence[ProbeCall], int]
"""A caller, its calls, and the number of the round from 1."""


@dataclass(slots=True)
class _ProbeExecution:
    """The execution of a probe: its order of calls, and the answers so far."""

    prober: Prober
    log: LogWriter
    listed: set[str] = field(default_factory=set)
    answers: list[CallerAnswer] = field(default_factory=list)
    """The answers to the suite's own identities."""
    answers_of_unknown: list[CallerAnswer] = field(default_factory=list)
    """The answers to those made from them with an unknown attribute."""
    forging: CallForger | None = None
    """The forged calls, once they are chosen."""

    async def run_attacks(self, so_far: RunLog) -> None:
        """Make the calls that are chosen by the answers ``so_far``: aged, forged, swapped, crossed.

        With the suite's identities alone, it is those with expired tokens.
        """
        probed = ProbedTrials(build_report(so_far), so_far)
        aging = aging_call(self.prober, probed)
        if aging is not None:
            self.log_lines(await measure_ages(self.prober, aging))
        self.log_lines(await measure_member_ages(self.prober, probed))
        if not self.prober.plan.damaged:
            return
        await self.make_forged_calls(CallForger(self.prober, probed))
        for swap in find_swaps(self.prober, probed):
            self.log_lines(await try_swap(self.prober, swap))
        for pair in await find_pairs(self.prober, probed):
            self.log_lines(await cross_cursors(self.prober, pair))

    async def run_rounds(self, side_by_side: Sequence[_Round], in_turn: Sequence[_Round]) -> None:
        async def make_round(caller: ProbeCaller, calls: Sequence[ProbeCall], number: int) -> None:
            lines = await self.prober.make_calls(caller, calls, number)
            self.log_lines(lines)
            if not caller.bases or is_unknown(caller):
                answers = self.answers_of_unknown if caller.bases else self.answers
                answers += (
                    CallerAnswer(get_caller_name(line.run), get_label(line.run), get_result(line))
                    for line, _ in lines
                )

        first = await warm_up(self.prober)
        await _run_at_once(make_round, side_by_side)
        for one in in_turn:
            await make_round(*one)
        self.log_lines(await add_verdicts(self.prober, first, self.answers))
        await self._confirm_suspicions()

    async def make_isolated_calls(self) -> None:
        """Make the calls in separate processes, and those with known values."""
        answers = [*self.answers, *self.answers_of_unknown]
        self.log_lines(await make_isolated_calls(self.prober, answers))
        self.log_lines(await read_own_records(self.prober))
        self.log_lines(await try_shared_values(self.prober, self.answers))

    async def make_forged_calls(self, forging: CallForger) -> None:
        """Make the forged calls, all callers concurrently; the risky ones of one after another."""
        self.forging = forging
        further = [
            *await choose_requests(self.prober, forging.withheld),
            *await smuggle_beside_tokens(self.prober, forging.withheld),
        ]

        async def make_caller_calls(caller: ProbeCaller, calls: Sequence[ForgedCall]) -> None:
            self.log_lines(await forging.make_calls(caller, calls))

        each = group_by_caller([*forging.calls, *further]).values()
        await _run_at_once(make_caller_calls, [(calls[0].caller, calls) for calls in each])
        # Nobody needs the processes of the calls above any more.
        await self.prober.pool.end_idle()
        await self._make_risky_calls(forging, forging.risky)

    async def _make_risky_calls(self, forging: CallForger, chosen: Sequence[ForgedCall]) -> None:
        for calls in group_by_caller(chosen).values():
            self.log_lines(await forging.make_risky_calls(calls[0].caller, calls))
            # Otherwise a process of each caller would run at the same time.
            await self.prober.pool.end_idle()

    async def make_changing_calls(self, rounds: Sequence[_Round]) -> None:
        """Make the calls that change data, after all other calls; last, with nothing to change.

        With ``isolation: none`` only one process of the server runs at a time.
        """
        await self.prober.pool.end_idle()
        alone = self.prober.plan.server.isolation == "none"

        async def make_round(caller: ProbeCaller, calls: Sequence[ProbeCall], _: int) -> None:
            self.log_lines(await self.prober.make_calls(caller, calls, apart=True))
            if alone:
                await self.prober.pool.end_idle()

        await _run_at_once(make_round, rounds, 1 if alone else AT_ONCE)
        if self.forging is not None:
            await self._make_risky_calls(self.forging, self.forging.changing)

    async def _confirm_suspicions(self) -> None:
        """Repeat suspicious calls until each is confirmed or cleared."""
        guilty: Counter[str] = Counter()
        # Not as they happened to come.
        in_order = sorted(self.answers, key=lambda answer: (answer.call, answer.name))
        for suspicion in find_suspicions(in_order):
            if guilty[suspicion.name] < MOST_CONFIRMED:
                followed, lines = await confirm_suspicion(self.prober, suspicion)
                self.log_lines(lines)
                guilty[suspicion.name] += followed

    def log_lines(self, lines: Lines) -> None:
        """Log ``lines``, with new tool lists."""
        server = self.prober.plan.server.name
        for line, tools in lines:
            if tools is not None and tools.digest not in self.listed:
                self.listed.add(tools.digest)
                context = line.run.case.user_context
                self.log.append(ToolsLine(server=server, tools=tools, user_context=context))
            self.log.append(line)


async def _run_at_once(
    make_round: Callable[..., Awaitable[None]],
    rounds: Iterable[tuple[Any, ...]],
    most: int = AT_ONCE,
) -> None:
    """Make the calls of several callers concurrently, ``most`` of them at a time."""
    limiter = anyio.CapacityLimiter(most)

    async def wait_for_slot(one: tuple[Any, ...]) -> None:
        async with limiter:
            await make_round(*one)

    async with anyio.create_task_group() as group:
        for one in rounds:
            group.start_soon(wait_for_slot, one)
