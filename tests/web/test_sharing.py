"""A run is shared as one small file, which opens by a double click without a network."""

from __future__ import annotations

import base64
import io
import json
import random
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from harness.reports.build import build_report
from harness.reports.formats.html_report import write_html
from harness.types import CheckResult
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.reports.logs import a_log, a_run
from tests.reports.sample_logs import a_conversation
from tests.reports.sample_logs import a_log as a_large_log
from tests.reports.sample_logs import a_run as a_trial
from tests.web.support import Page

NAME = "20260701T000000Z-to share"
NEED = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)


@pytest.mark.slow
@NEED
def test_the_file_that_is_shared_opens_from_a_disk_and_asks_nobody_for_anything(
    page: Page, browser: Browser, tmp_path: Path
) -> None:
    log = page.project.folder / ".harness" / "runs" / NAME / "log.jsonl"
    a_log(log, *(a_run(f"case {n}", "failed" if n == 7 else "passed") for n in range(100)))
    browser.open(f"{page.url}/evaluation?run={NAME.replace(' ', '%20')}")
    share = "return document.querySelector('#share:not([hidden])')?.href"
    address = browser.until(lambda: browser.run(share))
    answer = page.client.get(address)
    told = answer.headers["content-disposition"]
    assert told == 'attachment; filename="20260701T000000Z-to_share.html"'
    file = tmp_path / "shared.html"
    file.write_bytes(answer.content)
    browser.open(file.as_uri())
    browser.until(lambda: browser.run("return document.querySelector('.vbody .vrow') !== null"))
    first = browser.run("return document.querySelector('.vbody .vrow').textContent")
    assert "case 7" in first
    browser.driver.find_element(By.CSS_SELECTOR, ".vbody .vrow .vcell").click()
    trace = "return document.querySelector('.trace .timeline')?.textContent"
    assert "Where is order 7?" in browser.until(lambda: browser.run(trace))
    assert not [one for one in browser.requests() if '"url":"http' in one]
    assert browser.complaints() == []
    printed = browser.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
    pages = base64.b64decode(printed["data"]).count(b"/Type /Page\n")
    assert 2 <= pages <= 8


@pytest.mark.slow
def test_ten_thousand_cases_take_less_than_five_megabytes(tmp_path: Path) -> None:
    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 10))) for _ in range(8_000)]
    trials = []
    for number in range(10_000):
        result = {"id": chance.randint(1, 10**6), "note": " ".join(chance.choices(words, k=20))}
        said = a_conversation(
            "get_order",
            prompt=" ".join(chance.choices(words, k=15)),
            answer=" ".join(chance.choices(words, k=25)),
            arguments={"id": number},
            result=json.dumps(result | {"total": round(chance.random() * 1000, 2)}),
        )
        check = CheckResult(kind="must_call", label="must_call get_order", verdict="passed")
        trials.append((a_trial(f"order_{number:05}", checks=(check,)), said))
    log = a_large_log(tmp_path, trials)
    assert log.path.stat().st_size > 25_000_000
    stream = io.StringIO()
    write_html(build_report(log), log, stream)
    assert len(stream.getvalue()) < 5_000_000
