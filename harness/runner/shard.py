"""Split a plan over several machines, and join their logs as if one run had made them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.errors import UsageError
from harness.runlog import Footer, Header, LogWriter, RunLog, ToolsLine, TrialLine, read_log
from harness.runlog_diff import differences
from harness.runner.folders import log_path, new_run_id
from harness.runner.plan import Plan


def shard(plan: Plan, spec: str) -> Plan:
    """Return part ``i`` of ``n`` for a ``spec`` of ``i/n``: whole cases, dealt out in the plan's order.

    Raises:
        UsageError: the spec is not of that form.
    """
    match = re.fullmatch(r"(\d+)/(\d+)", spec)
    part, parts = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= part <= parts:
        raise UsageError(f"--shard {spec} is no part of a whole", meant="Write i/n with 1 ≤ i ≤ n, for example 2/3.")
    cases = dict.fromkeys((job.suite.name, job.trial.case.name) for job in plan.jobs)
    mine = {case for place, case in enumerate(cases) if place % parts == part - 1}
    jobs = tuple(job for job in plan.jobs if (job.suite.name, job.trial.case.name) in mine)
    return replace(plan, jobs=jobs, settings={**plan.settings, "shard": spec})


def merge_runs(logs: Sequence[RunLog]) -> RunLog:
    """Join ``logs`` in a run folder of its own (see `merge`)."""
    return merge(logs, log_path(new_run_id(list(logs[0].header.suites))))


def merge(logs: Sequence[RunLog], target: Path) -> RunLog:
    """Write one log of all trials of ``logs`` to ``target`` and return it.

    Raises:
        UsageError: the logs are not of one plan.
    """
    header = _joined([log.header for log in logs], target.parent.name)
    with LogWriter(target) as writer:
        writer.append(header)
        for log in logs:
            for tools in log.tools.values():
                writer.append(ToolsLine(server=next(iter(header.servers), ""), tools=tools))
            for run, transcript in log:
                writer.append(TrialLine(run=run, transcript=transcript))
        footers = [log.footer for log in logs]
        whole = [footer for footer in footers if footer is not None]
        if len(whole) == len(footers):
            reasons = [footer.reason for footer in whole if footer.reason != "complete"]
            writer.append(
                Footer(
                    finished_at=max(footer.finished_at for footer in whole),
                    elapsed_s=max(footer.elapsed_s for footer in whole),
                    reason=reasons[0] if reasons else "complete",
                )
            )
    return read_log(target)


def _joined(headers: Sequence[Header], run_id: str) -> Header:
    first, settings = headers[0], {**headers[0].settings, "shard": None}
    for header in headers:
        shared = {name: header.suites.get(name, facts) for name, facts in first.suites.items()}
        comparable = replace(header, suites=shared, settings={**header.settings, "shard": None})
        changes = list(differences(replace(first, settings=settings), comparable))
        if changes:
            raise UsageError(f"runs {first.run_id} and {header.run_id} are not of one plan: {'; '.join(changes)}")
    return replace(
        first,
        run_id=run_id,
        started_at=min(header.started_at for header in headers),
        planned=sum(header.planned for header in headers),
        suites={name: facts for header in headers for name, facts in header.suites.items()},
        settings=settings,
    )
