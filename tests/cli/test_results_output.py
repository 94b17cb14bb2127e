import json
import re
from pathlib import Path

import click
import pytest

from harness.base.errors import UsageError
from harness.cli.results_output import ResultsOutput, show_results
from harness.reports.writers import ReportRequest
from harness.runlog import read_log
from harness.web.run_view import find_view
from tests.reports.logs import a_log, a_run
from tests.reports.sample_logs import a_hostile_log, an_ordinary_log


def test_every_report_that_was_asked_for_is_written_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = tuple(
        ReportRequest.parse(text) for text in ("junit", "html", f"csv:{tmp_path}/mine.csv")
    )
    with pytest.raises(click.exceptions.Exit) as ended:
        show_results(an_ordinary_log(tmp_path), ResultsOutput(reports=reports))
    assert ended.value.exit_code == 1
    paths = [tmp_path / "junit.xml", tmp_path / "report.html", tmp_path / "mine.csv"]
    assert capsys.readouterr().out.splitlines()[-3:] == [f"report {path}" for path in paths]
    assert all(path.stat().st_size for path in paths)


def test_one_report_that_cannot_be_written_costs_neither_the_others_nor_the_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = tuple(ReportRequest.parse(text) for text in ("csv:/dev/null/x.csv", "junit"))
    with pytest.raises(UsageError, match=r"/dev/null/x\.csv cannot be written"):
        show_results(an_ordinary_log(tmp_path), ResultsOutput(reports=reports))
    assert (tmp_path / "junit.xml").is_file()
    assert "failed    mistaken" in capsys.readouterr().out


def test_annotations_leave_the_one_document_on_stdout_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    log = a_hostile_log(tmp_path, big=False)
    with pytest.raises(click.exceptions.Exit):
        show_results(
            log, ResultsOutput(json_output=True, reports=(ReportRequest(format="github"),))
        )
    printed = capsys.readouterr()
    assert json.loads(printed.out)["status"] == "ok"
    found = re.findall(r"^::error .*title=(?:(\d+) cases )?", printed.err, re.MULTILINE)
    assert sum(int(count or 1) for count in found) == len(log.results)


def test_what_the_page_shows_of_a_run_is_kept_when_the_run_ends(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    a_log(path, a_run("one"))
    with pytest.raises(click.exceptions.Exit):
        show_results(read_log(path), ResultsOutput())
    assert find_view(path) is not None
