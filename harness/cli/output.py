"""What every command that ends in results shows of them, and the exit code that they call for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import click
from rich.console import Console

from harness.errors import UsageError
from harness.reports.build import build_report, exit_code
from harness.reports.console import print_summary
from harness.reports.json_report import write_json
from harness.reports.jsonl_report import write_jsonl
from harness.reports.transcripts import write_transcripts
from harness.runlog import RunLog
from harness.types import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a user wants to see."""

    json_output: bool = False
    """One JSON document on stdout instead of the summary."""
    report_path: Path | None = None
    """Where to write JSONL."""
    debug: bool = False
    """Whether to print every conversation ahead of the summary."""


def show(log: RunLog, output: Output) -> None:
    """Write the results of ``log`` and exit with the code that they call for."""
    report = build_report(log)
    if output.report_path is not None:
        _write(output.report_path, write_jsonl, report, log)
    if output.json_output:
        write_json(report, log, sys.stdout)
    else:
        if output.debug:
            write_transcripts(report, log, sys.stdout)
        print_summary(report, Console(highlight=False, markup=False, emoji=False))
        if output.report_path is not None:
            click.echo(f"report {output.report_path}")
    sys.stdout.flush()
    raise click.exceptions.Exit(exit_code(report))


def _write(path: Path, writer: Callable[[Report, RunLog, TextIO], None], report: Report, log: RunLog) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as stream:
            writer(report, log, stream)
    except OSError as error:
        raise UsageError(f"the report {path} cannot be written: {error.strerror}") from error
