"""A probe: its calls are planned, made step by step and logged, and its findings are told."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import anyio

from harness.base import GATE, utc_now
from harness.probing.caller_sessions import NO_MODEL, SUITE, Prober
from harness.probing.effort.budget import Effort
from harness.probing.effort.concurrency import AT_ONCE
from harness.probing.effort.steps import ProbeRound, ProbeSteps
from harness.probing.findings import read_probe
from harness.probing.interference.data_sets import iterate_data_servers
from harness.probing.kept_decisions import DecisionChange, Kept
from harness.probing.planned_calls import SkippedTool
from harness.probing.probe_plan import ProbePlan, digest_inputs
from harness.probing.report import ProbeReport
from harness.probing.verdict_lines import build_unasked_lines, build_verdict_lines
from harness.reports import build_report
from harness.runlog import RUNS, Footer, LogWriter, RunLog, log_path, new_run_id, read_log
from harness.runner import Job, RunOptions, RunPlan, build_header, build_redactor
from harness.sessions import open_sessions
from harness.types import Suite

__all__ = ["ProbeOutcome", "ProbePlan", "run_probe"]


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
    tell: Callable[[str], None] | None = None,
    failing_changes: Callable[[ProbeReport], Sequence[DecisionChange]] | None = None,
    judge_suite: Callable[[RunLog], Awaitable[str | None]] | None = None,
    *,
    kept: Kept | None = None,
) -> ProbeOutcome:
    """Run the probe.

    ``tell`` gets a line on each step and on each finding so far, and every few seconds.
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
        prober = Prober(plan, pool, effort=Effort(plan.budget, tell))
        await prober.list_tools()
        callers = prober.list_callers()
        if tell is not None:
            tell(f"Probe as {len(callers)} identities, {len(prober.calls)} calls each …")
        changing = [call for call in prober.calls if call.changes]
        rounds: list[ProbeRound] = [(caller, prober.reads, 1) for caller in callers]
        to_change: list[ProbeRound] = [(caller, changing, 1) for caller in callers if changing]
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
            course = ProbeSteps(prober, log, read_log(log.path).hold_transcripts())
            await course.make_reading_calls(rounds, in_turn)
            await course.alter_values(learn)
            # Last, since nothing can be compared on data that calls have changed.
            if changing:
                await course.make_changing_calls(to_change)
            for line in build_unasked_lines(prober.effort):
                log.append(line)
            so_far = course.so_far
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
