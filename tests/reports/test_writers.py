import os
import stat
from pathlib import Path

import pytest

from harness.base.errors import UsageError
from harness.reports.build import build_report
from harness.reports.writers import WRITERS, ReportRequest, write_atomically, write_report
from tests.reports.sample_logs import an_ordinary_log


@pytest.mark.parametrize(
    ("text", "name", "path"),
    [
        ("html", "html", None),
        ("html:out/page.htm", "html", "out/page.htm"),
        ("junit:C:odd", "junit", "C:odd"),
        ("out.jsonl", "jsonl", "out.jsonl"),
        ("a:b/report.XML", "junit", "a:b/report.XML"),
        ("report.md", "markdown", "report.md"),
        ("./json.csv", "csv", "json.csv"),
    ],
)
def test_a_report_is_named_by_format_or_by_suffix(text: str, name: str, path: str | None) -> None:
    assert ReportRequest.parse(text) == ReportRequest(
        format=name, path=None if path is None else Path(path)
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("htlm", "'html'"),
        ("out.pdf", "suffixes: .csv"),
        ("o/html.x", "suffixes: "),
        ("jsonlx", "'jsonl'.*suffixes"),
        ("html:", "html:PATH"),
    ],
)
def test_a_slip_is_told_with_what_was_meant(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        ReportRequest.parse(text)


@pytest.mark.parametrize("name", WRITERS.list_names())
def test_without_a_path_a_report_lies_beside_its_log(tmp_path: Path, name: str) -> None:
    log = an_ordinary_log(tmp_path)
    path, _ = write_report(ReportRequest(format=name), build_report(log), log, {})
    assert path == tmp_path / WRITERS.get(name).file_name
    assert path.stat().st_size > 0


def test_an_unwritable_place_is_told_in_words(tmp_path: Path) -> None:
    log = an_ordinary_log(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written: "):
        write_report(
            ReportRequest(format="csv", path=tmp_path / "file" / "x.csv"), build_report(log), log
        )


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("old")

    def fail(stream: object) -> None:
        stream.write("half")  # type: ignore[attr-defined]  # a text stream
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_atomically(path, fail)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_keeps_pointing_where_it_points(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.touch()
    link.symlink_to(target)
    write_atomically(link, lambda stream: stream.writelines(["new"]))
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_others_may_read_a_report_as_any_file_of_ours(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        write_atomically(tmp_path / "report", lambda stream: stream.writelines(["x"]))
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "report").stat().st_mode) == 0o644


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_atomically(Path("/dev/null"), lambda stream: stream.writelines(["x"]))
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
