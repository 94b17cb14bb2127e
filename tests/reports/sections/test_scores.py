from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from harness.reports.build import build_report
from harness.reports.formats.console import print_summary
from harness.reports.formats.html_report.overview import build_overview
from harness.reports.formats.json_report import write_json
from harness.reports.sections.scores import INCOMPLETE, score_lines, score_tables
from harness.reports.writers import WRITERS
from harness.runlog import RunLog
from harness.types import CheckResult, Report, Verdict
from tests.reports.run_logs import write_log

SCORES: Mapping[str, Any] = {
    "parts": [
        {
            "name": "overall",
            "mean": "weighted",
            "weight": 1,
            "parts": [
                {
                    "name": "pool",
                    "mean": "pooled",
                    "weight": 3,
                    "parts": [
                        {"name": "small", "category": "small", "cases": 1},
                        {"name": "large", "category": "large", "cases": 3},
                    ],
                },
                {"name": "single", "category": "single", "cases": 2},
            ],
        },
        {"name": "never run", "category": "never", "cases": 9},
    ]
}


@pytest.fixture
def log(tmp_path: Path) -> RunLog:
    return write_log(
        tmp_path / "run" / "log.jsonl",
        {"a": "p", "b": "f", "c": "pf", "d": "f", "e": "p", "f": "e"},
    )


def scored(
    log: RunLog, categories: Mapping[str, str], scores: Mapping[str, Any] = SCORES
) -> Report:
    """Return the report of ``log`` with these scores, its cases in these categories."""
    report = build_report(log)
    cases = tuple(
        replace(
            case,
            trials=tuple(
                replace(run, case=replace(run.case, metadata={"category": categories[case.case]}))
                for run in case.trials
            ),
        )
        for case in report.cases
    )
    return replace(
        report,
        cases=cases,
        suites={name: {**facts, "scores": scores} for name, facts in report.suites.items()},
    )


PLACES = {"a": "small", "b": "large", "c": "large", "d": "large", "e": "single", "f": "single"}


def test_means_are_weighed_as_the_suite_says(log: RunLog) -> None:
    (table,) = score_tables(scored(log, PLACES))
    found = {line.name: (line.score, line.judged, line.cases, line.weight) for line in table.scores}
    assert found == {
        # one of one, and half of one of three: (1 × 1 + 3 × 1/6) / 4
        "pool": (pytest.approx(0.375), 4, 4, 0.75),
        "small": (1.0, 1, 1, None),
        "large": (pytest.approx(1 / 6), 3, 3, None),
        # the trial that ended as an error has no verdict, and is no failure
        "single": (1.0, 1, 2, 0.25),
        "overall": (pytest.approx((3 * 0.375 + 1.0) / 4), 5, 6, None),
    }


def test_a_table_shows_what_is_not_complete(log: RunLog) -> None:
    (table,) = score_tables(scored(log, PLACES))
    assert score_lines(table) == [
        "overall     53.12%*  5 of 6 cases",
        "  pool      37.50%   4 of 4 cases, weighs 75%",
        "    small  100.00%   1 of 1 cases",
        "    large   16.67%   3 of 3 cases",
        "  single   100.00%*  1 of 2 cases, weighs 25%",
        INCOMPLETE,
    ]


def test_a_category_without_a_verdict_counts_as_nothing_in_a_mean(log: RunLog) -> None:
    (table,) = score_tables(scored(log, {**PLACES, "e": "other", "f": "other"}))
    assert next(line.score for line in table.scores if line.name == "overall") == pytest.approx(
        3 * 0.375 / 4
    )
    assert "single" not in {line.name for line in table.scores}


def test_a_suite_without_scores_has_no_table(log: RunLog) -> None:
    report = build_report(log)
    assert list(score_tables(report)) == []
    stream = io.StringIO()
    write_json(report, log, stream)
    assert "scores" not in json.loads(stream.getvalue())["result"]


LINES = ("  pool      37.50%   4 of 4 cases, weighs 75%", "    small  100.00%   1 of 1 cases")


@pytest.mark.parametrize("form", ["markdown", "github"])
def test_scores_are_in_summaries_for_pull_requests(log: RunLog, form: str) -> None:
    stream = io.StringIO()
    WRITERS.get(form).write(scored(log, PLACES), log, stream)
    lines = stream.getvalue().splitlines()
    at = lines.index("Scores of `s` `m`")
    assert [*LINES] == lines[at + 4 : at + 6]


@pytest.mark.parametrize("form", ["junit", "junit10"])
def test_scores_are_properties_of_the_suite_in_junit(log: RunLog, form: str) -> None:
    stream = io.StringIO()
    WRITERS.get(form).write(scored(log, PLACES), log, stream)
    found = {
        one.get("name"): one.get("value")
        for one in ET.fromstring(stream.getvalue()).iterfind("testsuite/properties/property")
    }
    assert found["score of small"] == "100.00%   1 of 1 cases"
    assert found["score of pool"] == "37.50%   4 of 4 cases, weighs 75%"
    assert found["score of single"] == "100.00%*  1 of 2 cases, weighs 25%"


def test_scores_are_part_of_the_html_page(log: RunLog) -> None:
    (table,) = build_overview(scored(log, PLACES), log)["scores"]
    assert table["title"] == "Scores of s, m"
    assert [*LINES] == table["lines"][1:3]


def test_scores_are_on_the_console_and_in_json(log: RunLog) -> None:
    report, shown, document = scored(log, PLACES), io.StringIO(), io.StringIO()
    print_summary(report, log, Console(file=shown, width=100))
    write_json(report, log, document)
    assert "37.50%   4 of 4 cases, weighs 75%" in shown.getvalue()
    (table,) = json.loads(document.getvalue())["result"]["scores"]
    assert table["scores"][0]["name"] == "overall"
    assert table["scores"][0]["complete"] is False


def test_where_turns_are_counted_each_of_them_is_a_case(log: RunLog) -> None:
    def check(kind: str, verdict: Verdict, turn: int | None = None) -> CheckResult:
        return CheckResult(
            kind=kind,
            label=kind,
            verdict=verdict,
            severity="warn" if turn else "fail",
            turn=turn,
            traits=("counts_turns",) if kind == "turns_passed" else (),
        )

    counted = (
        check("bfcl", "passed", 2),
        check("bfcl", "failed", 3),
        check("remembers", "passed", 4),
        check("remembers", "failed", 4),
        check("bfcl", "passed", 5),
        check("turns_passed", "failed"),
    )
    report = scored(log, {"a": "small", "b": "large", "c": "large", "d": "x", "e": "x", "f": "x"})
    cases = tuple(
        replace(case, trials=tuple(replace(run, checks=counted) for run in case.trials))
        if case.case == "b"
        else case
        for case in report.cases
    )
    (table,) = score_tables(replace(report, cases=cases))
    found = {line.name: (line.score, line.judged) for line in table.scores}
    # Four turns, two of them right, and a case of two trials.
    assert found["large"][0] == pytest.approx((2 + 0.5) / 5)
    assert found["large"][1] == 5
    assert found["small"] == (1.0, 1)
