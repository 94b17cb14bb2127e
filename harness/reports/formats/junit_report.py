"""JUnit XML, as CI systems read it: a suite for each suite and model, a test case for each case.

Readers know a test case again by ``classname`` and ``name``, some of them by ``name`` alone within
a ``testsuite``, so the name says the model if there are several.

But for ``file`` and ``line`` of a test case, the document keeps to what the strictest common reader
accepts (the ``junit-10`` schema of Jenkins' xUnit plugin, after that of Maven's Surefire). That
schema gives a test case no properties, so those stand in its ``system-out`` as
``[[PROPERTY|name=value]]``, the form that readers of test reports know; properties of the whole
stand where the schema has them, on the suite.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TextIO
from xml.etree import ElementTree as ET

from harness.base import limit_text, make_one_line, make_printable, shorten_text
from harness.reports.build import iterate_trials
from harness.reports.case_names import name_within_suite
from harness.reports.findings import get_inputs
from harness.reports.formats.transcripts import trial_text
from harness.reports.record_fields import sum_fields
from harness.reports.sections.attacks import find_attack_figures
from harness.reports.sections.faults import FaultArm, find_fault_properties, measure_faults
from harness.reports.sections.list_changes import find_changes
from harness.reports.sections.remarks import (
    calls_words,
    case_mark,
    count_calls,
    format_warnings,
    review_words,
    warning_words,
)
from harness.reports.sections.repeats import trials_needed
from harness.reports.sections.scores import find_scores
from harness.reports.sections.sentences import failed_checks, format_account, list_server_names
from harness.reports.trial_record import TrialRecord
from harness.reports.writers import Writer
from harness.runlog import RunLog
from harness.types import CaseResult, Report, Status, TrialResult

_LONGEST = 20_000
"""Characters of one trial's conversation; the rest is in the run log."""
_MESSAGE = 300
"""Characters of the line that a CI system shows beside a failed test."""
# JUnit has no word for a trial that was cut off: it has no verdict, as after an error.
_ELEMENTS: Mapping[Status, str] = {
    "failed": "failure",
    "error": "error",
    "cancelled": "error",
    "skipped": "skipped",
}
_SUMS = ("tokens_in", "tokens_out", "cost_usd")
"""Fields of the record that are added up."""


def write_junit(report: Report, log: RunLog, stream: TextIO, *, places: bool = True) -> None:
    """Write the document case by case, which needs little memory.

    Without ``places``, test cases have neither ``file`` nor ``line``.
    """
    groups: dict[tuple[str, str], list[CaseResult]] = {}
    for case in report.cases:
        groups.setdefault((case.suite, case.entrant), []).append(case)
    attributes = {"name": _clean_text(report.run_id), **_sum_attributes(report.cases)}
    root = ET.Element("testsuites", attributes)
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    if not groups:
        stream.write(f"{_format_element(root, 0)}\n")
        return
    stream.write(f"{_format_opening_tag(root)}\n")
    arms = measure_faults(report, log)
    for (suite, entrant), cases in groups.items():
        element = _build_suite(suite, entrant, cases, report, arms)
        stream.write(f"  {_format_opening_tag(element)}\n")
        # The properties are there already; each case is made when it is written.
        parts = chain(element, (_build_case(case, report, log, places=places) for case in cases))
        stream.writelines(f"    {_format_element(part, 2)}\n" for part in parts)
        stream.write("  </testsuite>\n")
    stream.write("</testsuites>\n")


def _format_opening_tag(element: ET.Element) -> str:
    """Return the opening tag of an element."""
    alone = ET.tostring(ET.Element(element.tag, element.attrib), encoding="unicode")
    return f"{alone.removesuffix(' />')}>"


def _format_element(element: ET.Element, level: int) -> str:
    """Return a whole element, which stands so deep."""
    ET.indent(element, level=level)
    return ET.tostring(element, encoding="unicode")


WRITER = Writer(write_junit, "junit.xml", "application/xml", suffix=".xml")
"""``--report junit``."""


def _build_suite(
    suite: str,
    entrant: str,
    cases: Sequence[CaseResult],
    report: Report,
    arms: Sequence[FaultArm],
) -> ET.Element:
    """Return the element of a suite with its properties, without its cases."""
    name = suite if len(report.entrants) == 1 else f"{suite} [{entrant}]"
    skipped = sum(case.status == "skipped" for case in cases)
    attributes = {"name": _clean_text(name), **_sum_attributes(cases), "skipped": str(skipped)}
    file = report.suites.get(suite, {}).get("file")
    servers = list_server_names(report.suites, suite)
    if file is not None:
        attributes["file"] = _clean_text(file)
    if report.started_at:
        attributes["timestamp"] = report.started_at[:19]
    element = ET.Element("testsuite", attributes)
    reviews = [
        report.reviews[one.key]
        for one in (iterate_trials(cases) if report.reviews else ())
        if one.key in report.reviews
    ]
    facts = {
        "model": cases[0].model,
        **cases[0].axes,
        **({"server": ", ".join(servers)} if servers else {}),
        "file": file,
        "run": report.run_id,
        "trials_planned": sum(case.planned for case in cases),
        "calls": calls_words(count_calls(iterate_trials(cases))),
        **sum_fields(iterate_trials(cases), _SUMS),
        **({"warnings": told} if (told := warning_words(iterate_trials(cases))) else {}),
        "reason": report.reason,
        **({"inputs": inputs["digest"]} if (inputs := get_inputs(report)) else {}),
        **({"reviews": review_words(reviews)} if reviews else {}),
        **{f"score of {name}": words for name, words in find_scores(report, suite, entrant)},
        **{f"fault {key}": value for key, value in find_fault_properties(arms, suite, entrant)},
        **dict(find_attack_figures(report, suite, entrant)),
    }
    properties = ET.SubElement(element, "properties")
    for key, value in facts.items():
        shown = _clean_text(_format_known(value))
        ET.SubElement(properties, "property", {"name": _clean_text(key), "value": shown})
    return element


def _build_case(case: CaseResult, report: Report, log: RunLog, *, places: bool) -> ET.Element:
    record = TrialRecord(case.deciding_trial)
    attributes = {
        "name": name_within_suite(case, report, _clean_text),
        "classname": _clean_text(case.suite),
        "time": _format_time(case.trials),
    }
    if places and record.file is not None:
        attributes["file"] = _clean_text(record.file)
        if record.line:
            attributes["line"] = str(record.line)
    element = ET.Element("testcase", attributes)
    if case.status in _ELEMENTS:
        attributes = {
            "message": _clean_text(shorten_text(record.problem or "", _MESSAGE)),
            "type": _classify_problem(record),
        }
        problem = ET.SubElement(element, _ELEMENTS[case.status], attributes)
        problem.text = _clean_text(_format_reason(case))
    out: list[str] = []
    err: list[str] = []
    for result in case.trials:
        if (said := log.read_transcript(result.key)) is not None:
            text = trial_text(result, said, find_changes(log, said), thinking=False)
            out.append(limit_text(text, _LONGEST))
            err += [limit_text(said.stderr_tail, _LONGEST)] if said.stderr_tail else []
    properties = _format_properties(case, record)
    conversations = _clean_text("\n".join(out))
    ET.SubElement(element, "system-out").text = f"{properties}\n{conversations}"
    if err:
        ET.SubElement(element, "system-err").text = _clean_text("\n".join(err))
    return element


def _format_reason(case: CaseResult) -> str:
    shown = case.deciding_trial
    where = [str(shown.case.at)] if shown.case.at else []
    if case.planned > 1:
        passed = f"{case.passed_count} of {trials_needed(case)} trials passed"
        where.append(f"{passed}, {case.needed_passes} needed")
    return "\n".join((*where, limit_text(format_account(shown), _LONGEST)))


def _classify_problem(record: TrialRecord) -> str:
    """Return the sort of problem, for readers that group by it."""
    kinds = (check.kind for check in failed_checks(record.result))
    return record.error_kind or _clean_text(next(kinds, record.status))


def _format_properties(case: CaseResult, record: TrialRecord) -> str:
    facts = {
        "model": case.model,
        **case.axes,
        "status": case.status,
        "trials": " ".join(result.status for result in case.trials),
        **sum_fields(case.trials, _SUMS),
        "file": record.file,
        "line": record.line,
        "calls": calls_words(count_calls(case.trials)),
        **({"mark": words} if (words := case_mark(case)) else {}),
        **({"warnings": told} if (told := format_warnings(case)) else {}),
    }
    return "\n".join(f"[[PROPERTY|{key}={_format_value(value)}]]" for key, value in facts.items())


def _format_value(value: Any) -> str:
    # Two brackets end a property; the last one of a value would be joined by the first of them.
    return re.sub(r"\](?=\]|$)", "] ", make_one_line(_clean_text(_format_known(value))))


def _sum_attributes(cases: Sequence[CaseResult]) -> dict[str, str]:
    elements = [_ELEMENTS.get(case.status) for case in cases]
    return {
        "tests": str(len(cases)),
        "failures": str(elements.count("failure")),
        "errors": str(elements.count("error")),
        "time": _format_time(iterate_trials(cases)),
    }


def _format_time(results: Iterable[TrialResult]) -> str:
    return f"{sum_fields(results, ['latency_s'])['latency_s']:.3f}"


def _format_known(value: Any) -> str:
    return "unknown" if value is None else str(value)


def _clean_text(text: str) -> str:
    """Return ``text`` without characters that XML forbids or that a reader takes for commands."""
    return re.sub(r"\[(?=\[)", "[ ", make_printable(text))
