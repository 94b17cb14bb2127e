from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.exit_codes import exit_code
from harness.reports.build import build_report, count_results
from harness.runlog import Footer, Header, LogWriter, TrialLine, read_log
from harness.types import CaseFacts, Report, Status, TrialResult, Usage
from tests.support import entrants_of

STATUSES: list[Status] = ["passed", "failed", "error", "skipped", "cancelled"]


def a_run(
    case: str, status: Status = "passed", *, trial: int = 1, usage: Usage | None = None
) -> TrialResult:
    return TrialResult(
        key=f"{case}{trial}",
        suite="s",
        case=CaseFacts(name=case),
        model="m",
        trial=trial,
        status=status,
        usage=usage or Usage(),
    )


def a_report(
    path: Path,
    runs: list[TrialResult],
    *,
    planned: int | None = None,
    reason: str | None = "complete",
) -> Report:
    with LogWriter(path) as log:
        log.append(
            Header(
                run_id="r",
                started_at="",
                harness_version="0",
                planned=len(runs) if planned is None else planned,
                suites={"s": {"cases": {"first": "", "second": "", "third": ""}}},
                models={"m": {}},
                entrants=entrants_of(("m",)),
            )
        )
        for run in runs:
            log.append(TrialLine(run=run))
        if reason is not None:
            log.append(Footer(finished_at="", elapsed_s=1.0, reason=reason))  # type: ignore[arg-type]
    return build_report(read_log(path))


@given(st.lists(st.sampled_from(STATUSES), max_size=30), st.integers(0, 30))
def test_the_endings_always_add_up_to_what_was_planned(
    statuses: list[Status], missing: int
) -> None:
    runs = [a_run(str(number), status) for number, status in enumerate(statuses)]
    counts = count_results(runs, planned=len(runs) + missing)
    endings = counts.passed + counts.failed + counts.error + counts.skipped + counts.cancelled
    assert endings == counts.planned == len(statuses) + missing
    assert counts.judged_count == counts.passed + counts.failed


def test_results_stand_in_the_order_of_the_suite_whatever_the_order_of_arrival(
    tmp_path: Path,
) -> None:
    report = a_report(
        tmp_path / "log.jsonl",
        [a_run("third"), a_run("first", trial=2), a_run("first"), a_run("second")],
    )
    assert [(run.case.name, run.trial) for run in report.results] == [
        ("first", 1),
        ("first", 2),
        ("second", 1),
        ("third", 1),
    ]


def test_an_unknown_cost_makes_the_sum_unknown(tmp_path: Path) -> None:
    runs = [
        a_run("first", usage=Usage(cost_usd=1.0)),
        a_run("second", usage=Usage(cost_usd=None, input_tokens=5)),
    ]
    report = a_report(tmp_path / "log.jsonl", runs)
    assert report.usage.cost_usd is None
    assert report.usage.input_tokens == 5


def test_a_log_without_a_footer_reports_what_is_missing_as_cancelled(tmp_path: Path) -> None:
    report = a_report(tmp_path / "log.jsonl", [a_run("first")], planned=3, reason=None)
    assert report.counts.cancelled == 2
    assert report.reason == "interrupted"
    assert exit_code(report) == 130


@pytest.mark.parametrize(
    ("statuses", "reason", "code"),
    [
        (["passed", "passed"], "complete", 0),
        (["passed", "failed"], "complete", 1),
        (["failed", "error"], "complete", 1),
        (["passed", "error"], "complete", 4),
        (["passed", "skipped"], "budget", 4),
        (["failed", "skipped"], "fail-fast", 1),
        (["passed", "cancelled"], "interrupted", 130),
        ([], "complete", 2),
    ],
)
def test_the_exit_code_follows_from_the_results(
    tmp_path: Path, statuses: list[Status], reason: str, code: int
) -> None:
    runs = [a_run(str(number), status) for number, status in enumerate(statuses)]
    assert exit_code(a_report(tmp_path / "log.jsonl", runs, reason=reason)) == code
