"""Reads a run that the user names; damaged lines of its log are reported on stderr."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import click

from harness.base import HarnessError, NothingToRun, make_printable
from harness.judging import case_results, judge_log
from harness.reports import (
    ComparedRun,
    DamagedIndex,
    compared_run,
    open_log_index,
    read_index_facts,
)
from harness.runlog import RUNS, RunLog, find_log, log_path, read_header, read_log, run_ids
from harness.runner import Job, case_label
from harness.types import CaseResult

BY_PEOPLE = click.option(
    "--by-people",
    is_flag=True,
    help="Use people's verdicts (harness review) instead of the machine's where there are any.",
)
"""The option that uses people's verdicts instead of the machine's."""


_LARGE = 20_000_000
"""Bytes of a log that take more than a second to read."""


def open_run(name: str, *, by_people: bool = False) -> RunLog:
    """Return the log of the run ``name`` (see `harness.runlog.folders.find_log`).

    ``by_people``: use people's verdicts instead of the machine's, where there are any.

    Raises:
        UsageError: there is no such run, or the file is not a run log.
    """
    log = read_log(find_log(name))
    print_warnings(log.complaints)
    return log.apply_reviews() if by_people else log


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


_Asked: TypeAlias = tuple[str, str, str | None]
"""Suite, case, and the model that answers, or ``None`` for whichever does."""
_LATEST = 200
"""Number of latest runs that are searched. A suite that is being repaired ran more recently."""


def find_last_failed(jobs: Iterable[Job], runs: Path = RUNS) -> tuple[str, ...]:
    """Return the labels of the cases of ``jobs`` that failed or were errors when they last ran.

    A run of some cases says nothing about the others, nor one that was cut off about those without
    a verdict: what earlier runs say of them still holds. Likewise a run of one model says nothing
    about another of ``jobs``.

    Raises:
        NothingToRun: there is no such case, or no run of these suites.
    """
    trials = [job.trial for job in jobs]
    labels = {case_label(trial.suite, trial.case.name): None for trial in trials}
    # Whoever answered: a case that was never asked with these models may have failed with others.
    unknown: set[_Asked] = {
        (trial.suite, trial.case.name, model) for trial in trials for model in (trial.entrant, None)
    }
    failed: set[str] = set()
    latest: str | None = None
    # The newest first: what a later run says of a case replaces what earlier ones said.
    for run_id in run_ids(runs)[: -_LATEST - 1 : -1]:
        if not unknown:
            break
        found = _judged_cases(log_path(run_id, runs), unknown)
        latest = latest or (run_id if found else None)
        known: set[_Asked] = set()
        for one in found:
            told = {(one.suite, one.case, one.entrant), (one.suite, one.case, None)}
            known |= told
            if one.status != "passed" and not unknown.isdisjoint(told):
                failed.add(case_label(one.suite, one.case))
        # After all cases of the run: one that was asked of several models is known by each of them.
        unknown -= known
    if failed:
        return tuple(label for label in labels if label in failed)
    if latest is not None:
        raise NothingToRun(f"no case failed in the latest run: {latest}")
    names = dict.fromkeys(trial.suite for trial in trials)
    raise NothingToRun(f"there is no run yet of {', '.join(names)}, so nothing has failed")


def _judged_cases(log: Path, asked: Collection[_Asked]) -> list[CaseResult]:
    """Return the cases on which a run has a verdict or an error; none if no ``asked`` one is there.

    A damaged log does not say what failed.
    """
    with suppress(HarnessError):
        header = read_header(log)
        answering = {*header.entrants, None}
        # A long log is not read in vain.
        if any(
            case in header.suites.get(suite, {}).get("cases", ()) and model in answering
            for suite, case, model in asked
        ):
            cases = case_results(judge_log(read_log(log)).results)
            return [case for case in cases if case.status in {"passed", "failed", "error"}]
    return []
