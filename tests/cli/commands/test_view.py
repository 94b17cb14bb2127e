import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli.commands.view import command, has_browser
from harness.errors import UsageError
from tests.reports.packs import all_of
from tests.reports.sample_logs import a_conversation, a_log, a_run


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
