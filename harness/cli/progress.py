"""Progress on stderr: a live bar on a terminal, plain lines anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from harness.reports.text import money, printable, seconds, shorten
from harness.runner.observer import Observer
from harness.types import DECIDED, Run, Trial, Usage


@contextmanager
def progress() -> Iterator[Observer]:
    """Yield the observer that suits the terminal, and leave the terminal as it was."""
    console = Console(stderr=True)
    if not console.is_terminal or console.is_dumb_terminal:
        yield PlainProgress()
        return
    columns = (BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console, transient=True) as bar:
        yield LiveProgress(bar)


class PlainProgress:
    """One line for each result."""

    def __init__(self) -> None:
        """Start at none of none."""
        self._total = 0
        self._done = 0

    def planned(self, total: int) -> None:
        """Remember the total."""
        self._total = total

    def started(self, trial: Trial) -> None:
        """Say nothing: only results are worth a line in a CI log."""

    def finished(self, run: Run) -> None:
        """Write the result's line."""
        self._done += 1
        if run.skip_reason == DECIDED:
            return
        took = f" {seconds(run.latency_s)}" if run.stop else ""
        name = printable(f"{run.suite}::{run.case}")
        click.echo(f"[{self._done}/{self._total}] {run.status} {name}{took}{_cause(run)}", err=True)

    def note(self, text: str) -> None:
        """Write it."""
        click.echo(printable(text), err=True)


def _cause(run: Run) -> str:
    """Return why a trial has no verdict, in a few words."""
    return "" if run.error is None else f": {run.error.kind}: {shorten(printable(run.error.message), 160)}"


class LiveProgress:
    """A bar with the results so far, the cost, and what runs now."""

    def __init__(self, bar: Progress) -> None:
        """Draw on ``bar``."""
        self._bar = bar
        self._task = bar.add_task("starting the server", total=None)
        self._running: list[str] = []
        self._failed = 0
        self._usage = Usage()

    def planned(self, total: int) -> None:
        """Set the bar's length."""
        self._bar.update(self._task, total=total)

    def started(self, trial: Trial) -> None:
        """Show the case among those that run."""
        self._running.append(trial.case.name)
        self._show()

    def finished(self, run: Run) -> None:
        """Advance."""
        if run.case in self._running:
            self._running.remove(run.case)
        self._failed += run.status in {"failed", "error"}
        self._usage += run.usage
        self._bar.advance(self._task)
        self._show()

    def note(self, text: str) -> None:
        """Print it above the bar."""
        self._bar.console.print(text, markup=False, highlight=False)

    def _show(self) -> None:
        parts = [f"{self._failed} not passed"] if self._failed else []
        if self._usage.cost_usd:
            parts.append(money(self._usage.cost_usd))
        parts.append(printable(", ".join(self._running[:3])))
        self._bar.update(self._task, description=" · ".join(part for part in parts if part))
