"""Compare runs, or the models of one run, on the cases that they share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TextIO

import click

from harness.base import MARGIN, UsageError
from harness.cli.options import BoundedNumber, complete_runs, shown_option
from harness.cli.results_output import GATE
from harness.cli.run_lookup import BY_PEOPLE, open_compared
from harness.judging import EXIT_FAILED, EXIT_NOTHING, EXIT_PASSED
from harness.reports import (
    Comparison,
    compare_runs,
    judge_gate,
    open_shown_run,
    print_comparison,
    stdout_console,
    write_atomically,
    write_comparison_html,
    write_comparison_json,
    write_comparison_markdown,
)

_WRITERS: dict[str, Callable[[Comparison, TextIO], None]] = {
    "markdown": write_comparison_markdown,
    "html": partial(write_comparison_html, opener=open_shown_run),
    "json": write_comparison_json,
}
_SUFFIXES = {".md": "markdown", ".html": "html", ".json": "json"}


def read_files(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> list[tuple[str, Path]]:
    """Read every ``FORMAT:PATH``, or path whose suffix is the format."""
    files = []
    for text in values:
        form, _, path = text.partition(":")
        if form not in _WRITERS or not path:
            form, path = _SUFFIXES.get(Path(text).suffix, ""), text
        if not form:
            known = ", ".join(f"{name}:PATH" for name in _WRITERS)
            raise click.BadParameter(f"{text!r} names no file of a known format: {known}.")
        files.append((form, Path(path)))
    return files


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=complete_runs)
@GATE
@BY_PEOPLE
@shown_option(
    "--margin",
    type=BoundedNumber(min=0.1, max=100),
    default=100 * MARGIN,
    metavar="POINTS",
    help="The difference of pass rates within which two sides are equivalent.",
)
@click.option("--json-output", is_flag=True, help="One JSON document on stdout.")
@click.option(
    "--report",
    "files",
    multiple=True,
    callback=read_files,
    metavar="FORMAT:PATH",
    help=(
        "Write markdown, html or json; may be repeated. The suffix of a PATH alone selects its "
        "format."
    ),
)
def command(
    runs: Sequence[str],
    gate: float | None,
    by_people: bool,
    margin: float,
    json_output: bool,
    files: Sequence[tuple[str, Path]],
) -> None:
    """Compare runs with the first one, on the cases that they share; or the models of a single run.

    RUN is the name of a run, its beginning, a path, or "latest".
    """
    with ExitStack() as stack:
        # Large runs are read from their indexes, which must stay open as long as they are compared.
        opened = [stack.enter_context(open_compared(run, by_people=by_people)) for run in runs]
        comparison = compare_runs(opened, margin / 100)
    verdict = None if gate is None else judge_gate(comparison, gate)
    if verdict is not None and verdict.is_judged:
        verdict.refuse_if_blind()
    # before the document is printed: if a file cannot be written, the error is printed instead
    for form, path in files:
        try:
            write_atomically(path, partial(_WRITERS[form], comparison))
        except OSError as error:
            words = f"the comparison {path} cannot be written: {error.strerror}"
            raise UsageError(words) from error
    if json_output:
        write_comparison_json(
            comparison, sys.stdout, None if verdict is None else verdict.to_json()
        )
    else:
        print_comparison(comparison, stdout_console())
        if verdict is not None:
            click.echo("\n".join(verdict.write_sentences()))
        for _, path in files:
            click.echo(f"report {path}")
    sys.stdout.flush()
    judged = EXIT_FAILED if verdict is not None and verdict.regressions else EXIT_PASSED
    raise click.exceptions.Exit(judged if comparison.is_judged else EXIT_NOTHING)
