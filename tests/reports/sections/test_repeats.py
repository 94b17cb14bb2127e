import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from harness.reports.build import build_report
from harness.reports.formats.console import print_summary
from harness.reports.formats.json_report import write_json
from harness.reports.sections.repeats import (
    compute_reliability,
    is_flaky,
    repeat_lines,
    repeats_json,
    trials_passed,
)
from harness.reports.sections.sentences import compute_pass_rate
from harness.runlog import RunLog
from harness.types import DECIDED, CaseResult, Status
from tests.reports.run_logs import write_log
from tests.reports.sample_logs import a_log, a_run, must_call, written


@pytest.fixture
def log(tmp_path: Path) -> RunLog:
    results = {"a": "ppppp", "b": "pfpfp", "c": "fffff", "d": "ppppf", "e": "ppppp"}
    return write_log(tmp_path / "run" / "log.jsonl", results)


def cases(log: RunLog) -> tuple[CaseResult, ...]:
    return build_report(log).cases


def test_cases_that_passed_sometimes_are_flaky(log: RunLog) -> None:
    assert [case.case for case in cases(log) if is_flaky(case)] == ["b", "d"]


def test_an_error_alone_makes_no_case_flaky(tmp_path: Path) -> None:
    (case,) = cases(write_log(tmp_path / "run" / "log.jsonl", {"a": "pep"}))
    assert not is_flaky(case)


def test_pass_hat_k_is_the_mean_over_cases_with_its_error(log: RunLog) -> None:
    figures = {one.k: one for one in compute_reliability(cases(log))}
    # c = 5, 3, 0, 4, 5 of n = 5
    assert [figures[k].pass_hat_k for k in range(1, 6)] == pytest.approx(
        [0.68, 0.58, 0.5, 0.44, 0.4]
    )
    assert figures[5].standard_error == pytest.approx(0.2449489743)
    assert figures[5].pass_at_k == pytest.approx(0.8)


def test_an_errored_trial_counts_as_not_passed(tmp_path: Path) -> None:
    figures = compute_reliability(
        cases(write_log(tmp_path / "run" / "log.jsonl", {"a": "ppe", "b": "ppp"}))
    )
    assert figures[2].pass_hat_k == 0.5
    assert figures[1].pass_hat_k == pytest.approx((1 / 3 + 1) / 2)


def test_k_beyond_the_trials_of_any_case_is_undefined(tmp_path: Path) -> None:
    figures = compute_reliability(
        cases(write_log(tmp_path / "run" / "log.jsonl", {"a": "ppp", "b": "p"}))
    )
    assert [one.pass_hat_k for one in figures] == [1.0, None, None]
    assert [one.pass_at_k for one in figures] == [1.0, None, None]


def test_a_skipped_trial_never_took_place(tmp_path: Path) -> None:
    figures = compute_reliability(cases(write_log(tmp_path / "run" / "log.jsonl", {"a": "pps"})))
    assert [one.pass_hat_k for one in figures] == [1.0, 1.0]
    assert figures[0].standard_error is None


def test_the_summary_names_flaky_cases(log: RunLog) -> None:
    stream = io.StringIO()
    print_summary(build_report(log), log, Console(file=stream, width=200))
    text = stream.getvalue()
    assert "pass rate 68 % of 25 trials of 5 cases" in text
    assert "flaky (passed sometimes): b 3/5, d 4/5" in text
    assert "pass@5 80 % (at least one of 5 trials passes) · pass^5 40 % (all of 5 pass)" in text


def test_a_run_without_repeats_says_nothing_of_them(tmp_path: Path) -> None:
    log = write_log(tmp_path / "run" / "log.jsonl", {"a": "p", "b": "f"})
    assert list(repeat_lines(build_report(log))) == []
    assert repeats_json(cases(log)) == {}


def test_the_json_has_rates_with_intervals_and_the_figures_of_repeats(log: RunLog) -> None:
    stream = io.StringIO()
    write_json(build_report(log), log, stream)
    result = json.loads(stream.getvalue())["result"]
    assert result["pass_rate"] == pytest.approx(0.68)
    low, high = result["pass_rate_interval"]
    assert 0 < low < 0.68 < high < 1
    assert result["repeats"]["flaky"] == ["b", "d"]
    assert result["repeats"]["pass_hat_k"]["5"] == pytest.approx(0.4)


def test_of_several_models_each_has_its_own_figures(tmp_path: Path) -> None:
    log = write_log(tmp_path / "run" / "log.jsonl", {}, models={"x": {"a": "pp"}, "y": {"a": "pf"}})
    lines = list(repeat_lines(build_report(log)))
    assert [line.endswith(f"[{model}]") for line, model in zip(lines, "xy", strict=False)] == [
        True,
        True,
    ]


def test_trials_that_were_not_needed_are_not_held_against_a_case_in_any_report(
    tmp_path: Path,
) -> None:
    ends: list[tuple[Status, str | None]] = [
        ("failed", None),
        ("passed", None),
        ("skipped", DECIDED),
    ]
    runs = [
        a_run(
            "early",
            status,
            trial=trial,
            repeats=3,
            skip_reason=reason,
            checks=(must_call("get_order"),),
        )
        for trial, (status, reason) in enumerate(ends, start=1)
    ]
    log = a_log(tmp_path, [(run, None) for run in runs])
    assert "| 1/2 |" in written(log, "markdown")
    assert "1 of 2 trials passed, 3 needed" in written(log, "junit")
    (early,) = cases(log)
    assert trials_passed(early) == "1 of 2 trials passed, 1 more not needed"
    assert str(compute_pass_rate(build_report(log).cases)).startswith(
        "pass rate 50 % of 2 trials of 1 case ("
    )
