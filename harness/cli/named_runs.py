"""Reads a run that the user names; damaged lines of its log are reported on stderr."""

from __future__ import annotations

import click

from harness.runlog import RunLog, read_log
from harness.runner.runs.folders import find_log
from harness.safe_text import printable


def open_run(name: str) -> RunLog:
    """Return the log of the run ``name`` (see `harness.runner.runs.folders.find_log`).

    Raises:
        UsageError: there is no such run, or the file is not a run log.
    """
    return told(read_log(find_log(name)))


def told(log: RunLog) -> RunLog:
    """Report the damaged lines of ``log``, and return it."""
    for sentence in log.complaints:
        click.echo(f"Warning: {printable(sentence)}", err=True)
    return log
