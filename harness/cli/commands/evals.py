"""Run suites and judge what the model did."""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from harness.cli import listed_cases
from harness.cli import shell_completion as completing
from harness.cli.comparison_gate import GATE, named_run
from harness.cli.dry_run import describe, document
from harness.cli.last_failed import last_failed
from harness.cli.named_runs import told
from harness.cli.options import (
    MCP_CONFIG,
    TRUST,
    bundle,
    caller,
    milliseconds,
    trial_range,
    within,
)
from harness.cli.progress import progress
from harness.cli.results_output import Output, report_requests, show
from harness.cli.watch import Watched, watch, watched_by
from harness.errors import HarnessError, UsageError
from harness.runlog import read_log
from harness.runner.control import Budget
from harness.runner.launch import launch, require_trust
from harness.runner.planning import ranges
from harness.runner.planning.plan import Plan
from harness.runner.planning.prepare import Prepared, RunRequest, prepare
from harness.runner.run import RunOptions
from harness.runner.runs.folders import LATEST, resume_command
from harness.runner.runs.resume import resumable
from harness.suites.csv_dataset import MAX_CASES


def _request(
    *, trials: tuple[int | None, int | None], servers: tuple[str, ...], **values: Any
) -> RunRequest:
    server = servers[0] if len(servers) == 1 else servers or None
    return RunRequest(least_trials=trials[0], trials=trials[1], server=server, **values)


REQUEST = bundle(
    "request",
    _request,
    click.option(
        "--model",
        "-m",
        "models",
        multiple=True,
        metavar="NAME",
        help=("Model under test; may be repeated."),
    ),
    click.option(
        "--category",
        "categories",
        metavar="NAME,…",
        help=("Run only these parts of a leaderboard."),
    ),
    click.option(
        "-k", "pattern", metavar="PATTERN", help=("Run only cases whose name or tag matches.")
    ),
    click.option(
        "--server",
        "servers",
        multiple=True,
        metavar="COMMAND|URL|NAME",
        help='Use this server, for example "python my_server.py"; several are joined.',
    ),
    MCP_CONFIG,
    TRUST,
    caller("Caller of every case, in place of the suites' own."),
    click.option(
        "--timeout",
        "timeout_s",
        type=within(ranges.TIMEOUT_MS),
        callback=milliseconds,
        metavar="MS",
        help="Milliseconds for one case.  [default: the suite's, or 60000]",
    ),
    click.option(
        "--trials",
        callback=trial_range,
        metavar="N|MIN..MAX",
        help=(
            "Run every case N times; or at least MIN times, and up to MAX until its "
            "verdict is decided.  [default: the suite's, or 1]"
        ),
    ),
    click.option(
        "--shard",
        metavar="I/N",
        help=("Run part I of N, to split a run over machines; see harness merge."),
    ),
    click.option(
        "--read-only",
        is_flag=True,
        help=("Never send a call to a tool that is not marked read-only."),
    ),
    click.option(
        "--judge-model",
        metavar="NAME",
        help="Model that judges answers, for checks that need a judge; none: no judge.",
    ),
    click.option("--user-model", metavar="NAME", help="Model that plays simulated users."),
    click.option(
        "--max-cases",
        type=within(ranges.MAX_CASES),
        default=MAX_CASES,
        show_default=True,
        metavar="N",
        help="Most cases of one dataset.",
    ),
    click.option("--block", multiple=True, metavar="TOOL", help="Never send a call to this tool."),
    click.option(
        "--variant",
        "variants",
        multiple=True,
        metavar="NAME|FILE",
        help="Show the model the tools in the words of this variant; may be repeated. 'none' is "
        "the server's own list.",
    ),
    click.option(
        "--concurrency",
        "-c",
        type=within(ranges.CONCURRENCY),
        metavar="N",
        help="Trials at the same time.  [default: as configured, or 4]",
    ),
)

BUDGET = bundle(
    "budget",
    Budget,
    click.option(
        "--max-cost",
        "max_cost_usd",
        type=within(ranges.MAX_COST),
        metavar="USD",
        help="Start no further trial at this cost.",
    ),
    click.option(
        "--max-tokens",
        type=within(ranges.MAX_TOKENS),
        metavar="N",
        help="Start no further trial at this many tokens.",
    ),
    click.option(
        "--max-errors",
        type=within(ranges.MAX_ERRORS),
        metavar="N",
        help="Stop after N trials that could not be judged.",
    ),
    click.option(
        "--fail-fast", "-x", is_flag=True, help="Stop at the first case that does not pass."
    ),
)

OPTIONS = bundle(
    "options",
    RunOptions,
    click.option(
        "--grace",
        "grace_s",
        type=within(ranges.GRACE_S),
        default=10.0,
        show_default=True,
        metavar="SECONDS",
        help="Seconds that running trials may go on after Ctrl-C.",
    ),
)

OUTPUT = bundle(
    "output",
    Output,
    click.option("--json-output", is_flag=True, help="One JSON document on stdout."),
    click.option(
        "--report",
        "reports",
        multiple=True,
        callback=report_requests,
        metavar="FORMAT[:PATH]",
        help=(
            "Write jsonl, json, junit, markdown, csv, html or github; may be repeated. The suffix "
            "of a PATH alone selects its format.  [default place: the run's folder]"
        ),
    ),
    click.option(
        "--quiet",
        "-q",
        is_flag=True,
        help="Show only cases that did not pass or are marked, and the counts.",
    ),
    click.option(
        "--verbose", "-v", is_flag=True, help=("Show every case, and all failed checks in full.")
    ),
    click.option("--debug", is_flag=True, help="Print every conversation, message by message."),
    click.option(
        "--baseline",
        callback=named_run,
        metavar="RUN",
        shell_complete=completing.runs,
        help="Compare with this run; see harness compare.",
    ),
    GATE,
    click.option(
        "--otel",
        is_flag=False,
        flag_value="",
        metavar="[URL]",
        help="Send each trial as a trace to this collector.  [default: "
        "$OTEL_EXPORTER_OTLP_ENDPOINT]",
    ),
    click.option(
        "--otel-content",
        is_flag=True,
        help=("Include all messages, arguments and results in traces."),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """What the command does with the plan, and which part of it."""

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
        help=("Run only cases that did not pass in their suite's latest run."),
    ),
    click.option(
        "--watch",
        "watches",
        is_flag=True,
        help="Run again whenever a suite, the configuration or the server's source changes.",
    ),
    click.option(
        "--list", "lists", is_flag=True, help=("List the cases that would run; start nothing.")
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        help=("Show what would run and its estimated cost; start nothing."),
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
@MODE
def command(
    suites: tuple[str, ...],
    more_suites: tuple[str, ...],
    request: RunRequest,
    budget: Budget,
    options: RunOptions,
    output: Output,
    mode: Mode,
) -> None:
    """Run suites and judge what the model did.

    SUITE is the name of a suite, or the path of a file or folder; without it, all of evals/ runs.
    """
    request = replace(request, suites=(*suites, *more_suites))
    if mode.watches:
        watch(
            [word for word in sys.argv[1:] if word != "--watch"], partial(_watched, request), _tell
        )
    if mode.last_failed:
        request = replace(
            request, cases=last_failed([suite.name for suite in _prepared(request).plan.suites])
        )
    earlier = (
        None if mode.resume is None else told(read_log(resumable(mode.resume, request.suites)))
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
    options = replace(options, budget=budget, concurrency=prepared.concurrency)
    with redirect_stdout(sys.stderr), progress(quiet=output.quiet) as observer:
        log = launch(prepared.plan, options, observer, resume=earlier)
    show(log, output, resume=resume_command(log.header.run_id))


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
