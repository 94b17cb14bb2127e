"""Splits a plan over several machines, and merges their logs into one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.base import UsageError, digest_json
from harness.runlog import (
    Footer,
    Header,
    LogWriter,
    ReviewLine,
    RunLog,
    TrialLine,
    find_differences,
    log_path,
    new_run_id,
    read_log,
)
from harness.runner.planning.plan import Job, RunPlan, get_unit_name
from harness.types import TrialResult


def build_further_job(job: Job, number: int) -> Job:
    """Return the trial that asks the question of ``job`` the ``number``-th time after the first."""
    trial = job.trial
    place, key = trial.number + number * trial.repeats, _build_key(trial.key, number)
    return replace(job, trial=replace(trial, number=place, key=key, repeats=0), optional=False)


def build_further_result(result: TrialResult, number: int) -> TrialResult:
    """Return ``result`` as that of the trial that `build_further_job` returns."""
    # Behind all planned repeats, so that no two trials of a case have one number.
    place, key = result.trial + number * result.repeats, _build_key(result.key, number)
    return replace(result, trial=place, key=key, repeats=0)


def _build_key(key: str, number: int) -> str:
    return digest_json([key, "again", number])


def select_shard(plan: RunPlan, spec: str) -> RunPlan:
    """Return part ``i`` of ``n`` for the ``spec`` ``i/n``: whole cases, in turn.

    Cases of one test with several identities stay together, since they are compared with one
    another.
    """
    part, parts = map(int, spec.split("/"))
    # Dealt out by name in the order of the plan: every machine comes to the same parts.
    cases = dict.fromkeys(get_unit_name(job) for job in plan.jobs)
    mine = {case for place, case in enumerate(cases) if place % parts == part - 1}
    jobs = tuple(job for job in plan.jobs if get_unit_name(job) in mine)
    return replace(
        plan,
        jobs=jobs,
        # `dealt_out` tells `merge` how many parts can exist at all.
        settings={**plan.settings, "shard": f"{part}/{parts}", "dealt_out": len(cases)},
    )


def merge_runs(logs: Sequence[RunLog]) -> RunLog:
    """Merge ``logs`` into a new run folder (see `merge_logs`)."""
    return merge_logs(logs, log_path(new_run_id(list(logs[0].header.suites))))


def merge_logs(logs: Sequence[RunLog], target: Path, *, repeated: bool = False) -> RunLog:
    """Write one log with all trials of ``logs`` to ``target`` and return it.

    Args:
        logs: The parts.
        target: The new log.
        repeated: Whether several parts may have asked the same; each counts as a further trial.

    Raises:
        UsageError: the logs are not of one plan, or two contain the same trial; then nothing is
            written.
    """
    if not repeated:
        _refuse_doubles(logs)
    times: Counter[str] = Counter()
    _check_parts([log.header for log in logs])
    header = _join_headers([log.header for log in logs], target.parent.name)
    # Without a redactor: the parts were redacted when they were written.
    with LogWriter(target) as writer:
        writer.append(header)
        for log in logs:
            for line in log.tools_lines:
                writer.append(line)
            for result, transcript in log:
                run = (
                    build_further_result(result, number)
                    if (number := times[result.key])
                    else result
                )
                times[result.key] += 1
                writer.append(TrialLine(run=run, transcript=transcript))
            for review in log.reviews.values():
                writer.append(ReviewLine(review=review))
        footers = [log.footer for log in logs]
        whole = [footer for footer in footers if footer is not None]
        # If one part was interrupted, so is the whole, which then gets no footer.
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


def _refuse_doubles(logs: Sequence[RunLog]) -> None:
    """Check that no trial is in two logs."""
    found: dict[str, str] = {}
    for log in logs:
        name = log.header.run_id
        twice = next((result for result in log.results if result.key in found), None)
        if twice is not None:
            other = found[twice.key]
            whose = (
                f"run {name} is given twice"
                if other == name
                else f"runs {other} and {name} hold the same trial"
            )
            raise UsageError(
                f"{whose}: {twice.suite}/{twice.case.name}, trial {twice.trial} with "
                f"{twice.entrant}",
                meant="Only parts of one plan can be merged (--shard). To compare two runs: "
                "harness compare A B",
            )
        found |= {result.key: name for result in log.results}


def _check_parts(headers: Sequence[Header]) -> None:
    """Check that shards are merged with all others of their split."""
    specs = [str(header.settings["shard"]) for header in headers if header.settings.get("shard")]
    if not specs:
        return
    totals = {spec.partition("/")[2] for spec in specs}
    if len(totals) > 1 or len(specs) < len(headers):
        parted = (f"{one.run_id} ({one.settings.get('shard') or 'whole'})" for one in headers)
        raise UsageError(f"these are shards of several splits: {', '.join(parted)}")
    total = int(totals.pop())
    # With fewer cases than parts, the last parts are empty and have no log.
    parts = min(total, headers[0].settings["dealt_out"])
    missing = [f"{part}/{total}" for part in range(1, parts + 1) if f"{part}/{total}" not in specs]
    if missing:
        raise UsageError(
            f"of {total} shards {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} "
            "missing",
            meant="Did a job end before its log was saved? Each shard's own report shows what it "
            "found.",
        )
    if len(specs) > parts:
        raise UsageError(f"a shard is given twice: {', '.join(specs)}")


def _join_headers(headers: Sequence[Header], run_id: str) -> Header:
    first, settings = headers[0], {**headers[0].settings, "shard": None}
    for header in headers:
        # A part has only the suites of its own cases: they are compared where both have them.
        shared = {name: header.suites.get(name, facts) for name, facts in first.suites.items()}
        comparable = replace(header, suites=shared, settings={**header.settings, "shard": None})
        changes = list(find_differences(replace(first, settings=settings), comparable))
        if changes:
            raise UsageError(
                f"runs {first.run_id} and {header.run_id} are not of one plan: {'; '.join(changes)}"
            )
    return replace(
        first,
        run_id=run_id,
        started_at=min(header.started_at for header in headers),
        planned=sum(header.planned for header in headers),
        suites={name: facts for header in headers for name, facts in header.suites.items()},
        settings=settings,
    )
