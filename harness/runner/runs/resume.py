"""Resumes a run: only trials that are missing or could not be judged are run again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from harness.base import InvalidInput, UsageError
from harness.runlog import (
    LATEST,
    RESUMED_BY,
    RUNS,
    Header,
    RunLog,
    TrialLine,
    find_differences,
    find_log,
    has_header,
    has_verdict,
    log_path,
    read_header,
    read_lines,
    resume_command,
    run_ids,
)
from harness.runner.planning.plan import RunPlan
from harness.types import DECIDED, TrialResult, Usage

_SHOWN = 5
"""Most runs that are named in a message."""


def find_resumable(name: str, suites: Sequence[str], runs: Path = RUNS) -> Path:
    """Return the log for ``--resume NAME``; ``latest`` is the newest resumable run of ``suites``.

    Raises:
        UsageError: there is none, or the run cannot be resumed.
    """
    if name != LATEST:
        path = find_log(name, runs)
        settings = read_header(path).settings
        if RESUMED_BY in settings:
            raise UsageError(
                f"run {name} was made by {settings[RESUMED_BY]}",
                meant=f"Resume it with: {resume_command(name, settings)}",
            )
        if (source := settings.get("graded_from")) is not None:
            raise UsageError(
                f"run {name} was made by harness grade from recorded conversations, and has "
                "nothing to resume",
                meant=f"The run that it was made from: harness evals --resume {source}",
            )
        return path
    passed_over: list[str] = []
    for run_id in reversed(run_ids(runs)):
        path = log_path(run_id, runs)
        why = _explain_unresumable(path, suites)
        if why is None:
            return path
        passed_over.append(f"{run_id} {why}")
    if not passed_over:
        raise UsageError(f"there is no run to resume: there are no runs in {runs}")
    listed = "\n".join(f"  - {line}" for line in passed_over[:_SHOWN])
    raise UsageError(
        "there is no run that can be "
        f"resumed{' of ' + ', '.join(suites) if suites else ''}:\n{listed}"
    )


def _explain_unresumable(path: Path, suites: Sequence[str]) -> str | None:
    """Return why ``--resume latest`` skips that run, or ``None`` if it does not."""
    if not has_header(path):
        return "never began"
    try:
        header = read_header(path)
    except InvalidInput as error:
        return f"cannot be read: {error.problems[0].message}"
    settings = header.settings
    others = {"graded_from": "harness grade", "probe": "harness probe"}
    made_by = next(
        (other for name, other in others.items() if settings.get(name) is not None), None
    )
    if made_by := made_by or settings.get(RESUMED_BY):
        return f"was made by {made_by}"
    # The names that a user may use for a suite.
    names = set(header.suites)
    for facts in header.suites.values():
        for name in filter(None, (facts.get("file"), facts.get("reference"))):
            places = (Path(name).absolute(), *Path(name).parents)
            names |= {name, Path(name).stem, *map(str, places)}
    # A shell completes the name of a folder with a slash.
    if suites and not names.intersection(suite.rstrip("/") for suite in suites):
        return f"is of {', '.join(header.suites)}"
    return None


def select_remaining(plan: RunPlan, log: RunLog) -> RunPlan:
    """Return the part of ``plan`` without a final result in ``log``."""
    done = {
        result.key: result
        for result in log.results
        if has_verdict(result) or result.skip_reason == DECIDED
    }
    jobs = tuple(job for job in plan.jobs if job.trial.key not in done)
    paid: dict[str, tuple[str, Usage]] = {}
    # Every line, because a result that was replaced later was paid as well.
    for _, _, line in read_lines(log.path):
        if isinstance(line, TrialLine):
            run = line.run
            used = run.usage + run.judge_usage + run.user_usage
            # What is unknown counts 0: the budget no longer has to check it.
            used = replace(
                used,
                input_tokens=used.input_tokens or 0,
                output_tokens=used.output_tokens or 0,
                cost_usd=used.cost_usd or 0.0,
            )
            began, others = paid.get(run.key, ("", Usage()))
            # What began at the same time is what all attempts used.
            paid[run.key] = run.started_at, used if began == run.started_at != "" else others + used
    spent = sum((used for _, used in paid.values()), Usage())
    return replace(plan, jobs=jobs, done=tuple(done.values()), spent=spent)


def refuse_if_changed(old: Header, new: Header, strangers: Iterable[TrialResult] = ()) -> None:
    """Check that a resumed run has the same plan; ``strangers`` are results outside of it.

    Raises:
        UsageError: the error names every suite, case, model, server and setting that differs.
    """
    changes = list(find_differences(old, new))
    if not changes:
        # A secret in a server's arguments changes a trial's key, but is not in the header.
        changes = [
            f"suite {run.suite}: case {run.case.name} had another definition" for run in strangers
        ]
    if changes:
        listed = "\n".join(f"  - {change}" for change in changes)
        raise UsageError(
            f"run {old.run_id} cannot be resumed, because its definition has changed:\n{listed}",
            meant="Undo the change, or start a new run without --resume.",
        )
