"""``harness evals``: run suites and judge what the model did."""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from harness.cli.comparing import GATE, named_run
from harness.cli.dry_run import describe, document
from harness.cli.logs import told
from harness.cli.options import MCP_CONFIG, TRUST, bundle, json_object, milliseconds, trial_range, within
from harness.cli.output import Output, report_requests, show
from harness.cli.progress import progress
from harness.runlog import read_log
from harness.runner import bounds
from harness.runner.control import Budget
from harness.runner.folders import LATEST
from harness.runner.launch import launch, require_trust
from harness.runner.prepare import Request, prepare
from harness.runner.resume import resumable
from harness.runner.run import RunOptions
from harness.suites.csv_dataset import MAX_CASES


def _request(*, trials: tuple[int | None, int | None], servers: tuple[str, ...], **values: Any) -> Request:
    server = servers[0] if len(servers) == 1 else servers or None
    return Request(least_trials=trials[0], trials=trials[1], server=server, **values)


REQUEST = bundle(
    "request",
    _request,
    click.option("--model", "-m", "models", multiple=True, metavar="NAME", help="Who answers; may be repeated."),
    click.option("--category", "categories", metavar="NAME,…", help="Only these parts of a benchmark."),
    click.option("-k", "pattern", metavar="PATTERN", help="Only cases whose name or tag matches."),
    click.option("--server", "servers", multiple=True, metavar="COMMAND|URL|NAME",
                 help='Use this server, for example "python my_server.py"; several are joined.'),
    MCP_CONFIG,
    TRUST,
    click.option("--user-context", "-u", callback=json_object, metavar="JSON|@FILE", help="Who asks, for every case."),
    click.option("--timeout", "timeout_s", type=within(bounds.TIMEOUT_MS), callback=milliseconds, metavar="MS",
                 help="Milliseconds for one case.  [default: the suite's, or 60000]"),
    click.option("--trials", callback=trial_range, metavar="N|MIN..MAX",
                 help="Run every case N times; at least MIN, and up to MAX until it is decided.  "
                 "[default: the suite's, or 1]"),
    click.option("--shard", metavar="I/N", help="Only part I of N, for several machines; see harness merge."),
    click.option("--read-only", is_flag=True, help="Send no call to a tool that is not marked read-only."),
    click.option("--judge-model", metavar="NAME",
                 help="Who judges answers, where a check asks for it; none for nobody."),
    click.option("--user-model", metavar="NAME", help="Who plays the simulated users of cases that have one."),
    click.option("--max-cases", type=within(bounds.MAX_CASES), default=MAX_CASES, show_default=True, metavar="N",
                 help="The most tests of one dataset in CSV."),
    click.option("--block", multiple=True, metavar="TOOL", help="Send no call to this tool."),
    click.option("--concurrency", "-c", type=within(bounds.CONCURRENCY), metavar="N",
                 help="Cases side by side.  [default: as configured, or 4]"),
)  # fmt: skip

BUDGET = bundle(
    "budget",
    Budget,
    click.option("--max-cost", "max_cost_usd", type=within(bounds.MAX_COST), metavar="USD", help="Stop at this cost."),
    click.option("--max-tokens", type=within(bounds.MAX_TOKENS), metavar="N", help="Stop at this many tokens."),
    click.option(
        "--max-errors", type=within(bounds.MAX_ERRORS), metavar="N", help="Stop after N trials without a verdict."
    ),
    click.option("--fail-fast", "-x", is_flag=True, help="Stop at the first case that does not pass."),
)

OPTIONS = bundle(
    "options",
    RunOptions,
    click.option("--grace", "grace_s", type=within(bounds.GRACE_S), default=10.0, show_default=True, metavar="SECONDS",
                 help="How long running cases may go on after Ctrl-C."),
)  # fmt: skip

OUTPUT = bundle(
    "output",
    Output,
    click.option("--json-output", is_flag=True, help="One JSON document on stdout."),
    click.option("--report", "reports", multiple=True, callback=report_requests, metavar="FORMAT[:PATH]",
                 help="Write jsonl, json, junit, markdown, csv, html or github; may be repeated. "
                 "A PATH alone says its format by its suffix.  [default place: the run's folder]"),
    click.option("--debug", is_flag=True, help="Print every conversation, message by message."),
    click.option("--baseline", callback=named_run, metavar="RUN", help="Compare with this run; see harness compare."),
    GATE,
    click.option("--otel", is_flag=False, flag_value="", metavar="[URL]",
                 help="Send each trial as a trace to this collector.  [default: $OTEL_EXPORTER_OTLP_ENDPOINT]"),
    click.option("--otel-content", is_flag=True, help="With all messages, arguments and results."),
)  # fmt: skip


@click.command("evals")
@click.argument("suites", nargs=-1, metavar="[SUITE]...")
@click.option("--suite", "more_suites", multiple=True, metavar="NAME", help="Another way to name a suite.")
@REQUEST
@BUDGET
@OPTIONS
@OUTPUT
@click.option("--resume", is_flag=False, flag_value=LATEST, metavar="[RUN]", help="Run what a run left undone.")
@click.option("--dry-run", is_flag=True, help="Show what would be run and what it may cost; start nothing.")
def command(
    suites: tuple[str, ...],
    more_suites: tuple[str, ...],
    request: Request,
    budget: Budget,
    options: RunOptions,
    output: Output,
    resume: str | None,
    dry_run: bool,
) -> None:
    """Run suites and judge what the model did.

    SUITE is the name of a suite, or the path of a file or folder; none means all of evals/.
    """
    request = replace(request, suites=(*suites, *more_suites))
    earlier = None if resume is None else told(read_log(resumable(resume, request.suites)))
    if earlier is not None:
        request = request.filled_from(earlier.header.settings)
        budget = budget.filled_from(earlier.header.settings)
    with redirect_stdout(sys.stderr):  # a suite in Python may print
        prepared = prepare(request, Path.cwd(), os.environ, keyless=dry_run)
    for note in prepared.notes:
        click.echo(note, err=True)
    if dry_run:
        plan = prepared.plan
        click.echo(json.dumps(document(plan), ensure_ascii=False) if output.json_output else describe(plan))
        return
    require_trust(prepared.plan)  # before there is a live display in the way of a question
    options = replace(options, budget=budget, concurrency=prepared.concurrency)
    with redirect_stdout(sys.stderr), progress() as observer:
        log = launch(prepared.plan, options, observer, resume=earlier)
    show(log, output)
