"""Reads a run that the user names; damaged lines of its log are reported on stderr."""

from __future__ import annotations

import click

from harness.runlog import RunLog, read_log
from harness.runner.runs.folders import find_log
from harness.safe_text import printable

BY_PEOPLE = click.option(
    "--by-people",
    is_flag=True,
    help="Use people's verdicts (harness review) instead of the machine's where there are any.",
)
"""The option that uses people's verdicts instead of the machine's."""


def open_run(name: str, *, by_people: bool = False) -> RunLog:
    """Return the log of the run ``name`` (see `harness.runner.runs.folders.find_log`).

    ``by_people``: use people's verdicts instead of the machine's, where there are any.

    Raises:
        UsageError: there is no such run, or the file is not a run log.
    """
    log = told(read_log(find_log(name)))
    return log.judged_by_people() if by_people else log


def told(log: RunLog) -> RunLog:
    """Report the damaged lines of ``log``, and return it."""
    for sentence in log.complaints:
        click.echo(f"Warning: {printable(sentence)}", err=True)
    return log
