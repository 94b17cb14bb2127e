"""What several trials of a case come to, and that everybody who is told says the same."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from harness.judging.cases import case_results
from harness.judging.exit_codes import exit_code
from harness.reports.build import build_report
from harness.reports.formats.console import print_summary
from harness.reports.formats.json_report import write_json
from harness.runlog import Footer, Header, LogWriter, RunLog, TrialLine, read_log
from harness.types import CaseFacts, CheckResult, Report, Status, TrialResult
from tests.support import entrants_of

STATUSES: list[Status] = ["passed", "failed", "error", "skipped", "cancelled"]
NO = CheckResult(
    kind="must_call",
    label="must_call x",
    verdict="failed",
    explanation="Expected call not found: x",
)
SHORT: dict[str, Status] = {status[0]: status for status in STATUSES}


def trials(
    endings: str, threshold: float = 1.0, *, planned: int | None = None, case: str = "case"
) -> list[TrialResult]:
    """Return one trial a letter: ``ppf`` is two that passed and one that failed."""
    return [
        TrialResult(
            key=f"{case}{trial}",
            suite="s",
            case=CaseFacts(name=case, pass_threshold=threshold),
            model="m",
            trial=trial,
            status=SHORT[letter],
            checks=(NO,) if letter == "f" else (),
            repeats=planned or len(endings),
        )
        for trial, letter in enumerate(endings, start=1)
    ]


def verdict(endings: str, threshold: float = 1.0, *, planned: int | None = None) -> Status:
    (case,) = case_results(trials(endings, threshold, planned=planned))
    return case.status


@pytest.mark.parametrize(
    ("endings", "threshold", "expected"),
    [
        ("p", 1.0, "passed"),
        ("pp", 1.0, "passed"),
        ("pf", 1.0, "failed"),
        ("pe", 1.0, "error"),
        ("fe", 1.0, "failed"),
        ("pppff", 0.6, "passed"),
        ("ppfff", 0.6, "failed"),
        ("pppff", 0.61, "failed"),
        ("pppfe", 0.6, "passed"),
        ("ppffe", 0.6, "error"),  # the fifth would decide
        ("ppffs", 0.6, "skipped"),
        ("ppffc", 0.6, "cancelled"),
        ("ppfes", 0.6, "error"),
        ("fffes", 0.6, "failed"),  # whatever the other two had been
        ("ssss", 0.5, "skipped"),
        ("pff", 0.01, "passed"),
        ("fff", 0.01, "failed"),
    ],
)
def test_a_case_passes_when_enough_of_its_trials_do(
    endings: str, threshold: float, expected: Status
) -> None:
    assert verdict(endings, threshold) == expected


def test_trials_that_were_planned_and_never_recorded_are_no_passes() -> None:
    assert verdict("pp", planned=3) == "cancelled"
    assert verdict("pp", 0.6, planned=3) == "passed"
    assert verdict("ff", 0.6, planned=3) == "failed"


@pytest.mark.parametrize(
    ("planned", "threshold", "needed"), [(10, 0.7, 7), (100, 0.07, 7), (3, 1 / 3, 1), (3, 0.34, 2)]
)
def test_the_share_is_reckoned_as_people_reckon(
    planned: int, threshold: float, needed: int
) -> None:
    (case,) = case_results(trials("p" * planned, threshold))
    assert case.needed_passes == needed


_ENDINGS = st.text("pfesc", min_size=1, max_size=12)
_SHARES = st.floats(0.01, 1)


@given(_ENDINGS, _SHARES)
def test_no_error_is_ever_taken_for_a_pass_and_no_order_matters(
    endings: str, threshold: float
) -> None:
    status = verdict(endings, threshold)
    assert status == verdict("".join(sorted(endings)), threshold)
    at_best = verdict("".join("f" if letter == "f" else "p" for letter in endings), threshold)
    at_worst = verdict("".join("p" if letter == "p" else "f" for letter in endings), threshold)
    assert status in {at_best, "error", "skipped", "cancelled"}
    assert (status in {"passed", "failed"}) == (at_best == at_worst)


@given(_ENDINGS, _SHARES, st.integers(0, 11))
def test_a_further_pass_never_makes_it_worse(endings: str, threshold: float, place: int) -> None:
    better = "".join("p" if at == place else letter for at, letter in enumerate(endings))
    assert verdict(better, threshold) != "failed" or verdict(endings, threshold) == "failed"
    assert verdict(endings, threshold) != "passed" or verdict(better, threshold) == "passed"


# ── One log, told by everybody ───────────────────────────────────────────────────────────────


def logged(
    path: Path, runs: list[TrialResult], models: tuple[str, ...] = ("m",)
) -> tuple[Report, RunLog]:
    cases = dict.fromkeys((run.case.name for run in runs), "")
    with LogWriter(path) as log:
        log.append(
            Header(
                run_id="r",
                started_at="",
                harness_version="0",
                planned=len(runs),
                suites={"s": {"cases": cases}},
                models={name: {"provider": "x", "model_id": name} for name in models},
                entrants=entrants_of(models),
            )
        )
        for run in runs:
            log.append(TrialLine(run=run))
        log.append(Footer(finished_at="", elapsed_s=1.0))
    read = read_log(path)
    return build_report(read), read


def document(report: Report, log: RunLog) -> Any:
    stream = io.StringIO()
    write_json(report, log, stream)
    return json.loads(stream.getvalue())["result"]


def summary(report: Report, log: RunLog) -> str:
    stream = io.StringIO()
    print_summary(report, log, Console(file=stream, width=120, highlight=False, markup=False))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("flaky", "code", "passed"),
    [("ppf", 0, True), ("pff", 1, False), ("pfe", 4, False), ("ppe", 0, True)],
)
def test_exit_code_json_and_console_go_by_the_threshold(
    tmp_path: Path, flaky: str, code: int, passed: bool
) -> None:
    report, log = logged(
        tmp_path / "log.jsonl", [*trials("p", case="steady"), *trials(flaky, 0.6, case="flaky")]
    )
    result = document(report, log)
    test = result["tests"][1]
    assert exit_code(report) == result["exit_code"] == code
    assert (test["passed"], result["all_passed"]) == (passed, passed)
    assert (test["trials_planned"], test["trials_passed"], test["pass_threshold"]) == (
        3,
        flaky.count("p"),
        0.6,
    )
    told = summary(report, log)
    assert f"{test['status']:<9} flaky" in told
    assert f"{flaky.count('p')} of 3" in told


def test_counts_stay_counts_of_trials(tmp_path: Path) -> None:
    report, log = logged(tmp_path / "log.jsonl", trials("ppf", 0.6))
    assert (report.counts.planned, report.counts.passed, report.counts.failed) == (3, 2, 1)
    assert document(report, log)["summary"]["failed"] == 1
    assert "3 planned: 2 passed, 1 failed" in summary(report, log)


def test_a_test_that_passed_has_no_failures_though_one_of_its_trials_did_not_pass(
    tmp_path: Path,
) -> None:
    report, log = logged(tmp_path / "log.jsonl", trials("fpp", 0.6))
    (test,) = document(report, log)["tests"]
    assert test["failures"] == []
    assert [trial["status"] for trial in test["trials"]] == ["failed", "passed", "passed"]


def test_several_models_are_one_suite_each_in_json(tmp_path: Path) -> None:
    runs = [
        replace(run, model=model, key=f"{model}{run.key}")
        for run in (*trials("p", case="a"), *trials("f", case="b"))
        for model in ("m", "n")
    ]
    report, log = logged(tmp_path / "log.jsonl", runs, ("m", "n"))
    suites = document(report, log)["suites"]
    assert [(suite["model"], [test["name"] for test in suite["tests"]]) for suite in suites] == [
        ("m", ["a", "b"]),
        ("n", ["a", "b"]),
    ]
