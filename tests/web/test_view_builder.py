"""A large log that nobody has opened yet: its first tests are shown while it is read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from harness.base.errors import InvalidInput
from harness.reports.querying.index import STORE
from harness.web.run_view import find_view
from harness.web.view_builder import FIRST, ViewBuilder, build_first_grid
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.reports.logs import a_log, a_run, a_transcript
from tests.reports.viewer.test_viewer import SHOWN
from tests.web.support import WAIT_S, Page

SEEN = """
new MutationObserver(() => {
  const rows = document.querySelectorAll("[role=gridcell]").length;
  const said = document.getElementById("state")?.textContent;
  (window.seen ||= []).push([rows, said]);
}).observe(document, { childList: true, subtree: true, characterData: true });
"""
"""Notes what is shown, each time that it changes."""


def a_large_run(page: Page, name: str, cases: int) -> Path:
    log = page.project.folder / ".harness/runs" / name / "log.jsonl"
    runs = [a_run(f"c{number}", "passed" if number else "failed") for number in range(cases)]
    a_log(log, *runs, transcript=a_transcript("x" * (22_000_000 // cases // 2)))
    assert log.stat().st_size > 20_000_000
    return log


def test_a_failure_is_not_hidden_by_a_later_trial_of_the_same_case(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    runs = [a_run("a", "failed"), a_run("a", trial=2), a_run("b", trial=2), a_run("b")]
    a_log(log, *runs)
    cells = build_first_grid(log)["cells"]
    assert [(cell["case"], cell["status"]) for cell in cells] == [("a", "failed"), ("b", "passed")]


def ask(page: Page, log: Path, query: str = "") -> Any:
    answer = page.client.get(f"/evaluations/{log.parent.name}/grid{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.slow
def test_nobody_waits_unasked_until_a_large_log_is_read(page: Page) -> None:
    log = a_large_run(page, "20260501T000005Z-large-a", 300)
    size = log.stat().st_size
    assert ask(page, log) == {"grid": None, "to_read": size, "read": 0}
    first = ask(page, log, "?beginning=1")["beginning"]
    assert 0 < len(first["cells"]) <= FIRST
    assert first["axes"][0]["columns"][0]["rates"] == []
    assert not log.with_name(STORE).exists()
    whole = ask(page, log, "?whole=1")["grid"]
    places = {cell["case"]: cell["at"] for cell in whole["cells"]}
    assert len(places) == 300
    assert all(cell["at"] == places[cell["case"]] for cell in first["cells"])
    assert ask(page, log)["grid"] == whole


@pytest.mark.slow
def test_a_reader_tells_how_far_it_is_and_keeps_what_it_has_read(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    a_log(
        log, *(a_run(f"c{number}") for number in range(9)), transcript=a_transcript("x" * 400_000)
    )
    stays, _ = ends = os.pipe()
    reader = subprocess.run(
        [sys.executable, "-m", "harness.web.view_builder", str(log)],
        stdin=stays,
        capture_output=True,
        check=True,
        timeout=WAIT_S,
    )
    for end in ends:
        os.close(end)
    told = [int(line) for line in reader.stdout.split()]
    assert told == sorted(told)
    assert len(told) > 2
    assert told[-1] <= log.stat().st_size
    made = find_view(log)
    assert made is not None
    assert made.read_part("done") == 9


def test_a_reader_ends_with_the_page_that_started_it(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    os.mkfifo(log)  # who reads it waits for ever for somebody who writes
    reader = subprocess.Popen(
        [sys.executable, "-m", "harness.web.view_builder", str(log)], stdin=subprocess.PIPE
    )
    assert reader.stdin is not None
    reader.stdin.close()
    assert reader.wait(WAIT_S) == 1


@pytest.mark.slow
@pytest.mark.anyio
async def test_two_who_ask_for_a_large_log_get_the_same(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    a_log(log, a_run("one"))
    readings, views = ViewBuilder(), []

    async def asking() -> None:
        views.append(await readings.build_view(log))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(asking)
        tasks.start_soon(asking)
    assert views == [find_view(log)] * 2
    assert readings.get_progress(log) == 0


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_log_that_cannot_be_read_is_refused_with_the_reason(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("no log\n", "utf-8")
    with pytest.raises(InvalidInput, match="this is not a run log"):
        await ViewBuilder().build_view(log)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
def test_the_first_tests_of_a_large_log_are_shown_while_it_is_read(
    page: Page, browser: Browser
) -> None:
    log = a_large_run(page, "20260501T000006Z-large-b", 2_000)
    seen = watched(page, browser, log, "2,000 tests")
    assert any("of a large log; reading" in said for said in seen)


def watched(page: Page, browser: Browser, log: Path, shown: str) -> list[str]:
    """Open a run and wait for all of it; return what its state said while rows were shown."""
    noting = browser.driver.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument", {"source": SEEN}
    )
    browser.open(f"{page.url}/evaluation?run={log.parent.name}")
    browser.until(lambda: browser.run(SHOWN) == shown)
    browser.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", noting)
    seen = browser.run("return window.seen")
    state = "return document.getElementById('state').textContent"
    browser.until(lambda: browser.run(state).startswith("All tests have ended."))
    assert browser.complaints() == []
    return [said or "" for rows, said in seen if rows]
