"""How a workbench's result is shown and written, and its exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from harness.base import UsageError, make_printable
from harness.cli.options import bundle_options
from harness.descriptions import (
    COMMAND,
    FORMATS,
    VARIANTS_FILE,
    WorkbenchResult,
    build_workbench_document,
    collect_files,
    parse_report_request,
    print_result,
    write_file,
    write_text,
)
from harness.judging import EXIT_INTERRUPTED, EXIT_INVALID, EXIT_PASSED, EXIT_UNJUDGED
from harness.reports import ReportRequest, stdout_console
from harness.runner import RESUMED_BY, resume_command


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchOutput:
    """The output that the user asked for."""

    json_output: bool = False
    """One JSON document on stdout instead of lines."""
    reports: tuple[ReportRequest, ...] = ()
    """Files to write."""
    write: Path | None = None
    """Where to write the better descriptions, as a file of variants."""


def _parse_requests(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[ReportRequest, ...]:
    """Read every ``--report`` before anything runs, so that a mistake costs nothing."""
    return tuple(map(parse_report_request, values))


OUTPUT = bundle_options(
    "output",
    WorkbenchOutput,
    click.option("--json-output", is_flag=True, help="One JSON document on stdout."),
    click.option(
        "--report",
        "reports",
        multiple=True,
        callback=_parse_requests,
        metavar="FORMAT[:PATH]",
        help=f"Write {' or '.join(FORMATS)}; may be repeated.  [default place: the run's folder]",
    ),
    click.option(
        "--write",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Write the better descriptions there, as a file of variants.",
    ),
)
"""What is shown and written of a workbench."""


def show_workbench(result: WorkbenchResult, output: WorkbenchOutput) -> None:
    """Write ``result`` as it was asked for, and exit with its exit code."""
    refused: UsageError | None = None
    written = []
    wanted: list[Callable[[], Path | None]] = [
        partial(write_file, request, result) for request in output.reports
    ]
    if output.write is not None:
        wanted.append(partial(_write_variants, output.write, result))
    for make in wanted:
        try:
            written.append(make())
        except UsageError as error:  # one bad path must not lose the results
            refused = refused or error
    if output.json_output:
        click.echo(
            json.dumps(
                {"status": "ok", "result": build_workbench_document(result)}, ensure_ascii=False
            )
        )
    else:
        print_result(result, stdout_console())
        for path in filter(None, written):
            click.echo(f"report {path}")
    if result.reason != "complete":
        command = resume_command(result.run_id, {RESUMED_BY: COMMAND})
        larger = ", and a larger budget" if result.reason == "budget" else ""
        click.echo(f"Resume it with: {command}{larger}", err=True)
    if refused is not None and output.json_output:  # stdout already has its one document
        click.echo(f"Error: {make_printable(str(refused))}", err=True)
        raise click.exceptions.Exit(EXIT_INVALID)
    if refused is not None:
        raise refused
    if result.reason == "interrupted":
        raise click.exceptions.Exit(EXIT_INTERRUPTED)
    whole = result.reason == "complete" and not result.not_judged
    raise click.exceptions.Exit(EXIT_PASSED if whole else EXIT_UNJUDGED)


def _write_variants(path: Path, result: WorkbenchResult) -> Path | None:
    """Write the variants that were found to ``path``, and return it; ``None`` if there are none."""
    found = collect_files(result).get(VARIANTS_FILE)
    if found is None:
        click.echo(f"Nothing was written to {path}: there are no better descriptions.", err=True)
        return None
    write_text(path, found)
    return path
