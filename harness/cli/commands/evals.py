"""Run suites and judge what the model did."""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import click

from harness.base import HarnessError, UsageError
from harness.cli import listed_cases
from harness.cli import shell_completion as completing
from harness.cli.dry_run import describe, document
from harness.cli.last_failed import last_failed
from harness.cli.named_runs import warned_of_damage
from harness.cli.options import bundle
from harness.cli.progress import progress
from harness.cli.results_output import Output, show
from harness.cli.run_options import BUDGET, OPTIONS, OUTPUT, REQUEST, SCORE
from harness.cli.suite_scores import ScoreRequest
from harness.cli.watch import Watched, watch, watched_by
from harness.runlog import read_log
from harness.runner import (
    LATEST,
    ONE_PROCESS,
    Budget,
    Plan,
    Prepared,
    RunOptions,
    RunRequest,
    as_logged,
    launch,
    prepare,
    require_trust,
    resumable,
    resume_command,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """The mode of the command: resume, repeat failures, watch, list, estimate, or elsewhere."""

    resume: str | None
    """The run to resume."""
    last_failed: bool
    """Whether to run only cases that did not pass the last time."""
    watches: bool
    """Whether to run again after each change."""
    lists: bool
    """Whether to list the cases and start nothing."""
    dry_run: bool
    """Whether to estimate the cost and start nothing."""
    engine: str
    """What carries out the trials."""

    def __post_init__(self) -> None:
        """Refuse contradictory options."""
        if self.resume is not None and (self.last_failed or self.watches):
            raise UsageError(
                "--resume continues a run as planned, so it cannot be combined with --last-failed "
                "or --watch"
            )


MODE = bundle(
    "mode",
    Mode,
    click.option(
        "--resume",
        is_flag=False,
        flag_value=LATEST,
        metavar="[RUN]",
        shell_complete=completing.runs,
        help="Continue a run: run only what is missing or was not judged.",
    ),
    click.option(
        "--last-failed",
        is_flag=True,
        help="Run only cases that did not pass when they last ran.",
    ),
    click.option(
        "--watch",
        "watches",
        is_flag=True,
        help="Run again whenever a suite, the configuration or the server's source changes.",
    ),
    click.option(
        "--list", "lists", is_flag=True, help="List the cases that would run; start nothing."
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        help="Show what would run and its estimated cost; start nothing.",
    ),
    click.option(
        "--engine",
        default=ONE_PROCESS,
        metavar="process|ray[:ADDRESS]",
        help="What carries out the trials: this process, Ray on this machine, or the cluster "
        "ray:auto or ray:HOST:PORT.  [default: process]",
    ),
)


@click.command("evals")
@click.argument("suites", nargs=-1, metavar="[SUITE]...", shell_complete=completing.suites)
@click.option(
    "--suite",
    "more_suites",
    multiple=True,
    metavar="NAME",
    shell_complete=completing.suites,
    help="Another way to name a suite.",
)
@REQUEST
@BUDGET
@OPTIONS
@OUTPUT
@SCORE
@MODE
def command(
    suites: tuple[str, ...],
    more_suites: tuple[str, ...],
    request: RunRequest,
    budget: Budget,
    options: RunOptions,
    output: Output,
    score: ScoreRequest,
    mode: Mode,
) -> None:
    """Run suites and judge what the model did.

    SUITE is the name of a suite, or the path of a file or folder; without it, all of evals/ runs.
    """
    request = replace(request, suites=(*suites, *more_suites))
    options = replace(options, engine=mode.engine)
    if mode.watches:
        watch(
            [word for word in sys.argv[1:] if word != "--watch"], partial(_watched, request), _tell
        )
    if mode.last_failed:
        request = replace(request, cases=last_failed(_prepared(request).plan.jobs))
    earlier = (
        None
        if mode.resume is None
        else warned_of_damage(read_log(resumable(mode.resume, request.suites)))
    )
    if earlier is not None:
        request = request.filled_from(earlier.header.settings)
        budget = budget.filled_from(earlier.header.settings)
    prepared = _prepared(request, keyless=mode.dry_run or mode.lists)
    for note in prepared.notes:
        click.echo(note, err=True)
    if mode.dry_run or mode.lists:
        _show_plan(prepared.plan, output, lists=mode.lists)
        return
    # asked before a live display starts, which would hide the question
    require_trust(prepared.plan)
    options = replace(
        options,
        budget=budget,
        concurrency=prepared.concurrency,
        traced=output.telemetry is not None,
    )
    with redirect_stdout(sys.stderr), progress(quiet=output.quiet) as observer:
        log = launch(prepared.plan, options, observer, resume=earlier)
    cases = ((job.trial.suite, as_logged(job.trial.case)) for job in prepared.plan.jobs)
    scores = score.scores(log, cases)
    show(log, output, resume=resume_command(log.header.run_id), scores=scores)


def _prepared(request: RunRequest, *, keyless: bool = True) -> Prepared:
    with redirect_stdout(sys.stderr):  # a suite in Python may print
        return prepare(request, Path.cwd(), os.environ, keyless=keyless)


def _show_plan(plan: Plan, output: Output, *, lists: bool) -> None:
    """Print the cases that would run, or the estimated cost; nothing is started."""
    if output.json_output:
        click.echo(
            json.dumps(listed_cases.document(plan) if lists else document(plan), ensure_ascii=False)
        )
        return
    if not lists:
        click.echo(describe(plan))
        return
    for line in listed_cases.lines(plan):
        click.echo(line)
    click.echo(listed_cases.total(plan), err=True)


def _watched(request: RunRequest) -> Watched:
    """Return the files that a run of ``request`` depends on, as far as they can be read now."""
    plan = None
    with suppress(HarnessError):  # the run itself reports what is wrong
        plan = _prepared(request).plan
    return watched_by(
        plan, Path.cwd(), [*request.suites, *([request.mcp_config] if request.mcp_config else [])]
    )


def _tell(text: str) -> None:
    click.echo(text, err=True)
