"""How a workbench's result is shown and written, and its exit code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NoReturn, TypeAlias

import anyio
import click
from rich.console import Console
from rich.progress import Progress

from harness.base import (
    GATE,
    NothingToRun,
    UsageError,
    format_money,
    format_number,
    make_one_line,
    make_printable,
    shorten_text,
)
from harness.cli.options import bundle_options
from harness.cli.progress import LiveProgress, NotesObserver, live_bar
from harness.cli.results_output import fail_if_refused
from harness.descriptions import (
    COMMAND,
    FORMATS,
    OTHER,
    VARIANTS_FILE,
    Arm,
    GeneratedWordings,
    Stage,
    StageProgress,
    Workbench,
    WorkbenchContext,
    WorkbenchResult,
    build_workbench_document,
    collect_files,
    dump_yaml,
    format_comment,
    only_suite,
    parse_report_request,
    print_result,
    write_file,
    write_text,
    write_wordings,
)
from harness.judging import EXIT_INTERRUPTED, EXIT_PASSED, EXIT_UNJUDGED
from harness.reports import ReportRequest, format_problem, stdout_console, write_atomically
from harness.runlog import RESUMED_BY, resume_command
from harness.runner import Observer, RunBudget, RunPlan, open_models
from harness.types import Trial, TrialResult, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchOutput:
    """The output that the user asked for."""

    json_output: bool = False
    """One JSON document on stdout instead of lines."""
    reports: tuple[ReportRequest, ...] = ()
    """Files to write."""
    write: Path | None = None
    """Where to write the better descriptions, as a file of variants."""


OUTPUT = bundle_options(
    "output",
    WorkbenchOutput,
    click.option("--json-output", is_flag=True, help="One JSON document on stdout."),
    click.option(
        "--report",
        "reports",
        multiple=True,
        # Before anything runs, so that a mistake costs nothing.
        callback=lambda _context, _parameter, values: tuple(map(parse_report_request, values)),
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


def show_workbench(result: WorkbenchResult, output: WorkbenchOutput) -> NoReturn:
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
        document = {"status": "ok", "result": build_workbench_document(result)}
        click.echo(json.dumps(document, ensure_ascii=False))
    else:
        print_result(result, stdout_console())
        for path in filter(None, written):
            click.echo(f"report {path}")
    if result.reason != "complete":
        command = resume_command(result.run_id, {RESUMED_BY: COMMAND})
        larger = ", and a larger budget" if result.reason == "budget" else ""
        click.echo(f"Resume it with: {command}{larger}", err=True)
    fail_if_refused(refused, json_output=output.json_output)
    whole = result.reason == "complete" and not result.not_judged
    ended = EXIT_PASSED if whole else EXIT_UNJUDGED
    raise click.exceptions.Exit(EXIT_INTERRUPTED if result.reason == "interrupted" else ended)


def _write_variants(path: Path, result: WorkbenchResult) -> Path | None:
    """Write the variants that were found to ``path``, and return it; ``None`` if there are none."""
    found = collect_files(result).get(VARIANTS_FILE)
    if found is None:
        click.echo(f"Nothing was written to {path}: there are no better descriptions.", err=True)
        return None
    write_text(path, found)
    return path


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


def make_wordings(
    ground: WorkbenchContext, writer: str | None, plan: RunPlan, budget: RunBudget, path: Path
) -> None:
    """Write other wordings of the tests of ``plan`` to ``path``, which must not exist yet.

    Raises:
        UsageError: no model is named, or the file exists.
        NothingToRun: no wording is left.
    """
    if writer is None:
        raise UsageError(
            "--make-wordings needs a model that writes", meant="Name it: --writer MODEL."
        )
    if path.exists():
        raise UsageError(
            f"{path} exists already: it may have been reviewed", meant="Name another file."
        )
    # After all that needs no key: whoever names a wrong file should not have to set one first.
    suite, spec = only_suite(plan), ground.resolve_model(writer)
    GATE.require_plan((), (spec,))

    async def ask_writer() -> GeneratedWordings:
        async with open_models((spec,)) as models:
            return await write_wordings(models[spec.name], suite.cases, budget)

    found = anyio.run(ask_writer)
    for note in found.notes:
        click.echo(make_printable(note), err=True)
    variants = {one.name: {"prompts": dict(one.prompts)} for one in found.build_variants()}
    if not variants:
        raise NothingToRun(f"{writer} wrote no wording that can be used")
    told = (
        f"Other wordings of the tests of {suite.name}, written by {writer}. Review them: each must "
        "ask for the same as its test. Then: "
        f"harness workbench {suite.name} --variant {path} --studies paraphrase"
    )
    text = format_comment(told) + dump_yaml({"variants": variants})
    write_atomically(path, lambda stream: print(text, end="", file=stream))
    count = sum(map(len, found.said.values()))
    click.echo(
        f"{count} wordings of {len(found.said)} tests are in {path} "
        f"({format_number(found.usage.tokens)} tokens, {format_money(found.usage.cost_usd)}). "
        f"Review them."
    )
