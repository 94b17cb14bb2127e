"""GitHub Actions: Markdown for the job's summary, and an annotation for every failed case."""

from __future__ import annotations

from collections.abc import Iterator

from harness.base import make_printable, shorten_text
from harness.reports.case_names import case_name
from harness.reports.formats.markdown_report import write_markdown
from harness.reports.sections.sentences import format_account
from harness.reports.writers import Writer
from harness.types import CaseResult, Report

_LONGEST = 2_000
"""Characters of an annotation."""
_TITLE = 180
"""Characters of the name in its title."""


def workflow_commands(report: Report) -> Iterator[str]:
    """Yield a workflow command for each case that failed or could not be judged.

    ::

        ::error file=evals/shop.yml,line=12,title=case failed::what went wrong
    """
    for case in report.cases:
        if case.status in {"failed", "error"}:
            yield _format_annotation(case, report)


WRITER = Writer(
    write_markdown,
    "summary.md",
    "text/markdown",
    place_variable="GITHUB_STEP_SUMMARY",
    lines=workflow_commands,
)
"""``--report github``."""


def _format_annotation(case: CaseResult, report: Report) -> str:
    run = case.deciding_trial
    ending = "failed" if case.status == "failed" else "could not be judged"
    properties = {"title": f"{case_name(case, report, _TITLE)} {ending}"}
    if run.case.at is not None:
        place = {"file": run.case.at.file, "line": run.case.at.line, "col": run.case.at.column}
        known = {key: str(at) for key, at in place.items() if at is not None}
        properties = known | properties
    said = ",".join(f"{key}={_escape_property(value)}" for key, value in properties.items())
    return f"::error {said}::{_escape_message(shorten_text(format_account(run), _LONGEST))}"


def _escape_message(text: str) -> str:
    """Escape like the runner's toolkit: a command is one line, a percent sign begins an escape."""
    return make_printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    """Escape what would end a property as well."""
    return _escape_message(text).replace(":", "%3A").replace(",", "%2C")
