"""GitHub Actions: Markdown for the job's summary, and annotations where cases failed.

GitHub shows the first ten annotations of a step and drops the others, so of more, those of one
problem are one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.base import make_printable, shorten_text
from harness.reports.case_names import case_name
from harness.reports.formats.markdown_report import write_markdown
from harness.reports.sections.remarks import failed_warnings, format_warnings
from harness.reports.sections.sentences import failed_checks, format_account, format_problem
from harness.reports.writers import Writer
from harness.types import CaseResult, Report

_LONGEST = 2_000
"""Characters of an annotation."""
_TITLE = 180
"""Characters of the name in its title."""


_MOST = 10
"""Annotations at most: GitHub shows no more of a step."""
_NAMES = 20
"""Cases that an annotation of several names."""


def workflow_commands(report: Report) -> Iterator[str]:
    """Yield a workflow command for each case that failed, could not be judged, or has warnings.

    ::

        ::error file=evals/shop.yml,line=12,title=case failed::what went wrong

    Of more than ten cases, those of the same problem share one, then those of the same kind of
    problem in the same file. The last one counts what has no room.
    """
    urgent = [case for case in report.cases if case.status in {"failed", "error"}]
    warned = [case for case in report.cases if case.status == "passed" and format_warnings(case)]
    cases = [*urgent, *warned]
    groups = [[case] for case in cases]
    for key in (_describe_problem, _classify_problem):
        if len(groups) > _MOST:
            found: dict[tuple[str, ...], list[CaseResult]] = {}
            for case in cases:
                found.setdefault(key(case), []).append(case)
            groups = list(found.values())
    if len(groups) > _MOST:
        groups.sort(key=lambda group: (group[0].status == "passed", -len(group)))
        rest = [case for group in groups[_MOST - 1 :] for case in group]
        groups = [*groups[: _MOST - 1], rest]
    yield from (_format_annotation(group, report) for group in groups)


def _describe_problem(case: CaseResult) -> tuple[str, ...]:
    return (case.status, format_problem(case.deciding_trial) or format_warnings(case) or "")


def _classify_problem(case: CaseResult) -> tuple[str, ...]:
    run = case.deciding_trial
    checks = [*failed_checks(run), *failed_warnings(run)]
    kind = run.error.kind if run.error else checks[0].kind if checks else ""
    return case.status, str(run.case.at.file) if run.case.at else "", kind


WRITER = Writer(
    write_markdown,
    "summary.md",
    "text/markdown",
    place_variable="GITHUB_STEP_SUMMARY",
    lines=workflow_commands,
)
"""``--report github``."""


_ENDINGS = {"failed": "failed", "error": "could not be judged", "passed": "passed with a warning"}


def _format_annotation(cases: Sequence[CaseResult], report: Report) -> str:
    case = cases[0]
    run = case.deciding_trial
    level = "warning" if case.status == "passed" else "error"
    endings = {_ENDINGS[one.status] for one in cases}
    ending = endings.pop() if len(endings) == 1 else "did not pass"
    text = format_account(run)
    title = f"{case_name(case, report, _TITLE)} {ending}"
    if len(cases) > 1:
        title = f"{len(cases)} cases {ending}"
        names = "\n".join(case_name(one, report, _TITLE) for one in cases[:_NAMES])
        more = f"\n… and {len(cases) - _NAMES} more" if len(cases) > _NAMES else ""
        text = f"{shorten_text(text, _LONGEST // 2)}\n\n{names}{more}"
    properties = {"title": title}
    if run.case.at is not None:
        place = {"file": run.case.at.file, "line": run.case.at.line, "col": run.case.at.column}
        known = {key: str(at) for key, at in place.items() if at is not None}
        properties = known | properties
    return format_workflow_command(level, properties, text)


def format_workflow_command(level: str, properties: Mapping[str, str], text: str) -> str:
    """Return one workflow command, such as an annotation at a line of a file."""
    said = ",".join(f"{key}={_escape_property(value)}" for key, value in properties.items())
    return f"::{level} {said}::{_escape_message(shorten_text(text, _LONGEST))}"


def _escape_message(text: str) -> str:
    """Escape like the runner's toolkit: a command is one line, a percent sign begins an escape."""
    return make_printable(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    """Escape what would end a property as well."""
    return _escape_message(text).replace(":", "%3A").replace(",", "%2C")
