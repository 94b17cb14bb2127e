"""Parts of ``harness compare`` and ``--baseline``: the gate's margin, files for a comparison."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TextIO

import click
from rich.console import Console

from harness.base import UsageError
from harness.cli.run_lookup import open_compared
from harness.judging import EXIT_FAILED, EXIT_PASSED, EXIT_UNJUDGED, exit_code
from harness.reports import (
    ComparedRun,
    Comparison,
    Contrast,
    Effect,
    compare_logs,
    compare_runs,
    comparison_json,
    find_regressions,
    gate_json,
    gate_sentences,
    open_shown_run,
    print_comparison,
    write_atomically,
    write_comparison_html,
    write_comparison_json,
    write_comparison_markdown,
)
from harness.runlog import RunLog
from harness.types import JsonObject, Report

_WRITERS: dict[str, Callable[[Comparison, TextIO], None]] = {
    "markdown": write_comparison_markdown,
    "html": partial(write_comparison_html, opener=open_shown_run),
    "json": write_comparison_json,
}
_SUFFIXES = {".md": "markdown", ".html": "html", ".json": "json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonFile:
    """A file to write a comparison to."""

    format: str
    """``markdown``, ``html`` or ``json``."""
    path: Path
    """Its path."""

    def write(self, comparison: Comparison) -> None:
        """Write it.

        Raises:
            UsageError: it cannot be written.
        """
        try:
            write_atomically(self.path, partial(_WRITERS[self.format], comparison))
        except OSError as error:
            raise UsageError(
                f"the comparison {self.path} cannot be written: {error.strerror}"
            ) from error


def comparison_files(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[ComparisonFile, ...]:
    """Read every ``FORMAT:PATH``, or path whose suffix is the format."""
    return tuple(map(_comparison_file, values))


def _comparison_file(text: str) -> ComparisonFile:
    name, _, path = text.partition(":")
    if name in _WRITERS and path:
        return ComparisonFile(format=name, path=Path(path))
    if Path(text).suffix in _SUFFIXES:
        return ComparisonFile(format=_SUFFIXES[Path(text).suffix], path=Path(text))
    raise click.BadParameter(
        f"{text!r} names no file of a known format: {', '.join(f'{f}:PATH' for f in _WRITERS)}."
    )


def parse_margin(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> float | None:
    """Read a margin: ``0.05`` or ``5%``, between 0 and 1."""
    if value is None:
        return None
    try:
        number = float(value.removesuffix("%")) / (100 if value.endswith("%") else 1)
    except ValueError:
        # What is no number is refused below, in the same words as one out of bounds.
        number = -1.0
    if not 0 <= number < 1:
        raise click.BadParameter(
            f"{value!r} is no margin: write 0.05 or 5%. Write a RUN before --gate."
        )
    return number


def open_baseline(
    context: click.Context, _parameter: click.Parameter, value: str | None
) -> ComparedRun | None:
    """Open the named run before anything else happens; it is closed when the command ends."""
    return None if value is None else context.with_resource(open_compared(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedComparison:
    """A comparison and the margin of its gate."""

    comparison: Comparison
    """A comparison with the baseline, or of the models of one run."""
    gate: float | None = None
    """The margin; ``None`` when there is no gate."""

    def print_to(self, console: Console) -> None:
        """Print both."""
        console.print()
        print_comparison(self.comparison, console)
        if self.gate is not None:
            for sentence in gate_sentences(self.comparison, self._find_regressions(), self.gate):
                console.print(sentence, soft_wrap=True)

    def to_json(self) -> JsonObject:
        """Return both as JSON."""
        gate = {} if self.gate is None else {"gate": gate_json(self._find_regressions(), self.gate)}
        return {"comparison": comparison_json(self.comparison), **gate}

    @property
    def gate_failure(self) -> str:
        """Why the gate fails a run whose cases all passed, in words."""
        return " ".join(gate_sentences(self.comparison, self._find_regressions(), self.gate or 0.0))

    def exit_code(self, report: Report) -> int:
        """Return the exit code of ``report``; a gate decides in place of failed cases."""
        code = exit_code(report)
        # A run that was interrupted, or had nothing to run, has nothing for a gate to judge.
        if self.gate is None or code not in {EXIT_PASSED, EXIT_FAILED, EXIT_UNJUDGED}:
            return code
        if self._find_regressions():
            return EXIT_FAILED
        return (
            # Without evidence of a regression failed cases are forgiven, and those without a
            # verdict are not.
            EXIT_PASSED
            if {case.status for case in report.cases} <= {"passed", "failed"}
            else EXIT_UNJUDGED
        )

    def _find_regressions(self) -> list[tuple[Contrast, Effect]]:
        return [] if self.gate is None else find_regressions(self.comparison, self.gate)


def compare_results(
    log: RunLog, earlier: ComparedRun | None, gate: float | None
) -> GatedComparison | None:
    """Compare ``log`` with an ``earlier`` run, else its models with each other.

    ``None`` if there is no earlier run and only one model.

    Raises:
        UsageError: both share no model.
    """
    if earlier is not None:
        return GatedComparison(
            comparison=compare_runs([earlier, ComparedRun.from_log(log)]), gate=gate
        )
    return GatedComparison(comparison=compare_logs([log])) if len(log.header.entrants) > 1 else None


GATE = click.option(
    "--gate",
    is_flag=False,
    flag_value="0",
    callback=parse_margin,
    metavar="[MARGIN]",
    help="Exit with 1 only on evidence of a regression (of more than MARGIN, such as 5%).",
)
"""The option of every command that compares."""
