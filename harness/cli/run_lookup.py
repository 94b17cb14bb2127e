"""Reads a run that the user names; damaged lines of its log are reported on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from harness.base import make_printable
from harness.reports import (
    ComparedRun,
    DamagedIndex,
    compared_run,
    open_log_index,
    read_index_facts,
)
from harness.runlog import RunLog, read_log
from harness.runner import find_log

BY_PEOPLE = click.option(
    "--by-people",
    is_flag=True,
    help="Use people's verdicts (harness review) instead of the machine's where there are any.",
)
"""The option that uses people's verdicts instead of the machine's."""


_LARGE = 20_000_000
"""Bytes of a log that take more than a second to read."""


def open_run(name: str, *, by_people: bool = False) -> RunLog:
    """Return the log of the run ``name`` (see `harness.runner.runs.folders.find_log`).

    ``by_people``: use people's verdicts instead of the machine's, where there are any.

    Raises:
        UsageError: there is no such run, or the file is not a run log.
    """
    log = warn_of_damage(read_log(find_log(name)))
    return log.apply_reviews() if by_people else log


def warn_of_damage(log: RunLog) -> RunLog:
    """Report the damaged lines of ``log``, and return it."""
    print_warnings(log.complaints)
    return log


@contextmanager
def open_compared(name: str, *, by_people: bool = False) -> Iterator[ComparedRun]:
    """Give the run ``name`` for a comparison; that in a large log is read from its index.

    Raises:
        UsageError: there is no such run, or the file is not a run log.
    """
    with compared_run(find_log(name), by_people=by_people) as (run, damaged):
        print_warnings(damaged)
        yield run


@contextmanager
def open_index(names: Iterable[str]) -> Iterator[list[tuple[str, Path]]]:
    """Give the index of each of those runs, by the name of the run; a new one is made if need be.

    Raises:
        UsageError: there is no such run, or the file is not a run log.
        DamagedIndex: one is not as it was written; they are removed, so that they are made anew.
    """
    with ExitStack() as stack:
        found = []
        # A run that is named twice, perhaps once by "latest", is asked once.
        for log in dict.fromkeys(map(find_log, names)):
            index = stack.enter_context(open_log_index(log, announce_reading(log)))
            run, damaged = read_index_facts(index, log)
            print_warnings(damaged)
            found.append((run, index))
        try:
            yield found
        except DamagedIndex:
            for _, index in found:
                index.unlink(missing_ok=True)
            raise


def print_warnings(sentences: Iterable[str]) -> None:
    """Print warnings, one a line."""
    for sentence in sentences:
        click.echo(f"Warning: {make_printable(sentence)}", err=True)


def announce_reading(log: Path) -> Callable[[int], None]:
    """Return what says, once, that the log is being read, if that takes a while."""
    said = log.stat().st_size < _LARGE

    def announce(_: int) -> None:
        nonlocal said
        if not said:
            said = True
            click.echo(f"Reading {make_printable(str(log))} into its index …", err=True)

    return announce
