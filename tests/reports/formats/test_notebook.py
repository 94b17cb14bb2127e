"""A report as a notebook shows it."""

from __future__ import annotations

from pathlib import Path

from harness.reports.build import build_report
from tests.reports.run_logs import write_log


def test_the_table_has_failures_first_and_the_verdict_on_top(tmp_path: Path) -> None:
    report = build_report(
        write_log(tmp_path / "one" / "log.jsonl", {"a": "pp", "b": "pf", "c": "ee"})
    )
    shown = report._repr_html_()
    assert "6 planned: 3 passed, 1 failed, 2 error" in shown
    assert shown.index(">b<") < shown.index(">c<") < shown.index(">a<")
    assert ">1/2<" in shown


def test_a_thousand_cases_do_not_fill_a_notebook(tmp_path: Path) -> None:
    results = {f"case_{number}": "p" for number in range(999)} | {"broken": "f"}
    shown = build_report(write_log(tmp_path / "one" / "log.jsonl", results))._repr_html_()
    assert shown.count("<tr>") == 201
    assert ">broken<" in shown
    assert "… and 800 more" in shown
