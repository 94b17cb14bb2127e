"""Questions to a log, and what its reports say of the same."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from harness.reports.build import build_report
from harness.reports.formats.json_report import write_json
from harness.reports.formats.jsonl_report import write_jsonl
from harness.reports.querying.index import format_read_uri, open_log_index, read_index_facts
from harness.reports.querying.sql_query import answer_query
from harness.reports.querying.texts import search_texts
from harness.runlog import read_log


def ask(log: Path, sql: str, timeout_s: float = 60.0) -> list[tuple[Any, ...]]:
    with open_log_index(log) as index:
        return ask_index(index, log, sql, timeout_s)


def ask_index(index: Path, log: Path, sql: str, timeout_s: float = 60.0) -> list[tuple[Any, ...]]:
    run, _ = read_index_facts(index, log)
    with answer_query([(run, index)], sql, timeout_s) as answer:
        return list(answer.rows)


def objects(log: Path, sql: str) -> list[dict[str, Any]]:
    with (
        open_log_index(log) as index,
        answer_query([(read_index_facts(index, log)[0], index)], sql, 60) as answer,
    ):
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def find_words(log: Path, words: Sequence[str]) -> dict[str, list[int]]:
    """Return where ``log`` has each of ``words``, by the store."""
    found: dict[str, list[int]] = {word: [] for word in words}
    with (
        open_log_index(log) as store,
        closing(sqlite3.connect(format_read_uri(store), uri=True)) as db,
    ):
        for word, at in search_texts(db, words, lambda: None):
            found[word].append(at)
    return found


def json_report(log: Path) -> dict[str, Any]:
    read, stream = read_log(log), io.StringIO()
    write_json(build_report(read), read, stream)
    return dict(json.loads(stream.getvalue())["result"])


def jsonl_report(log: Path) -> list[dict[str, Any]]:
    read, stream = read_log(log), io.StringIO()
    write_jsonl(build_report(read), read, stream)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def assert_equals_reports(log: Path) -> None:
    """Compare what SQL says of a run with what its JSON and JSONL reports say."""
    report = json_report(log)
    (run,) = objects(log, "select * from runs")
    summary = report["summary"]
    counts = ("planned", "passed", "failed", "error", "skipped", "cancelled")
    assert {name: run[name] for name in counts} == {name: summary[name] for name in counts}
    calls = {name: summary["calls"][name] for name in ("total", "ok", "denied", "errors")}
    assert calls == {
        "total": run["calls"],
        "ok": run["calls_ok"],
        "denied": run["calls_denied"],
        "errors": run["calls_errors"],
    }
    assert run["calls_not_sent"] == summary["calls"]["not_sent"]
    assert run["exit_code"] == report["exit_code"]
    assert run["pass_rate"] == report["pass_rate"]
    assert [run["pass_rate_low"], run["pass_rate_high"]] == (
        report["pass_rate_interval"] or [None, None]
    )
    assert (run["tokens_in"], run["tokens_out"], run["cost_usd"]) == (
        report["usage"]["input_tokens"],
        report["usage"]["output_tokens"],
        report["usage"]["cost_usd"],
    )
    assert run["judge_cost_usd"] == report["judge_usage"]["cost_usd"]
    assert len(json.loads(run["damaged"])) == len(report.get("damaged", ()))
    _assert_equal_tests(log, report)
    _assert_equal_trials(log)
    _assert_equal_leaks(log, report)


def _assert_equal_tests(log: Path, report: dict[str, Any]) -> None:
    suites = report.get("suites", [report])
    told = [
        (part["suite"], test["name"], part["model"], test["status"])
        for part in suites
        for test in part["tests"]
    ]
    found = ask(log, 'select suite, "case", model, status from cases')
    assert sorted(found) == sorted(told)


def _assert_equal_trials(log: Path) -> None:
    fields = (
        "mark",
        "attempted",
        "reached_server",
        "executed",
        "line_crossed",
        "review",
        "reviewed_by",
        "review_note",
        "stop",
        "replies",
        "tool_calls",
        "outcomes",
        "error_kind",
        "skip_reason",
    )
    told = {
        line["metadata"]["harness"]["key"]: {
            "status": line["metadata"]["harness"]["status"],
            "tokens_in": line["tokens_in"],
            "cost_usd": line["cost_usd"],
            "error": line["error"],
            "failed_checks": sorted(line["metadata"]["harness"]["failed_checks"]),
            **{name: line["metadata"]["harness"][name] for name in fields},
        }
        for line in jsonl_report(log)
        if line["metadata"]["harness"]["trial"]
    }
    found = {}
    for row in objects(log, "select * from trials"):
        labels = ask(
            log,
            f"select label from checks where verdict = 'failed' and trial_id = {row['trial_id']}",
        )
        row["outcomes"] = None if row["outcomes"] is None else json.loads(row["outcomes"])
        found[row["key"]] = {
            "failed_checks": sorted(label for (label,) in labels),
            **{name: row[name] for name in ("status", "tokens_in", "cost_usd", "error", *fields)},
        }
    assert found == told


def _assert_equal_leaks(log: Path, report: dict[str, Any]) -> None:
    leaks = report.get("matrix", {}).get("leaks", ())
    found = ask(log, "select count(*) from findings where problem = 'leak'")
    assert bool(found[0][0]) == bool(leaks)
