"""A workbench on a terminal: the findings that matter, one line each, then study by study."""

from __future__ import annotations

from collections.abc import Iterator

from harness.workbench.study import Finding
from harness.workbench.workbench import ModelResults, WorkbenchResult

MOST_FINDINGS = 10
"""Findings that are told first."""
BASELINE = (
    "These are the numbers of the built-in baseline, which is not an LLM. They show that the "
    "words can be told apart, not what a model makes of them."
)
"""Said wherever numbers of the baseline are shown."""


def lines(result: WorkbenchResult) -> Iterator[str]:
    """Yield the lines of ``result``."""
    yield from result.notes
    for one in result.models:
        yield f"{result.suite}, {one.model}"
        if one.baseline:
            yield BASELINE
        yield from _findings(one)
        for study in one.studies:
            yield ""
            yield f"{study.study}: {study.headline}"
            yield from (f"  {line}" for line in study.lines)
            yield from (f"  Note: {note}" for note in study.notes)
        yield ""
    yield _total(result)


def most_important(one: ModelResults) -> list[tuple[str, Finding]]:
    """Return the findings that matter most, each with the name of its study.

    What is certain comes first, then what has more weight.
    """
    found = [(study.study, finding) for study in one.studies for finding in study.findings]
    found.sort(key=lambda each: (not each[1].certain, -each[1].weight))
    return found[:MOST_FINDINGS]


def _findings(one: ModelResults) -> Iterator[str]:
    found = most_important(one)
    if not found:
        yield "Nothing to report."
    for _, finding in found:
        yield f"{'!' if finding.certain else '?'} {finding.text}"


def _total(result: WorkbenchResult) -> str:
    told = f"{result.recorded:,} trials"
    if result.not_judged:
        told += f", {result.not_judged:,} of them without a verdict"
    if result.reason != "complete":
        told += f"; ended early: {result.reason}"
    return f"{told}. Logs: {', '.join(str(path) for path in result.logs)}"
