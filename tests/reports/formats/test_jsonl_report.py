import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.reports.build import build_report
from harness.reports.formats.jsonl_report import write_jsonl
from harness.runlog import RunLog
from harness.types import CheckResult
from tests.reports.logs import a_log, a_run
from tests.reports.sample_logs import STAND_IN


def lines(log: RunLog) -> list[dict[str, Any]]:
    stream = io.StringIO()
    write_jsonl(build_report(log), log, stream)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_has_exactly_the_fields_that_stay_for_good(tmp_path: Path) -> None:
    (line,) = lines(a_log(tmp_path / "log.jsonl", a_run("one")))
    assert list(line) == [
        "suite",
        "case_id",
        "model",
        "pass",
        "latency_ms",
        "tokens_in",
        "tokens_out",
        "cost_usd",
        "events_digest",
        "error",
        "timestamp",
        "metadata",
    ]
    assert (line["pass"], line["latency_ms"], line["tokens_in"], line["cost_usd"]) == (
        True,
        1500,
        100,
        0.25,
    )
    assert line["metadata"]["category"] == "smoke"
    assert line["metadata"]["harness"]["status"] == "passed"


def test_every_trial_has_its_line_whatever_its_ending(tmp_path: Path) -> None:
    log = a_log(
        tmp_path / "log.jsonl",
        a_run("a"),
        a_run("b", "failed"),
        a_run("c", "error"),
        a_run("d", "skipped"),
    )
    read = lines(log)
    assert [line["pass"] for line in read] == [True, False, False, False]
    assert [line["error"] for line in read] == [None, None, "the server exited", None]
    assert read[1]["metadata"]["harness"]["failed_checks"] == ["must_call get_order"]
    assert read[3]["metadata"]["harness"]["skip_reason"] == "budget"


def test_a_score_that_no_judge_gave_is_labelled_beside_it(tmp_path: Path) -> None:
    log = a_log(tmp_path / "log.jsonl", replace(a_run("a"), checks=(STAND_IN,)), a_run("b"))
    first, second = (line["metadata"]["harness"] for line in lines(log))
    assert (first["scores"], first["faithfulness_by"]) == (
        {"graded echo": 1.0},
        "no judge: keywords and grounding",
    )
    assert second["faithfulness_by"] is None


def test_a_line_has_the_four_facts_of_a_policy_verdict_and_null_without_one(tmp_path: Path) -> None:
    denied = CheckResult(
        kind="must_be_denied",
        label="must_be_denied pay",
        verdict="passed",
        attempted=True,
        reached_server=True,
        executed=False,
        line_crossed=False,
    )
    asked = replace(a_run("policy"), checks=(denied,))
    plain, policy = lines(a_log(tmp_path / "log.jsonl", asked, a_run("plain")))
    names = ("attempted", "reached_server", "executed", "line_crossed")
    assert [policy["metadata"]["harness"][name] for name in names] == [True, True, False, False]
    assert [plain["metadata"]["harness"][name] for name in names] == [None] * 4


def test_lines_and_runs_are_in_the_order_of_their_cases_whatever_that_of_the_suite(
    tmp_path: Path,
) -> None:
    names = ["b", "10", "a", "2"]
    log = a_log(tmp_path / "log.jsonl", *map(a_run, names))
    assert [line["case_id"] for line in lines(log)] == ["10", "2", "a", "b"]
    report = build_report(log)
    assert [json.loads(json.dumps(line)) for line in report.runs] == lines(log)
    assert [result.case.name for result in report.results] == names
