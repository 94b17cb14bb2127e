"""A leak of one value is one finding with all its places, and a hint is the same in every view."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.reports.build import build_report
from harness.reports.writers import ReportRequest, write_report
from harness.runlog import RunLog, TrialLine
from harness.web.results import encode_result as card_of
from tests.judging.test_access import SECRET, a_log, a_run, answered
from tests.reports.logs import FAILED_CHECK
from tests.reports.logs import a_log as a_plain_log
from tests.reports.logs import a_run as a_plain_run
from tests.reports.packs import blocks_of

PLACES = ("contact.note", "the text of call 1")
WHOLE = answered({**SECRET, "contact": {"note": "x"}})
LEFT_OUT = answered(
    {"id": SECRET["id"], "contact": {"note": SECRET["mail"]}},
    text=f"Write to {SECRET['mail']}.",
)


def leaking(folder: Path) -> RunLog:
    """Return a run in which a value that is left out reaches the clerk in two other places."""
    return a_log(folder, (a_run("admin"), WHOLE), (a_run("clerk"), LEFT_OUT))


def written(log: RunLog, form: str) -> str:
    path, _ = write_report(ReportRequest(format=form), build_report(log), log)
    return path.read_text("utf-8")


def test_the_page_has_one_box_for_a_value_with_all_its_places(tmp_path: Path) -> None:
    blocks = blocks_of(written(leaking(tmp_path), "html"))
    (leak,) = blocks["overview"]["access"]["leaks"]
    assert all(place in "\n".join(leak["lines"]) for place in PLACES)
    (number,) = (
        place
        for place, cell in enumerate(blocks["overview"]["grid"]["cells"])
        if cell["status"] == "failed"
    )
    checks = blocks[f"case-data-{number}"]["trials"][0]["checks"]
    assert [check["label"] for check in checks if check["verdict"] == "failed"] == ["no_leak mail"]


def test_markdown_has_one_line_for_a_value_with_all_its_places(tmp_path: Path) -> None:
    lines = [line for line in written(leaking(tmp_path), "markdown").splitlines() if "🚨" in line]
    assert len(lines) == 1
    assert all(place in lines[0] for place in PLACES)


def test_a_card_of_the_web_page_has_one_check_for_a_value(tmp_path: Path) -> None:
    log = leaking(tmp_path)
    (run,) = [one for one in build_report(log).results if one.status == "failed"]
    card = card_of(TrialLine(run=run, transcript=log.read_transcript(run.key)))
    (check,) = [one for one in card["checks"] if one["verdict"] == "failed"]
    assert all(place in check["explanation"] for place in PLACES)
    assert check["hint"].startswith("Apply one policy to every form of every result")


def test_json_has_one_failure_for_a_value(tmp_path: Path) -> None:
    tests = json.loads(written(leaking(tmp_path), "json"))["result"]["tests"]
    assert [len(test["failures"]) for test in tests] == [0, 1]


@pytest.mark.parametrize("form", ["html", "markdown", "junit", "json", "sarif"])
def test_every_view_has_the_hint_of_the_check_and_no_other(tmp_path: Path, form: str) -> None:
    log = a_plain_log(tmp_path / "log.jsonl", a_plain_run("mistaken", "failed"))
    text = written(log, form)
    shown: Any = json.dumps(blocks_of(text)) if form == "html" else text
    assert FAILED_CHECK.hint is not None
    assert FAILED_CHECK.hint in shown
    assert "hide the tool" not in shown.casefold()
