"""Progress of a workbench on stderr: a line for each list that was tried, not for each trial."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import click
from rich.console import Console
from rich.progress import Progress

from harness.base import make_one_line, make_printable, shorten_text
from harness.cli.progress import LiveProgress, NotesObserver, live_bar
from harness.descriptions import OTHER, Arm, Stage, StageProgress, Workbench
from harness.reports import format_problem
from harness.runner import Observer
from harness.types import Trial, TrialResult

Begin: TypeAlias = Callable[[Stage, Sequence[Arm], Sequence[TrialResult]], Observer]
"""Returns the observer of a stage: which it is, its lists, and the results it has already."""

_MOST_ERRORS = 3
"""Number of trials without a verdict that are printed; more would most likely repeat these."""
_CAUSE = 200


@contextmanager
def workbench_progress(bench: Workbench, *, quiet: bool = False) -> Iterator[Begin]:
    """Yield a function that makes each stage's observer; restore the terminal at the end."""
    console = Console(stderr=True)
    if quiet:
        yield lambda stage, arms, _: _announce_stage(NotesObserver(), bench, stage, arms)
    elif not console.is_terminal or console.is_dumb_terminal:
        yield lambda stage, arms, recorded: _announce_stage(
            ListLines(bench.start_progress(arms, stage), recorded), bench, stage, arms
        )
    else:
        with live_bar(console) as bar:
            yield lambda stage, arms, recorded: _announce_stage(
                LiveLists(bar, bench.start_progress(arms, stage), recorded), bench, stage, arms
            )


def _announce_stage(
    observer: Observer, bench: Workbench, stage: Stage, arms: Sequence[Arm]
) -> Observer:
    what = "1 tool list" if len(arms) == 1 else f"{len(arms)} tool lists"
    if stage == OTHER and bench.other is not None:
        what = f"the same cases on {make_one_line(bench.other.server.name)}"
    observer.on_note(f"Stage {stage}: {what}.")
    return observer


class ListLines(NotesObserver):
    """One line for each list whose trials have all ended."""

    def __init__(self, progress: StageProgress, recorded: Sequence[TrialResult] = ()) -> None:
        """Print ``progress``, which has ``recorded`` from an earlier attempt."""
        self._progress = progress
        self._errors = ErrorLines()
        progress.add_results(recorded)

    def on_finished(self, result: TrialResult) -> None:
        """Print the line of a list that this result completes, and the first errors."""
        for line in (*self._errors.format_error(result), *self._progress.add_results([result])):
            click.echo(make_printable(line), err=True)


class LiveLists(LiveProgress):
    """A bar with what is known of the list that is being tried."""

    def __init__(
        self, bar: Progress, progress: StageProgress, recorded: Sequence[TrialResult] = ()
    ) -> None:
        """Draw on ``bar``."""
        for task in bar.task_ids:
            bar.remove_task(task)  # that of the stage before
        super().__init__(bar)
        self._progress = progress
        self._errors = ErrorLines()
        progress.add_results(recorded)

    def on_started(self, trial: Trial) -> None:
        """Show nothing: what is known of the list matters more than the names of its cases."""

    def on_finished(self, result: TrialResult) -> None:
        """Advance, and name the lists that changed something."""
        for line in self._errors.format_error(result):
            self.on_note(make_printable(line))
        for line in self._progress.add_results([result]):
            if self._progress.has_changes(result.entrant):
                self.on_note(make_printable(line))
        self.settle_result(result)
        self.describe(make_printable(self._progress.describe_list(result.entrant)))


class ErrorLines:
    """The first trials that could not be judged: a broken server or key shows at once."""

    def __init__(self) -> None:
        """Begin with none."""
        self._seen = 0

    def format_error(self, result: TrialResult) -> list[str]:
        """Return the lines to print for ``result``."""
        if result.status != "error":
            return []
        self._seen += 1
        if self._seen > _MOST_ERRORS + 1:
            return []
        if self._seen > _MOST_ERRORS:
            return ["Further errors are counted, and named at the end."]
        name = make_one_line(f"{result.suite}::{result.case.name} [{result.entrant}]")
        return [f"error {name}: {shorten_text(format_problem(result), _CAUSE)}"]
