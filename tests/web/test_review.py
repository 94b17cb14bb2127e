"""A person reviews verdicts on the page, behind its doors."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import httpx2
import pytest
from selenium.webdriver.common.by import By

from harness.reports.build import build_report
from harness.runlog import read_log
from harness.web.ended_runs import _known_status
from harness.web.run_view import ensure_view
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.judging.test_reviews import GOLDEN
from tests.reports.logs import a_log, a_run
from tests.web.support import Page

TEXT = "return document.querySelector(arguments[0]).textContent"


def a_run_of(page: Page, name: str) -> Path:
    log = page.project.folder / ".harness" / "runs" / name / "log.jsonl"
    return a_log(log, a_run("good"), a_run("bad", "failed"), a_run("broken", "error")).path


def send(page: Page, run: str, **fields: Any) -> httpx2.Response:
    return page.client.post(f"/evaluations/{run}/reviews", json=fields)


def test_a_review_is_one_line_in_the_log_and_the_summary_counts_it(page: Page) -> None:
    name = "20260501T000000Z-reviewed-api"
    path = a_run_of(page, name)
    answer = send(page, name, key="shopbadm1", decision="overrule", by="Ann", note="<b>No.</b>")
    assert (answer.status_code, answer.json()["overruled"]) == (200, 1)
    assert answer.json()["trials"]["shopbadm1"]["note"] == "<b>No.</b>"
    told = page.client.get(f"/evaluations/{name}").json()["summary"]
    assert told["reviews"] == answer.json()
    assert told["counts"]["failed"] == 1
    assert len(read_log(path).reviews) == 1


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"key": "shopbadm1", "decision": "overrule", "by": "Ann"}, 422),
        ({"key": "shopbadm1", "decision": "accept"}, 422),
        ({"key": "other", "decision": "accept", "by": "Ann"}, 422),
        ({"key": "shopbrokenm1", "decision": "accept", "by": "Ann"}, 422),
        ({"key": "shopbadm1", "decision": "maybe", "by": "Ann"}, 400),
        ({"key": "shopbadm1", "decision": "accept", "by": "Ann", "status": "passed"}, 400),
        ({"key": "shopbadm1", "decision": "accept", "by": "x" * 70_000}, 413),
    ],
)
def test_what_is_no_review_is_refused_and_not_written(
    page: Page, fields: dict[str, str], status: int
) -> None:
    name = "20260502T000000Z-refused"
    path = a_run_of(page, name)
    before = path.read_bytes()
    assert send(page, name, **fields).status_code == status
    assert path.read_bytes() == before


def test_the_view_of_a_run_knows_the_status_of_every_trial(tmp_path: Path) -> None:
    path = Path(shutil.copyfile(GOLDEN, tmp_path / "log.jsonl"))
    judged = build_report(read_log(path)).results
    assert _known_status(path, judged[0].key) is None  # there is no view yet
    ensure_view(path)
    found = {one.key: _known_status(path, one.key) for one in judged}
    assert {key: known and known.status for key, known in found.items()} == {
        one.key: one.status for one in judged
    }
    assert _known_status(path, "no such trial") is None


def test_another_site_cannot_review_by_a_form_of_its_own(page: Page) -> None:
    name = "20260503T000000Z-foreign"
    path = a_run_of(page, name)
    before = path.read_bytes()
    body = '{"key": "shopbadm1", "decision": "accept", "by": "Eve"}'
    address = f"/evaluations/{name}/reviews"
    for headers, status in (
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/json", "origin": "https://evil.example"}, 403),
        ({"content-type": "application/json", "sec-fetch-site": "cross-site"}, 403),
    ):
        answer = page.client.post(address, content=body, headers=headers)
        assert answer.status_code == status
    assert page.client.post("/evaluations/nothing/reviews", json={}).status_code == 404
    assert path.read_bytes() == before


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
def test_a_verdict_is_overruled_on_the_page_and_still_is_when_the_page_is_opened_again(
    page: Page, browser: Browser
) -> None:
    name = "20260504T000000Z-on-the-page"
    path = a_run_of(page, name)
    browser.open(f"{page.url}/evaluation?run={name}")
    opened = "document.querySelector('[role=gridcell] .failed').click(); return true"
    browser.until(lambda: browser.run(opened))
    form = browser.until(
        lambda: browser.run("return document.querySelector('.review:not([hidden])')")
    )
    accept, overrule = form.find_elements(By.TAG_NAME, "button")
    assert (accept.text, overrule.text) == ("Accept: failed", "Overrule: it passed")
    form.find_element(By.TAG_NAME, "input").send_keys("Ann")
    overrule.click()  # without a reason: the browser asks for it
    assert read_log(path).reviews == {}
    form.find_element(By.TAG_NAME, "textarea").send_keys("The tool <b>was</b> renamed.")
    overrule.click()
    browser.until(lambda: "1 reviewed, 1 overruled" in browser.run(TEXT, "#reviewed"))
    browser.driver.refresh()
    browser.until(lambda: "1 reviewed, 1 overruled" in browser.run(TEXT, "#reviewed"))
    mark = browser.until(lambda: browser.run(TEXT, ".trace .reviewed"))
    assert "failed was overruled: passed by Ann" in mark
    assert "The tool <b>was</b> renamed." in mark
    assert browser.complaints() == []
