"""Run suites and judge what the model did."""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from harness.base import HarnessError, UsageError
from harness.cli.dry_run import (
    build_document,
    build_list_document,
    describe_plan,
    format_total,
    list_cases,
)
from harness.cli.options import bundle_options, complete_runs, complete_suites
from harness.cli.progress import show_progress
from harness.cli.results_output import ResultsOutput, ScoreRequest, show_results
from harness.cli.run_lookup import find_last_failed, print_warnings
from harness.cli.run_options import BUDGET, OUTPUT, REQUEST, RUN_OPTIONS, SCORE
from harness.cli.watch import Watched, find_watched_files, watch_files
from harness.reports import fill_store_meanwhile
from harness.runlog import LATEST, read_log, resume_command
from harness.runner import (
    PreparedPlan,
    RunBudget,
    RunOptions,
    RunPlan,
    RunRequest,
    build_header,
    find_resumable,
    launch_run,
    prepare_plan,
    redact_case,
    require_trust,
)
from harness.types import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalsMode:
    """The mode of the command: resume, repeat failures, watch, list or estimate."""

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

    def __post_init__(self) -> None:
        """Refuse contradictory options."""
        if self.resume is not None and (self.last_failed or self.watches):
            raise UsageError(
                "--resume continues a run as planned, so it cannot be combined with --last-failed "
                "or --watch"
            )


MODE = bundle_options(
    "mode",
    EvalsMode,
    click.option(
        "--resume",
        is_flag=False,
        flag_value=LATEST,
        metavar="[RUN]",
        shell_complete=complete_runs,
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
)


@click.command("evals")
@click.argument("suites", nargs=-1, metavar="[SUITE]...", shell_complete=complete_suites)
@click.option(
    "--suite",
    "more_suites",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_suites,
    help="Another way to name a suite.",
)
@REQUEST
@BUDGET
@RUN_OPTIONS
@OUTPUT
@SCORE
@MODE
def command(
    suites: tuple[str, ...],
    more_suites: tuple[str, ...],
    request: RunRequest,
    budget: RunBudget,
    options: RunOptions,
    output: ResultsOutput,
    score: ScoreRequest,
    mode: EvalsMode,
) -> None:
    """Run suites and judge what the model did.

    SUITE is the name of a suite, or the path of a file or folder; without it, all of evals/ runs.
    """
    request = replace(request, suites=(*suites, *more_suites))
    if mode.watches:
        watch_files(
            # Each run is this very command in a process of its own.
            [word for word in sys.argv[1:] if word != "--watch"],
            partial(_watched_files, request),
            partial(click.echo, err=True),
        )
    if mode.last_failed:
        # Without keys: this plan is only looked at, to see which cases there are.
        request = replace(request, cases=find_last_failed(_prepare_run(request).plan.jobs))
    earlier = None
    if mode.resume is not None:
        earlier = read_log(find_resumable(mode.resume, request.suites))
        print_warnings(earlier.complaints)
        request = request.fill_unset(earlier.header.settings)
        # A limit that is given again wins: a run that used up its budget needs a larger one.
        budget = budget.fill_unset(earlier.header.settings)
    prepared = _prepare_run(request, keyless=mode.dry_run or mode.lists)
    for note in prepared.notes:
        click.echo(note, err=True)
    # Before a dry run as well, which would otherwise promise what the engine cannot do.
    options = replace(
        options,
        budget=budget,
        concurrency=prepared.concurrency,
        # So that calls carry the ids under which their spans are sent afterwards.
        traced=output.telemetry is not None,
    )
    if mode.dry_run or mode.lists:
        _show_plan(prepared.plan, output, lists=mode.lists)
        return
    # asked before a live display starts, which would hide the question
    require_trust(prepared.plan)
    # Before money is spent on a run that could show nothing.
    if output.gate is not None:
        output.announce_gate(build_header(prepared.plan, "", options))
    # A suite in Python may print while it runs, and stdout has the results alone.
    starting = show_progress(quiet=output.quiet, servers=prepared.plan.servers)
    with redirect_stdout(sys.stderr), starting as observer:
        log = launch_run(
            prepared.plan, options, observer, resume=earlier, meanwhile=fill_store_meanwhile
        )
    # As the log has them: its answers have placeholders where secrets were.
    cases = ((job.trial.suite, redact_case(job.trial.case)) for job in prepared.plan.jobs)
    scores = score.measure_scores(log, cases)
    show_results(log, output, resume=resume_command(log.header.run_id), scores=scores)


def _prepare_run(request: RunRequest, *, keyless: bool = True) -> PreparedPlan:
    with redirect_stdout(sys.stderr):  # a suite in Python may print
        return prepare_plan(request, Path.cwd(), os.environ, keyless=keyless)


def _show_plan(plan: RunPlan, output: ResultsOutput, *, lists: bool) -> None:
    """Print the cases that would run, or the estimated cost; nothing is started."""
    if output.json_output:
        document = build_list_document(plan) if lists else build_document(plan)
        click.echo(json.dumps(document, ensure_ascii=False))
    elif lists:
        click.echo("".join(f"{line}\n" for line in list_cases(plan)), nl=False)
        click.echo(format_total(plan), err=True)
    else:
        click.echo(describe_plan(plan))


def _watched_files(request: RunRequest) -> Watched:
    """Return the files that a run of ``request`` depends on, as far as they can be read now."""
    plan = None
    with suppress(HarnessError):  # the run itself reports what is wrong
        plan = _prepare_run(request).plan
    return find_watched_files(
        plan, Path.cwd(), [*request.suites, *([request.mcp_config] if request.mcp_config else [])]
    )
