import os
import shutil
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.base.errors import UsageError
from harness.cli.commands import view as viewing
from harness.cli.commands.view import command, has_browser
from harness.cli.page_cache import WORTH_KEEPING
from harness.judging.reviews import add_review
from harness.reports.writers import ReportRequest, write_report
from harness.runlog import RunLog, read_log
from harness.types import Report
from tests.reports import logs
from tests.reports.packs import all_of
from tests.reports.sample_logs import a_conversation, a_log, a_run


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("20260101T000000Z-shop-aaaaaa", "20260102T000000Z-shop-bbbbbb"):
        folder = tmp_path / ".harness" / "runs" / name
        folder.mkdir(parents=True)
        a_log(folder, [(a_run(f"in {name}"), a_conversation())], run_id=name)
    monkeypatch.chdir(tmp_path)
    for variable in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


def view(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, catch_exceptions=False)


def test_the_latest_run_is_shown_unless_another_is_named(project: Path) -> None:
    result = view("--no-open")
    assert result.output == ".harness/runs/20260102T000000Z-shop-bbbbbb/report.html\n"
    assert "in 20260102T000000Z-shop-bbbbbb" in all_of(
        (project / result.output.strip()).read_text("utf-8")
    )


def test_a_run_is_named_by_its_beginning_or_by_a_path(project: Path) -> None:
    expected = ".harness/runs/20260101T000000Z-shop-aaaaaa/report.html\n"
    assert view("--no-open", "20260101").output == expected
    assert view("--no-open", ".harness/runs/20260101T000000Z-shop-aaaaaa").output == expected


def test_an_unknown_run_is_told_in_words(project: Path) -> None:
    with pytest.raises(UsageError, match="there is no run named 'nonsense'"):
        view("nonsense")


def test_the_page_is_opened_in_the_users_browser(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = project / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {project}/opened\n')
    browser.chmod(browser.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    result = view()
    assert result.exit_code == 0
    page = project / ".harness/runs/20260102T000000Z-shop-bbbbbb/report.html"
    assert (project / "opened").read_text() == f"{page.as_uri()}\n"


def test_without_a_screen_the_path_is_all(project: Path) -> None:
    assert view().output == ".harness/runs/20260102T000000Z-shop-bbbbbb/report.html\n"


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, "linux", True),
        ({"BROWSER": "firefox"}, "linux", True),
        ({}, "darwin", True),
    ],
)
def test_a_browser_needs_a_screen(environ: dict[str, str], platform: str, expected: bool) -> None:
    assert has_browser(environ, platform) is expected


def test_a_page_that_cannot_be_written_is_told_in_words(project: Path) -> None:
    folder = project / ".harness/runs/20260102T000000Z-shop-bbbbbb"
    (folder / "report.html").mkdir()
    with pytest.raises(UsageError, match="cannot be written"):
        view("--no-open")
    assert list((folder / "report.html").iterdir()) == []


def test_the_page_of_a_large_run_is_written_once_and_anew_when_something_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log.jsonl"
    logs.a_log(
        path,
        logs.a_run("one", "failed"),
        transcript=logs.a_transcript("x" * WORTH_KEEPING),
    )
    (key,) = (one.key for one in read_log(path).results)
    wrote: list[Path] = []

    def writing(request: ReportRequest, report: Report, log: RunLog) -> tuple[Path, list[str]]:
        wrote.append(log.path)
        return write_report(request, report, log)

    monkeypatch.setattr(viewing, "write_report", writing)

    def shown(*options: str) -> str:
        done = CliRunner().invoke(command, [str(tmp_path), "--no-open", *options])
        assert done.exit_code == 0, done.output
        return done.output

    page = tmp_path / "report.html"
    first = shown()
    assert first == shown() == f"{page}\n"
    assert len(wrote) == 1
    shown("--by-people")  # another page, under the same name
    assert shown() == first
    assert len(wrote) == 3
    page.write_text("changed", "utf-8")
    shown()
    assert len(wrote) == 4
    add_review(path, key, "accept", by="Ann")
    assert shown() == shown() == f"{page}\n1 reviewed, 0 overruled\n"
    assert len(wrote) == 5
    page.unlink()
    shown()
    assert len(wrote) == 6


def test_a_page_that_came_with_a_run_from_somebody_else_is_never_opened(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    large = logs.a_transcript("x" * WORTH_KEEPING)
    logs.a_log(theirs / "log.jsonl", logs.a_run("one"), transcript=large)
    assert CliRunner().invoke(command, [str(theirs), "--no-open"]).exit_code == 0
    page = theirs / "report.html"
    facts, size = page.stat(), page.stat().st_size
    page.write_text("<script>steal()</script>".ljust(size), "utf-8")
    os.utime(page, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    shutil.copytree(theirs, ours)  # with all times, as an archive keeps them
    for folder in (theirs, ours):
        done = CliRunner().invoke(command, [str(folder), "--no-open"])
        assert done.stdout == f"{folder / 'report.html'}\n"
        assert "steal" not in (folder / "report.html").read_text("utf-8")


def test_a_damaged_log_is_told_of_each_time(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    large = logs.a_transcript("x" * WORTH_KEEPING)
    logs.a_log(path, logs.a_run("one"), transcript=large)
    with path.open("ab") as file:
        file.write(b'{"run": damaged}\n')
    for _ in range(2):
        done = CliRunner().invoke(command, [str(tmp_path), "--no-open"])
        assert "log.jsonl:4: this line of the run log is damaged" in done.stderr
