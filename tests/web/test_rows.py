"""The rows of a large run are filtered, sorted, searched and counted by the server."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from harness.runlog import LogWriter, read_log
from harness.types import Status
from harness.web.rows import (
    Arranger,
    RowQuery,
    find_place,
    read_side_by_side,
    read_window,
    select_rows,
)
from harness.web.run_view import RunView, ensure_view
from harness.web.viewer_endpoints import MOST_CELLS
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.judging.test_access import FULL, LEAKING
from tests.judging.test_access import a_log as asked_as_several
from tests.judging.test_access import a_run as asked_as
from tests.reports.formats.test_html import page_of
from tests.reports.sample_logs import STAND_IN, Trial, a_conversation, a_log, a_run, must_call
from tests.reports.viewer.test_viewer import NAMES, PRESS, SET, SHOWN, TEXT
from tests.web.support import Page

MODELS = ("large", "small")


WARNING = replace(must_call("refund", explanation="too slow"), severity="warn")


def trials(cases: int) -> list[Trial]:
    """Return trials with two models, of which `small` fails every seventh with a score."""
    found: list[Trial] = []
    for number in range(cases):
        for model in MODELS:
            bad = model == "small" and number % 7 == 3
            ended: Status = "failed" if bad else "error" if number == 5 else "passed"
            checks = (
                must_call(
                    "get_order", *(() if bad else ("get_order",)), explanation=f"no {number}"
                ),
                replace(STAND_IN, score=0.3 if bad else 0.9),
            )
            run = a_run(
                f"case {number:04}",
                ended,
                model=model,
                checks=checks,
                tags=(f"t{number % 3}",),
                latency_s=number * 13 % 17 / 10,
            )
            tool = "get_order" if number % 2 else "list_orders"
            said = a_conversation(tool, prompt=f"Needle {number} and hay", result=f"r{number}r")
            found.append((run, said))
    return found


def names(log: Path, question: RowQuery) -> list[str]:
    """Return the names of the rows that fit, without what all have."""
    view = ensure_view(log)
    rows = select_rows(view, question, lambda: None)
    return [row["name"][-2:] for row in read_window(view, question.by, rows)]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    return a_log(folder, trials(12), models=MODELS).path


FAILED = ["03", "10"]
REST = ["00", "01", "02", "04", "06", "07", "08", "09", "11"]


@pytest.mark.parametrize(
    ("question", "fit"),
    [
        (RowQuery(), [*FAILED, "05", *REST]),
        (RowQuery(sort="suite"), [f"{number:02}" for number in range(12)]),
        (RowQuery(sort="score", chosen=(("tag", "t1"),)), ["10", "01", "04", "07"]),
        (RowQuery(sort="latency_s", failed=True), ["05", "10", "03"]),
        (RowQuery(failed=True), [*FAILED, "05"]),
        (RowQuery(different=True), FAILED),
        (RowQuery(chosen=(("status", "failed"), ("tag", "t0"))), ["03"]),
        (RowQuery(chosen=(("status", "failed"), ("model", "large"))), []),
        (RowQuery(chosen=(("check", "must_call"),)), FAILED),
        (RowQuery(chosen=(("tool", "list_orders"), ("tag", "t0"))), ["00", "06"]),
        (RowQuery(words=("needle 3 and",)), ["03"]),
        (RowQuery(words=("r3r", "case 0003", "small")), ["03"]),
        (RowQuery(words=("r3r", "r4r")), []),
        (RowQuery(words=("shop",), chosen=(("tag", "t2"),), sort="name"), ["02", "05", "08", "11"]),
    ],
    ids=str,
)  # fmt: skip
def test_rows_fit_what_is_asked_for(log: Path, question: RowQuery, fit: list[str]) -> None:
    assert names(log, question) == fit


def test_rows_with_a_warning_are_found(tmp_path: Path) -> None:
    runs = [
        (a_run(f"case {number:04}", checks=(WARNING,) if number == 1 else ()), a_conversation("t"))
        for number in range(3)
    ]
    log = a_log(tmp_path, runs).path
    assert names(log, RowQuery(warned=True)) == ["01"]
    assert ensure_view(log).read_part("grid")["warned"] == 1


def test_rows_are_filtered_by_the_value_on_an_axis(tmp_path: Path) -> None:
    found: list[Trial] = []
    for number, axes in enumerate(({}, {"variant": "short"}, {"variant": "shorter"})):
        run = replace(a_run(f"case {number:04}", model="large"), axes=axes, key=f"{number:064}")
        found.append((run, a_conversation("get_order")))
    log = a_log(tmp_path, found, models=("large", "large+short", "large+shorter")).path
    for value, fit in (("short", ["01"]), ("none", ["00"]), ("hort", [])):
        assert names(log, RowQuery(chosen=(("variant", value),))) == fit
    grid = ensure_view(log).read_part("grid")
    assert grid["offered"]["variant"] == ["none", "short", "shorter"]
    (axis,) = grid["axes"]
    assert [column["axes"]["variant"] for column in axis["columns"]] == grid["offered"]["variant"]
    assert {column["model"] for column in axis["columns"]} == {"large"}


def test_a_window_has_the_cells_of_its_rows_and_knows_where_a_test_is(log: Path) -> None:
    view = ensure_view(log)
    rows = select_rows(view, RowQuery(), lambda: None)
    (row,) = read_window(view, "model", rows[1:2])
    assert (row["name"], row["suite"], row["first"]) == ("case 0010", "shop", 10)
    assert [cell["status"] for cell in row["cells"]] == ["passed", "failed"]
    assert find_place(view, "model", "shop/case%200010/small", rows) == {"row": 1, "column": 1}
    assert find_place(view, "model", "shop/case%200010/small/1", rows[:1]) == {
        "row": None,
        "column": 1,
    }
    assert find_place(view, "model", "#0", rows) == {"row": 3, "column": 0}
    for unknown in ("", "#", "#999", "#x", "shop", "shop/case%200099/small", "#9" * 40):
        assert find_place(view, "model", unknown, rows) is None


def test_tests_that_several_ask_have_a_row_for_each_test(tmp_path: Path) -> None:
    log = asked_as_several(tmp_path, (asked_as("admin"), FULL), (asked_as("clerk"), LEAKING))
    view = ensure_view(log.path)
    rows = select_rows(view, RowQuery(by="identity", different=True), lambda: None)
    (row,) = read_window(view, "identity", rows)
    assert {cell["identity"]: cell["status"] for cell in row["cells"]} == {
        "admin": "passed",
        "clerk": "failed",
    }
    assert len(select_rows(view, RowQuery(chosen=(("identity", "clerk"),)), lambda: None)) == 1


def test_what_is_scrolled_through_is_arranged_once_and_anew_when_the_log_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = a_log(tmp_path, trials(3), models=MODELS).path
    arranger = Arranger()
    first = arranger.find_rows(ensure_view(path), RowQuery(), lambda: None)
    with monkeypatch.context() as patch:
        patch.setattr("harness.web.rows.select_rows", None)
        assert arranger.find_rows(ensure_view(path), RowQuery(), lambda: None) is first
    with path.open("ab") as file:
        file.write(b"\n")
    assert arranger.find_rows(ensure_view(path), RowQuery(), lambda: None) is not first


# ── Over HTTP, and in a browser ──────────────────────────────────────────────────────────────


def test_a_view_that_somebody_has_written_to_is_made_anew(tmp_path: Path) -> None:
    log = a_log(tmp_path, [(a_run("one", "failed"), a_conversation())]).path
    view = ensure_view(log)
    assert view.read_part("grid")["amounts"] == {"failed": 1}
    with closing(sqlite3.connect(view.path)) as db, db:
        db.execute("UPDATE _parts SET body = replace(body, 'failed', 'passed') WHERE name = 'grid'")
    assert view.read_part("grid")["amounts"] == {"passed": 1}
    assert ensure_view(log).read_part("grid")["amounts"] == {"failed": 1}


def a_large_run(page: Page, name: str) -> Path:
    folder = page.project.folder / ".harness/runs" / name
    folder.mkdir(parents=True)
    return a_log(folder, trials(MOST_CELLS // len(MODELS) + 1), models=MODELS).path


@pytest.mark.slow
def test_a_large_run_is_answered_in_windows(page: Page) -> None:
    run = a_large_run(page, "20260502T000000Z-windows-a").parent.name
    base = f"/evaluations/{run}"
    grid = page.client.get(f"{base}/grid").json()["grid"]
    assert "cells" not in grid
    assert grid["rows"] == {"model": 501}
    assert grid["amounts"] == {"passed": 928, "failed": 72, "error": 2}
    answer = page.client.get(f"{base}/rows?offset=500&count=7&sort=suite").json()
    assert (answer["count"], answer["offset"]) == (501, 500)
    assert [row["name"] for row in answer["rows"]] == ["case 0500"]
    found = page.client.get(f"{base}/rows?count=0&word=R444R&find=shop/case%200444/large").json()
    assert found == {"count": 1, "offset": 0, "rows": [], "found": {"row": 0, "column": 0}}
    everything = page.client.get(f"{base}/rows?count=100000").json()
    assert len(everything["rows"]) == 500
    for query in ("sort=x", "by=x", "offset=-1", "count=a", "offset=" + "9" * 20, "word="):
        assert page.client.get(f"{base}/rows?{query}").status_code == 400, query
    assert page.client.get("/evaluations/nobody/rows").status_code == 404


def test_a_run_under_way_has_no_rows_yet(page: Page) -> None:
    folder = page.project.folder / ".harness/runs/20260502T000001Z-going-a"
    folder.mkdir(parents=True)
    log = a_log(folder, trials(1), models=MODELS).path
    with LogWriter(log):
        assert page.client.get(f"/evaluations/{folder.name}/rows").status_code == 409


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
def test_the_page_of_a_large_run_shows_what_its_report_shows(page: Page, browser: Browser) -> None:
    """The report has all cells and arranges them by itself; the page asks the server."""
    log = a_large_run(page, "20260502T000002Z-windows-b")
    address = f"{page.url}/evaluation?run={log.parent.name}"
    shown: dict[str, list[Any]] = {}
    states = [
        {},
        {"sort": "score", "tag": "t1", "failed": "1"},
        {"q": '"needle 44" small', "sort": "name"},
        {"status": "error", "model": "small"},
        {"check": "must_call", "tool": "list_orders", "different": "1", "sort": "latency_s"},
        {"open": "shop/case%200444/small"},
    ]
    for base in (address, address_of_report(log)):
        shown[base] = []
        for state in states:
            browser.open(f"{base}#{urlencode(state)}")
            browser.until(lambda: browser.run(NAMES) and "searching" not in browser.run(SHOWN))
            if "open" in state:
                browser.until(
                    lambda: browser.run("return document.querySelector('.trace .timeline')")
                )
                shown[base].append(browser.run(TEXT, "#trace-title"))
            shown[base].append([browser.run(SHOWN), browser.run(NAMES)])
        assert browser.complaints() == []
    assert shown[address] == shown[address_of_report(log)]


def address_of_report(log: Path) -> str:
    report = log.with_name("report.html")
    return report.as_uri() if report.exists() else page_of(read_log(log))


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
def test_a_large_run_is_scrolled_and_walked_through(page: Page, browser: Browser) -> None:
    log = a_large_run(page, "20260502T000003Z-windows-c")
    browser.open(f"{page.url}/evaluation?run={log.parent.name}")
    browser.until(lambda: browser.run(NAMES))
    assert browser.run(SHOWN) == "501 tests"
    browser.run("const grid = document.querySelector('.vgrid'); grid.scrollTop = grid.scrollHeight")
    browser.until(lambda: (browser.run(NAMES) or [""])[-1] == "case 0499")
    browser.run("document.querySelector('.vgrid').focus()")
    browser.run(PRESS, "End")
    browser.run(PRESS, "j")
    browser.until(lambda: "case 0499" in browser.run(TEXT, "#trace-title"))
    browser.run(PRESS, "k")
    browser.until(lambda: "case 0498" in browser.run(TEXT, "#trace-title"))
    browser.run(SET, "#search", "value", "r7r")
    browser.until(lambda: browser.run(SHOWN) == "1 test of 501")
    browser.until(lambda: browser.run(NAMES) == ["case 0007"])
    assert browser.complaints() == []


ENDED: dict[str, tuple[Status, Status]] = {
    "same": ("passed", "passed"),
    "failed twice": ("failed", "failed"),
    "worse": ("passed", "failed"),
    "as good": ("passed", "passed"),
}


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> list[RunView]:
    """Two runs of the same four tests, of which the second has a fifth."""
    found = []
    for run in (0, 1):
        ended = {name: statuses[run] for name, statuses in ENDED.items()}
        if run == 1:
            ended["new"] = "passed"
        trials = [(a_run(name, status), a_conversation()) for name, status in ended.items()]
        folder: Path = tmp_path_factory.mktemp(f"run{run}")
        found.append(ensure_view(a_log(folder, trials).path))
    return found


def test_all_tests_of_small_runs_are_shown_in_the_order_of_their_suites(
    views: list[RunView],
) -> None:
    found = read_side_by_side(views)
    assert [[cell["case"] for cell in cells] for cells in found.cells] == [
        list(ENDED),
        [*ENDED, "new"],
    ]
    assert (found.shown, found.tests) == (5, 5)


@pytest.mark.parametrize(
    ("most", "shown"),
    [
        (2, [["worse"], ["worse", "new"]]),
        (3, [["failed twice", "worse"], ["failed twice", "worse", "new"]]),
    ],
)
def test_of_many_tests_those_that_differ_come_first_and_then_those_that_did_not_pass(
    views: list[RunView], most: int, shown: list[list[str]]
) -> None:
    found = read_side_by_side(views, most)
    assert [[cell["case"] for cell in cells] for cells in found.cells] == shown
    assert (found.shown, found.tests) == (most, 5)
