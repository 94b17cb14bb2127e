"""Logs that were written once come to the verdicts that they came to then."""

from __future__ import annotations

from pathlib import Path

from harness.judging.exit_codes import exit_code
from harness.reports.build import build_report
from harness.runlog import read_log
from tests.reports.sample_logs import written

GOLDEN = Path(__file__).with_name("golden")


def test_a_log_of_schema_1_with_a_leak_is_judged_as_it_was_then() -> None:
    log = read_log(GOLDEN / "leaks.jsonl")
    assert log.damaged == ()
    report = build_report(log)
    assert [(one.case.name, one.status) for one in report.results] == [
        ("record [admin]", "passed"),
        ("record [clerk]", "passed"),
        ("record [anonymous]", "passed"),
        ("team [admin]", "passed"),
        ("team [clerk]", "failed"),
        ("team [anonymous]", "passed"),
        ("plain [admin]", "failed"),
    ]
    leaking, plain = report.results[4], report.results[6]
    assert leaking.checks[0].label == "no_leak salary"
    assert "Leak: salary (6…), which admin may see, is left out of get_person for clerk" in (
        leaking.checks[0].explanation
    )
    assert [check.label for check in plain.checks if check.verdict == "failed"] == [
        "must_not_call get_person"
    ]
    assert exit_code(report) == 1


def test_a_log_of_schema_1_has_the_facts_of_its_cases_and_its_reports() -> None:
    log = read_log(GOLDEN / "leaks.jsonl")
    first = log.results[0]
    assert first.case.name == "record [admin]"
    assert (first.case.group, first.case.identity) == ("record", "admin")
    assert first.case.user_context == {"role": "admin"}
    assert first.case.tags == ("people",)
    assert first.case.at is not None
    assert (first.case.at.file, first.case.at.line) == ("evals/people.yml", 12)
    assert "team [clerk]" in written(log, "markdown")
