"""Progress on stderr: a live bar on a terminal, plain lines anywhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column

from harness.base import format_money, format_seconds, make_one_line, make_printable, shorten_text
from harness.reports import format_problem
from harness.runner import Observer
from harness.sessions import describe_installing
from harness.types import DECIDED, ServerSpec, Trial, TrialResult, Usage


@contextmanager
def show_progress(*, quiet: bool = False, servers: Sequence[ServerSpec] = ()) -> Iterator[Observer]:
    """Yield an observer for this terminal, and restore it; a ``quiet`` one shows notes only.

    ``servers`` are those that are started first.
    """
    console = Console(stderr=True)
    if quiet:
        yield NotesObserver()
        return
    # A bar is redrawn in place, which a CI log or an editor's shell shows as hundreds of lines.
    if not console.is_terminal or console.is_dumb_terminal:
        if installing := describe_installing(servers):
            click.echo(make_printable(installing), err=True)
        yield PlainProgress()
        return
    with live_bar(console) as bar:
        yield LiveProgress(bar, describe_installing(servers) or "starting the server")


def live_bar(console: Console) -> Progress:
    """Return a progress bar that disappears at its end; its columns keep their width."""
    whole = Column(no_wrap=True)
    rest = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    columns = (
        BarColumn(20, table_column=whole),
        MofNCompleteColumn(table_column=whole),
        TextColumn("trials", table_column=whole),
        TimeElapsedColumn(table_column=whole),
        TextColumn("{task.description}", markup=False, table_column=rest),
    )
    return Progress(*columns, console=console, transient=True, expand=True)


class NotesObserver(Observer):
    """Shows notes about the run as a whole, nothing about single trials."""

    def on_note(self, text: str) -> None:
        """Write it."""
        click.echo(text, err=True)


_RUN = frozenset({"passed", "failed", "error"})
"""The statuses of trials that were run to an end; the others were skipped or cut off."""


class PlainProgress(Observer):
    """One line for each result."""

    def __init__(self) -> None:
        """Start at 0 of 0."""
        self._total = 0
        self._done = 0
        self._several = False
        self._waiting: set[str] = set()

    def on_subjects(self, names: Sequence[str]) -> None:
        """Name the subject in each line if there are several."""
        self._several = len(names) > 1

    def on_planned(self, total: int) -> None:
        """Remember the total."""
        self._total = total

    def on_waiting(self, result: TrialResult) -> None:
        """Print that it has ended; it is numbered when its status is settled."""
        self._waiting.add(result.key)
        waiting = f"{len(self._waiting)} waiting for the other identities"
        self._print_line(f"[{self._done}/{self._total}, {waiting}]", result)

    def on_finished(self, result: TrialResult) -> None:
        """Print the result's line; count it if it was run."""
        self._waiting.discard(result.key)
        if result.skip_reason == DECIDED:
            self._total -= 1  # nobody needs it any more
            return
        self._done += result.status in _RUN
        self._print_line(
            f"[{self._done}/{self._total}] {result.status}", result, _format_cause(result)
        )

    def _print_line(self, state: str, result: TrialResult, cause: str = "") -> None:
        took = f" {format_seconds(result.latency_s)}" if result.stop else ""
        name = _trial_name(result, several=self._several)
        click.echo(f"{state} {name}{took}{cause}", err=True)

    def on_note(self, text: str) -> None:
        """Write it."""
        click.echo(make_printable(text), err=True)


_CAUSE = 200
"""Most characters of a trial's failure; the summary has the rest."""


def _trial_name(result: TrialResult, *, several: bool) -> str:
    """Return the trial's name; among ``several`` subjects with its own."""
    repeat = f" ({result.trial} of {result.repeats})" if result.repeats > 1 else ""
    subject = f" [{result.entrant}]" if several else ""
    return make_one_line(f"{result.suite}::{result.case.name}{subject}{repeat}")


def _format_cause(result: TrialResult) -> str:
    """Return in a few words why a trial failed or has no verdict."""
    if result.status not in {"failed", "error"}:
        return ""
    return f": {shorten_text(format_problem(result), _CAUSE)}"


class LiveProgress(Observer):
    """A bar with the results so far, the cost, and the running cases."""

    def __init__(self, bar: Progress, first: str = "starting the server") -> None:
        """Draw on ``bar``; ``first`` is what happens before the first case."""
        self._bar = bar
        self._task = bar.add_task(make_printable(first), total=None)
        self._running: list[str] = []
        self._total = 0
        self._failed = 0
        self._not_run = 0
        self._several = False
        self._waiting: set[str] = set()
        self._usage = Usage()

    def on_subjects(self, names: Sequence[str]) -> None:
        """Name the subject in each line if there are several."""
        self._several = len(names) > 1

    def on_planned(self, total: int) -> None:
        """Set the bar's length."""
        self._total = total
        self._bar.update(self._task, total=total)

    def on_started(self, trial: Trial) -> None:
        """Add the case to the running ones."""
        self._running.append(trial.case.name)
        self._show_description()

    def on_waiting(self, result: TrialResult) -> None:
        """Advance; how it ended is shown when that is settled."""
        self._waiting.add(result.key)
        self._advance(result)

    def on_finished(self, result: TrialResult) -> None:
        """Name what did not pass, and advance unless that was done when the trial ended."""
        if result.status in {"failed", "error"}:
            self._failed += 1
            name = _trial_name(result, several=self._several)
            self.on_note(f"{result.status:<9} {name}{_format_cause(result)}")
        self.settle_result(result)

    def settle_result(self, result: TrialResult) -> None:
        """Advance unless that was done when the trial ended."""
        if result.key in self._waiting:
            self._waiting.remove(result.key)
            self._show_description()
        else:
            self._advance(result)

    def _advance(self, result: TrialResult) -> None:
        """Advance by what was run; what was skipped or cut off is counted beside it."""
        # A trial that was skipped was never among them.
        if result.case.name in self._running:
            self._running.remove(result.case.name)
        self._usage += result.usage
        if result.status in _RUN:
            self._bar.advance(self._task)
        elif result.skip_reason == DECIDED:
            self.on_planned(self._total - 1)  # nobody needs it any more
        else:
            self._not_run += 1
        self._show_description()

    def describe(self, words: str) -> None:
        """Show ``words`` beside the bar, in place of the running cases."""
        self._bar.update(self._task, description=words)

    def on_note(self, text: str) -> None:
        """Print it above the bar."""
        # By the bar's own console: anything else would be printed into the bar.
        self._bar.console.print(text, markup=False, highlight=False)

    def _show_description(self) -> None:
        parts = [f"{self._failed} of them not passed"] if self._failed else []
        if self._not_run:
            parts.append(f"{self._not_run} not run")
        if self._waiting:
            parts.append(f"{len(self._waiting)} wait for other identities")
        if self._usage.cost_usd:
            parts.append(format_money(self._usage.cost_usd))
        # More names have no room beside the bar.
        parts.append(make_printable(", ".join(self._running[:3])))
        self._bar.update(self._task, description=" · ".join(part for part in parts if part))
