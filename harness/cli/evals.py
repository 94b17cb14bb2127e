"""``harness evals``: run suites and judge what the model did."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import click
from rich.console import Console

from harness.cli.progress import progress
from harness.errors import HarnessError, UsageError
from harness.reports.build import build_report, exit_code
from harness.reports.console import print_summary
from harness.reports.json_report import write_json, write_json_error
from harness.reports.jsonl_report import write_jsonl
from harness.reports.transcripts import write_transcripts
from harness.runlog import RunLog
from harness.runner.launch import launch
from harness.runner.prepare import Request, prepare
from harness.runner.run import RunOptions
from harness.types import JsonObject, Report


def _user_context(_ctx: click.Context, _param: click.Parameter, value: str | None) -> JsonObject | None:
    """Read ``--user-context``: a JSON object, or ``@file`` that holds one."""
    if value is None:
        return None
    try:
        context = json.loads(Path(value[1:]).read_text("utf-8") if value.startswith("@") else value)
    except (OSError, ValueError) as error:
        raise click.BadParameter(f"{error}: give a JSON object, or @file with one") from error
    if not isinstance(context, dict):
        raise click.BadParameter("give a JSON object such as '{\"role\": \"admin\"}'")
    return context


@click.command("evals")
@click.argument("suites", nargs=-1, metavar="[SUITE]...")
@click.option("--suite", "more_suites", multiple=True, metavar="NAME", help="Another way to name a suite.")
@click.option("--model", "-m", "models", multiple=True, metavar="NAME", help="Who answers; may be given several times.")
@click.option("-k", "pattern", metavar="PATTERN", help="Only cases whose name or tag matches.")
@click.option("--server", metavar="COMMAND|NAME", help='Use this server, for example "python my_server.py".')
@click.option("--user-context", "-u", callback=_user_context, metavar="JSON|@FILE", help="Who asks, for every case.")
@click.option("--concurrency", type=click.IntRange(1, 1000), default=4, show_default=True, help="Cases side by side.")
@click.option("--timeout", type=click.IntRange(min=1), metavar="MS", help="Milliseconds for one case.")
@click.option("--trials", type=click.IntRange(1, 1000), default=1, show_default=True, help="Repeat every case.")
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
@click.option("--report", type=click.Path(dir_okay=False, path_type=Path), help="Write JSONL, one line a trial.")
@click.option("--debug", is_flag=True, help="Print every conversation, message by message.")
def command(  # noqa: PLR0913 - one parameter for each option
    suites: tuple[str, ...],
    more_suites: tuple[str, ...],
    models: tuple[str, ...],
    pattern: str | None,
    server: str | None,
    user_context: JsonObject | None,
    concurrency: int,
    timeout: int | None,
    trials: int,
    json_output: bool,
    report: Path | None,
    debug: bool,
) -> None:
    """Run suites and judge what the model did.

    SUITE is the name of a suite, or the path of a file or folder; none means all of evals/.
    """
    request = Request(
        suites=(*suites, *more_suites),
        models=models,
        pattern=pattern,
        server=server,
        user_context=user_context,
        timeout_s=None if timeout is None else timeout / 1000,
        trials=trials,
    )
    with _errors_as_json(json_output):
        prepared = prepare(request, Path.cwd(), os.environ)
        for note in prepared.notes:
            click.echo(note, err=True)
        with progress() as observer:
            log = launch(prepared.plan, RunOptions(concurrency=concurrency), observer)
    _show(log, json_output=json_output, report_path=report, debug=debug)


def _show(log: RunLog, *, json_output: bool, report_path: Path | None, debug: bool) -> None:
    report = build_report(log)
    if report_path is not None:
        _write(report_path, write_jsonl, report, log)
    if json_output:
        write_json(report, log, sys.stdout)
    else:
        if debug:
            write_transcripts(report, log, sys.stdout)
        print_summary(report, Console(highlight=False, markup=False, emoji=False))
        if report_path is not None:
            click.echo(f"report {report_path}")
    sys.stdout.flush()
    raise click.exceptions.Exit(exit_code(report))


def _write(path: Path, writer: Callable[[Report, RunLog, TextIO], None], report: Report, log: RunLog) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as stream:
            writer(report, log, stream)
    except OSError as error:
        raise UsageError(f"the report {path} cannot be written: {error.strerror}") from error


@contextmanager
def _errors_as_json(wanted: bool) -> Iterator[None]:
    """With ``--json-output``, an error that prevents the run is a JSON document too."""
    try:
        yield
    except HarnessError as error:
        if wanted:
            write_json_error(str(error), sys.stdout)
        raise
