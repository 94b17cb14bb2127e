"""What axe finds wrong with the pages: nothing, on a phone and on a wide screen, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.judging.reviews import add_review
from harness.runlog import read_log
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.descriptions.workbench.page.samples import a_result
from tests.descriptions.workbench.page.samples import page_of as workbench_page
from tests.judging.test_access import FULL, LEAKING
from tests.judging.test_access import a_log as asked_as_several
from tests.judging.test_access import a_run as asked_as
from tests.reports.formats.test_html import page_of
from tests.reports.sample_logs import a_conversation, a_log, a_run, an_ordinary_log
from tests.reports.viewer.test_viewer import PRESS, SET, with_frames
from tests.web.faults.test_several_models import two_models
from tests.web.support import Page, open_form
from tests.web.test_scripts import STRANGERS

AXE = STRANGERS / "axe-core" / "axe.min.js"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING),
    pytest.mark.skipif(not AXE.exists(), reason="npm ci --prefix tests/strangers fetches axe-core"),
]
LOOKS = [(390, True), (1440, False)]
RUN = (
    "return axe.run().then((found) => found.violations.map((one) => "
    "[one.id, one.nodes.map((node) => node.target.join(' ') + ': ' + node.failureSummary)]))"
)


def faults(browser: Browser) -> Any:
    browser.driver.execute_script(AXE.read_text("utf-8"))
    return browser.run(RUN)


def with_a_trace(browser: Browser) -> None:
    browser.until(lambda: browser.run("return document.querySelector('.vbody .vrow')"))
    browser.run(PRESS, "j")
    browser.until(lambda: browser.run("return document.querySelector('.trace .pairs')"))


@pytest.mark.parametrize(("width", "dark"), LOOKS)
@pytest.mark.parametrize("path", ["/suites", "/evaluation", "/runs", "/docs", "/runs/none/report"])
def test_axe_finds_nothing_on_a_page(
    page: Page, browser: Browser, path: str, width: int, dark: bool
) -> None:
    browser.open(page.url + path, width=width, dark=dark)
    browser.until(lambda: not browser.run("return document.querySelector('main.loading')"))
    assert faults(browser) == []


@pytest.mark.parametrize(("width", "dark"), LOOKS)
@pytest.mark.parametrize("opened", [False, True])
def test_axe_finds_nothing_in_the_results_of_a_run(
    page: Page, browser: Browser, opened: bool, width: int, dark: bool
) -> None:
    name = "20260701T000000Z-axe-several"
    log = page.project.folder / ".harness/runs" / name / "log.jsonl"
    if not log.exists():
        two_models(log)
    browser.open(f"{page.url}/evaluation?run={name}", width=width, dark=dark)
    browser.until(lambda: browser.run("return document.querySelector('.vbody .vrow')"))
    if opened:
        browser.run(PRESS, "j")
        browser.until(lambda: browser.run("return document.querySelector('.trace .pairs')"))
    assert faults(browser) == []


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_axe_finds_nothing_where_tests_are_written_and_have_mistakes(
    page: Page, browser: Browser, width: int, dark: bool
) -> None:
    open_form(browser, page)
    browser.look(width=width, dark=dark)
    browser.run("document.getElementById('write').click()")
    browser.run(SET, "#text", "value", "cases:\n  - what: 1\n")
    browser.until(lambda: browser.run("return document.querySelector('#verdict .problems')"))
    assert faults(browser) == []


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_axe_finds_nothing_where_a_person_reviews(
    page: Page, browser: Browser, width: int, dark: bool
) -> None:
    name = f"20260701T000002Z-axe-review-{width}"
    log = page.project.folder / ".harness/runs" / name / "log.jsonl"
    two_models(log)
    for failed in (one for one in read_log(log).results if one.status == "failed"):
        add_review(log, failed.key, "overrule", by="Ann", note="It is right.")
    browser.open(f"{page.url}/evaluation?run={name}", width=width, dark=dark)
    opened = "document.querySelector('[role=gridcell] .failed').click(); return true"
    browser.until(lambda: browser.run(opened))
    form = "return document.querySelector('.trace .review:not([hidden])')?.textContent"
    assert "was overruled" in browser.until(lambda: browser.run(form))
    assert faults(browser) == []


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_axe_finds_nothing_in_the_results_of_a_run_with_identities(
    page: Page, browser: Browser, width: int, dark: bool
) -> None:
    name = f"20260701T000003Z-axe-identities-{width}"
    folder = page.project.folder / ".harness/runs" / name
    asked_as_several(folder, (asked_as("admin"), FULL), (asked_as("clerk"), LEAKING))
    browser.open(f"{page.url}/evaluation?run={name}", width=width, dark=dark)
    with_a_trace(browser)
    assert faults(browser) == []


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_axe_finds_nothing_in_a_comparison_nor_in_runs_side_by_side(
    page: Page, browser: Browser, width: int, dark: bool
) -> None:
    name = "20260701T000001Z-axe-compare"
    log = page.project.folder / ".harness/runs" / name / "log.jsonl"
    if not log.exists():
        two_models(log)
    browser.open(f"{page.url}/runs/compare?a={name}", width=width, dark=dark)
    assert faults(browser) == []
    browser.open(f"{page.url}/runs/grid?run={name}", width=width, dark=dark)
    with_a_trace(browser)
    assert faults(browser) == []


@pytest.mark.parametrize(("width", "dark"), LOOKS)
@pytest.mark.parametrize("unfolded", [False, True])
def test_axe_finds_nothing_on_the_page_of_a_workbench(
    tmp_path: Path, browser: Browser, unfolded: bool, width: int, dark: bool
) -> None:
    file = tmp_path / "workbench.html"
    file.write_text(workbench_page(a_result(tmp_path, models=("m", "n"), baseline=True)), "utf-8")
    browser.open(file.as_uri(), width=width, dark=dark)
    browser.until(lambda: browser.run("return document.querySelector('.tool')"))
    if unfolded:
        browser.run(
            "document.querySelectorAll('details').forEach((one) => { one.open = true; });"
            "document.querySelector('.heat button')?.click()"
        )
    assert faults(browser) == []


@pytest.mark.parametrize(("width", "dark"), LOOKS)
@pytest.mark.parametrize("several", [False, True])
def test_axe_finds_nothing_in_the_report(
    tmp_path: Path, browser: Browser, several: bool, width: int, dark: bool
) -> None:
    log = (
        asked_as_several(tmp_path, (asked_as("admin"), FULL), (asked_as("clerk"), LEAKING))
        if several
        else an_ordinary_log(tmp_path)
    )
    browser.open(page_of(log), width=width, dark=dark)
    with_a_trace(browser)
    assert faults(browser) == []


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_axe_finds_nothing_where_frames_are_unfolded(
    tmp_path: Path, browser: Browser, width: int, dark: bool
) -> None:
    said = with_frames(a_conversation("get_order"))
    address = page_of(a_log(tmp_path, [(a_run("sold"), said)]))
    browser.open(f"{address}#case-1", width=width, dark=dark)
    browser.until(lambda: browser.run("return document.querySelector('.trace .frames')"))
    browser.run("document.querySelector('.frames').open = true")
    assert faults(browser) == []
