"""A workbench of a terminal, opened on the page that is served."""

from __future__ import annotations

import pytest

from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.reports.packs import all_of
from tests.web.support import Page

needs_browser = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
CASES = [{"name": "seven", "prompt": "Say 7.", "assertions": {"must_call": [{"tool": "echo"}]}}]


@pytest.fixture(scope="module")
def bench(page: Page) -> str:
    """Return the name of a workbench that was run in a terminal."""
    page.project.suite("worded", CASES, server="plain")
    finished = page.project.run(
        "workbench", "worded", "--model", "lexical", "--studies", "ablation", "--json-output"
    )
    return str(finished.document["result"]["run_id"])


@pytest.mark.slow
def test_a_workbench_is_listed_as_one_and_its_page_is_made_from_its_log(
    page: Page, bench: str
) -> None:
    runs = {run["id"]: run for run in page.client.get("/evaluations").json()["runs"]}
    assert runs[bench]["workbench"] is True
    answer = page.client.get(f"/runs/{bench}/workbench")
    assert answer.status_code == 200
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    shown = all_of(answer.text)
    assert '"suite": "worded"' in shown
    assert "has changed since" not in shown


@pytest.mark.slow
def test_a_suite_that_has_changed_or_is_gone_is_told_in_words(page: Page, bench: str) -> None:
    file = page.project.folder / "evals" / "worded.yml"
    whole = file.read_text("utf-8")
    try:
        file.write_text(whole.replace("Say 7.", "Say eight."), "utf-8")
        changed = page.client.get(f"/runs/{bench}/workbench")
        file.unlink()
        gone = page.client.get(f"/runs/{bench}/workbench")
    finally:
        file.write_text(whole, "utf-8")
    assert changed.status_code == 200
    assert "suite worded: case seven has changed" in all_of(changed.text)
    assert gone.status_code == 422
    assert "cannot be made" in gone.json()["error"]
    assert "worded" in gone.json()["error"]


def test_an_ordinary_run_has_no_page_of_a_workbench(page: Page, bench: str) -> None:
    page.project.run("evals", "worded", "--model", "lexical")
    ordinary = page.project.log().header.run_id
    answer = page.client.get(f"/runs/{ordinary}/workbench")
    assert answer.status_code == 404
    assert "not made by harness workbench" in answer.json()["error"]


@pytest.mark.slow
@needs_browser
def test_the_list_of_runs_leads_to_the_page(page: Page, bench: str, browser: Browser) -> None:
    browser.open(f"{page.url}/runs")
    link = "document.querySelector('a[href$=\"/workbench\"]')"
    browser.until(lambda: browser.run(f"return {link} !== null"))
    browser.run(f"{link}.click()")
    tools = "return document.querySelectorAll('.tool').length"
    browser.until(lambda: browser.run(tools))
    assert browser.complaints() == []
