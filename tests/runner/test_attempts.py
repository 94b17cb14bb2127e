"""A test that is repeated from outside is a further trial of its case."""

from __future__ import annotations

from pathlib import Path

from harness.reports.build import build_report
from harness.runlog import Header, LogWriter, TrialLine, read_log
from harness.runner.runs.shard import build_further_job, build_further_result
from harness.types import Report
from tests.cli.test_last_failed import jobs
from tests.reports.run_logs import a_run
from tests.support import entrants_of


def test_a_further_trial_has_a_key_and_a_number_of_its_own() -> None:
    (job,) = jobs("a")
    again = [build_further_job(job, number).trial for number in (1, 2)]
    assert len({job.trial.key, *(one.key for one in again)}) == 3
    assert [(one.number, one.repeats) for one in again] == [(2, 0), (3, 0)]


def test_a_result_becomes_that_of_the_same_further_trial() -> None:
    (job,) = jobs("a")
    result = build_further_result(a_run("s", "a", "m", 1, "f"), 1)
    assert (result.trial, result.is_further, result.status) == (2, True, "failed")
    same = build_further_result(a_run("s", "a", "m", 1, "f"), 1)
    assert result.key == same.key != build_further_job(job, 2).trial.key


def test_a_further_trial_does_not_stand_for_a_missing_case(tmp_path: Path) -> None:
    report = a_report(tmp_path, ("a", "b"), 2)
    assert [(case.case, case.status) for case in report.cases] == [
        ("a", "failed"),
        ("b", "cancelled"),
    ]
    assert (report.counts.planned, report.counts.cancelled) == (3, 1)


def test_nor_for_a_missing_repeat(tmp_path: Path) -> None:
    counts = a_report(tmp_path, ("a",), 3).counts
    assert (counts.planned, counts.judged_count, counts.cancelled) == (4, 2, 2)


def a_report(tmp_path: Path, cases: tuple[str, ...], planned: int) -> Report:
    """Return that of an interrupted run in which the test of case "a" was repeated."""
    first = a_run("s", "a", "m", 1, "f")
    path = tmp_path / "log.jsonl"
    with LogWriter(path) as log:
        log.append(
            Header(
                run_id="r",
                started_at="2026-01-01T00:00:00Z",
                harness_version="0",
                planned=planned,
                suites={"s": {"cases": dict.fromkeys(cases, "d")}},
                models={"m": {"provider": "openai", "model_id": "m"}},
                entrants=entrants_of(("m",)),
            )
        )
        for run in (first, build_further_result(a_run("s", "a", "m", 1, "p"), 1)):
            log.append(TrialLine(run=run))
    return build_report(read_log(path))
