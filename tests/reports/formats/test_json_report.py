import io
import json
from pathlib import Path
from typing import Any

from harness.reports.build import build_report
from harness.reports.formats.json_report import write_json, write_json_error
from harness.runlog import RunLog
from tests.reports.logs import a_log, a_run


def document(log: RunLog) -> dict[str, Any]:
    stream = io.StringIO()
    write_json(build_report(log), log, stream)
    read = json.loads(stream.getvalue())
    assert isinstance(read, dict)
    return read


def test_one_suite_has_the_shape_that_users_parse(tmp_path: Path) -> None:
    result = document(a_log(tmp_path / "log.jsonl", a_run("one"), a_run("two", "failed")))["result"]
    assert (result["suite"], result["description"], result["model"]) == (
        "shop",
        "All of shop.",
        "m",
    )
    assert (result["all_passed"], result["elapsed_time"]) == (False, 9.0)
    one, two = result["tests"]
    assert (one["name"], one["description"], one["passed"], one["failures"]) == (
        "one",
        "Why one exists.",
        True,
        [],
    )
    assert one["metadata"] == {"category": "smoke"}
    assert one["details"]["response"] == "It is on its way."
    assert one["details"]["tool_calls"][0]["tool"] == "get_order"
    assert one["details"]["tool_calls"][0]["arguments"] == {"id": 7}
    assert two["passed"] is False
    assert two["failures"][0].startswith("Expected call not found: get_order(…)")
    assert "error" not in two


def test_the_status_of_the_document_says_that_the_run_took_place(tmp_path: Path) -> None:
    assert document(a_log(tmp_path / "log.jsonl", a_run("one", "failed")))["status"] == "ok"


def test_a_test_that_could_not_be_judged_has_an_error_and_did_not_pass(tmp_path: Path) -> None:
    (test,) = document(a_log(tmp_path / "log.jsonl", a_run("one", "error")))["result"]["tests"]
    assert (test["passed"], test["error"], test["error_kind"]) == (
        False,
        "the server exited",
        "server",
    )


def test_several_suites_are_listed_with_a_status_each(tmp_path: Path) -> None:
    log = a_log(
        tmp_path / "log.jsonl",
        a_run("one"),
        a_run("two", "failed", suite="bank"),
        a_run("x", "error", suite="c"),
    )
    result = document(log)["result"]
    assert [(suite["suite"], suite["path"], suite["status"]) for suite in result["suites"]] == [
        ("shop", "evals/shop.yml", "passed"),
        ("bank", "evals/bank.yml", "failed"),
        ("c", "evals/c.yml", "error"),
    ]
    assert [len(suite["tests"]) for suite in result["suites"]] == [1, 1, 1]
    assert result["elapsed_time"] == 9.0


def test_the_summary_holds_every_ending_and_the_exit_code(tmp_path: Path) -> None:
    log = a_log(
        tmp_path / "log.jsonl", a_run("one"), a_run("two", "error"), a_run("three", "skipped")
    )
    result = document(log)["result"]
    assert result["summary"].pop("warnings") == {"total": 0, "trials": 0, "kinds": {}}
    assert result["summary"] == {
        "planned": 3,
        "passed": 1,
        "failed": 0,
        "error": 1,
        "skipped": 1,
        "cancelled": 0,
        "judged": 1,
        "calls": {
            "total": 2,
            "ok": 2,
            "denied": 0,
            "errors": 0,
            "not_sent": 0,
            "outcomes": {"ok": 2},
        },
    }
    assert result["exit_code"] == 4


def test_trials_of_a_case_are_one_test_that_passed_only_if_all_did(tmp_path: Path) -> None:
    log = a_log(
        tmp_path / "log.jsonl", a_run("one"), a_run("one", "failed", trial=2), a_run("one", trial=3)
    )
    (test,) = document(log)["result"]["tests"]
    assert test["passed"] is False
    assert test["failures"]
    assert [trial["status"] for trial in test["trials"]] == ["passed", "failed", "passed"]


def test_a_run_that_could_not_start_is_a_document_too() -> None:
    stream = io.StringIO()
    write_json_error('no such suite "x"', stream)
    assert json.loads(stream.getvalue()) == {"status": "error", "error": 'no such suite "x"'}
