"""The workbench's result on a terminal: the main findings, one line each, then study by study."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.text import Text

from harness.base import make_printable
from harness.descriptions.workbench.study import Finding, StudyResult
from harness.descriptions.workbench.workbench_result import ModelResults, WorkbenchResult
from harness.reports import print_text

MOST_FINDINGS = 10
"""Maximum number of findings in the summary."""
MOST_OF_ONE = 3
"""Maximum number of findings of one study in the summary, if other studies have findings, too."""
BASELINE = (
    "These are the numbers of the built-in baseline, which is not an LLM. They show that the "
    "words can be told apart, not what a model makes of them."
)
"""Shown with all numbers of the baseline."""


def print_result(result: WorkbenchResult, console: Console) -> None:
    """Print ``result``, within the console's width."""
    for words in result.notes:
        print_text(console, Text(make_printable(words), style="yellow"))
    for model in result.models:
        print_text(console, Text(make_printable(f"{result.suite}, {model.model}"), style="bold"))
        if model.baseline:
            print_text(console, Text(BASELINE, style="yellow"))
        _print_findings(model, console)
        for study in model.studies:
            console.print()
            _print_study(study, console)
        console.print()
    print_text(console, Text(make_printable(_format_total(result))))


def rank_findings(one: ModelResults) -> list[tuple[str, Finding]]:
    """Return the findings that matter most, each with the name of its study.

    Certain findings come first, then those with more weight. Each study has its first few findings,
    and more only if there is room.
    """
    found = [(study.study, finding) for study in one.studies for finding in study.findings]
    found.sort(key=lambda each: (not each[1].certain, -each[1].weight))
    said: Counter[str] = Counter()
    beyond = []
    for study, _ in found:
        said[study] += 1
        beyond.append(said[study] > MOST_OF_ONE)
    chosen = sorted(range(len(found)), key=lambda place: (beyond[place], place))[:MOST_FINDINGS]
    # Chosen with room for every study, but shown by weight alone.
    return [found[place] for place in sorted(chosen)]


def _print_findings(one: ModelResults, console: Console) -> None:
    found = rank_findings(one)
    if not found:
        console.print("Nothing to report.")
    for _, finding in found:
        mark = Text("!", style="bold red") if finding.certain else Text("?", style="yellow")
        print_text(console, Text(make_printable(finding.text)), 2, mark)


def _print_study(study: StudyResult, console: Console) -> None:
    head = Text.assemble((study.study, "bold"), ": ", make_printable(study.headline))
    print_text(console, head)
    for line in study.lines:
        print_text(console, Text(make_printable(line)), 2)
    for note in study.notes:
        print_text(console, Text.assemble(("Note: ", "yellow"), make_printable(note)), 2)


def _format_total(result: WorkbenchResult) -> str:
    told = f"{result.recorded:,} trials"
    if result.not_judged:
        told += f", {result.not_judged:,} of them without a verdict"
    if result.reason != "complete":
        told += f"; ended early: {result.reason}"
    if not result.logs:
        return "Nothing was run."
    return f"{told}. Logs: {', '.join(str(path) for path in result.logs)}"
