"""``harness evals``: run suites and judge what the model did."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from harness.cli.dry_run import describe
from harness.cli.options import bundle, json_object, milliseconds
from harness.cli.output import Output, show
from harness.cli.progress import progress
from harness.errors import HarnessError
from harness.reports.json_report import write_json_error
from harness.runlog import read_log
from harness.runner.control import Budget
from harness.runner.folders import LATEST, find_log
from harness.runner.launch import launch
from harness.runner.prepare import Request, prepare
from harness.runner.run import RunOptions

REQUEST = bundle(
    "request",
    Request,
    click.option("--model", "-m", "models", multiple=True, metavar="NAME", help="Who answers; may be repeated."),
    click.option("-k", "pattern", metavar="PATTERN", help="Only cases whose name or tag matches."),
    click.option("--server", metavar="COMMAND|NAME", help='Use this server, for example "python my_server.py".'),
    click.option("--user-context", "-u", callback=json_object, metavar="JSON|@FILE", help="Who asks, for every case."),
    click.option("--timeout", "timeout_s", type=click.IntRange(min=1), callback=milliseconds, metavar="MS",
                 help="Milliseconds for one case.  [default: the suite's, or 60000]"),
    click.option("--trials", type=click.IntRange(1, 1000), default=1, show_default=True, help="Repeat every case."),
    click.option("--shard", metavar="I/N", help="Only part I of N, for several machines; see harness merge."),
    click.option("--read-only", is_flag=True, help="Send no call to a tool that is not marked read-only."),
    click.option("--block", multiple=True, metavar="TOOL", help="Send no call to this tool."),
    click.option("--concurrency", "-c", type=click.IntRange(1, 1000), metavar="N",
                 help="Cases side by side.  [default: as configured, or 4]"),
)  # fmt: skip

BUDGET = bundle(
    "budget",
    Budget,
    click.option("--max-cost", "max_cost_usd", type=click.FloatRange(min=0), metavar="USD", help="Stop at this cost."),
    click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="Stop at this many tokens."),
    click.option(
        "--max-errors", type=click.IntRange(min=1), metavar="N", help="Stop after N trials without a verdict."
    ),
    click.option("--fail-fast", "-x", is_flag=True, help="Stop at the first case that does not pass."),
)

OPTIONS = bundle(
    "options",
    RunOptions,
    click.option("--grace", "grace_s", type=click.FloatRange(min=0), default=10.0, show_default=True, metavar="SECONDS",
                 help="How long running cases may go on after Ctrl-C."),
)  # fmt: skip

OUTPUT = bundle(
    "output",
    Output,
    click.option("--json-output", is_flag=True, help="One JSON document on stdout."),
    click.option("--report", "report_path", type=click.Path(dir_okay=False, path_type=Path), metavar="PATH",
                 help="Write JSONL, one line a trial."),
    click.option("--debug", is_flag=True, help="Print every conversation, message by message."),
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
    with _errors_as_json(wanted=output.json_output):
        request = replace(request, suites=(*suites, *more_suites))
        earlier = None if resume is None else read_log(find_log(resume))
        if earlier is not None:
            request = request.filled_from(earlier.header.settings)
        prepared = prepare(request, Path.cwd(), os.environ)
        for note in prepared.notes:
            click.echo(note, err=True)
        if dry_run:
            click.echo(describe(prepared.plan))
            return
        options = replace(options, budget=budget, concurrency=prepared.concurrency)
        with progress() as observer:
            log = launch(prepared.plan, options, observer, resume=earlier)
    show(log, output)


@contextmanager
def _errors_as_json(*, wanted: bool) -> Iterator[None]:
    """With ``--json-output``, an error that prevents the run is a JSON document too."""
    try:
        yield
    except HarnessError as error:
        if wanted:
            write_json_error(str(error), sys.stdout)
        raise
