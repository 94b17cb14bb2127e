"""A run that a user names, read; what in its log cannot be read is told on stderr."""

from __future__ import annotations

import click

from harness.runlog import RunLog, read_log
from harness.runner.runs.folders import find_log
from harness.safe_text import printable


def open_run(name: str) -> RunLog:
    """Return the log that a user means by ``name`` (see `harness.runner.runs.folders.find_log`).

    Raises:
        UsageError: there is none, or it is no run log.
    """
    return told(read_log(find_log(name)))


def told(log: RunLog) -> RunLog:
    """Return ``log``, once a user was told what in it cannot be read."""
    for sentence in log.complaints:
        click.echo(f"Warning: {printable(sentence)}", err=True)
    return log
