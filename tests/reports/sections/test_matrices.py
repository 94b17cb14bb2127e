"""What was listed and not read stands in every report, though nothing fails."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

from harness.reports.build import build_report
from harness.reports.formats.html_report.overview import build_overview
from harness.reports.formats.json_report import write_json
from harness.reports.formats.markdown_report import write_markdown
from harness.types import SideContent
from tests.judging.test_access import FULL, a_log, a_run
from tests.reports.formats.test_console import summary

CLOSED = SideContent(
    place="the resource shelf://a<b>\x1b",
    text="its own words",
    unread="the server answers with an error (code -32603)",
    refused=True,
)
LINE = "the resource shelf://a<b> (as admin, clerk): the server answers with an error (code -32603)"


def test_what_nobody_could_read_is_named_in_every_report(tmp_path: Path) -> None:
    unread = replace(FULL, beside=(CLOSED,))
    log = a_log(tmp_path, (a_run("admin"), unread), (a_run("clerk"), unread))
    report = build_report(log)
    assert {case.status for case in report.cases} == {"passed"}
    assert f"! Not read in shop: {LINE}" in summary(log, 200)
    shown = build_overview(report, log)["access"]["warnings"]
    assert any(f"Not read in shop: {LINE}" in words for words in shown)
    text = io.StringIO()
    write_markdown(report, log, text)
    assert f"⚠️ `Not read in shop: {LINE}`" in text.getvalue()
    text = io.StringIO()
    write_json(report, log, text)
    assert json.loads(text.getvalue())["result"]["matrix"]["not_read"].keys() == {"shop"}


def test_what_others_may_read_is_no_gap(tmp_path: Path) -> None:
    read = replace(FULL, beside=(SideContent(place=CLOSED.place, text="words"),))
    refused = replace(FULL, beside=(CLOSED,))
    log = a_log(tmp_path, (a_run("admin"), read), (a_run("clerk"), refused))
    assert build_report(log).access.not_read == {}
    assert "Not read" not in summary(log, 200)
