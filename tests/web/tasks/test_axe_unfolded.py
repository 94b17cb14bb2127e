"""What axe finds wrong where all that folds is open: nothing, with charts, filters and menus."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import Browser
from tests.reports.formats.test_html import page_of
from tests.reports.sample_logs import an_ordinary_log
from tests.web.faults.test_several_models import two_models
from tests.web.support import Page
from tests.web.test_accessibility import faults, pytestmark

__all__ = ["pytestmark"]
LOOKS = [(390, False), (1440, True)]
"""The other ones of `test_accessibility`."""
UNFOLD = "document.querySelectorAll('details').forEach((one) => { one.open = true; });"
FOLDED = "return document.querySelectorAll('details:not([open])').length"
SUITE = """suite: own
server: plain
variants: {vague: {tools: {echo: {description: Something.}}}}
tests:
  - {name: seven, prompt: Say seven., assertions: {must_call: [{tool: echo}]}}
"""


def unfold(browser: Browser) -> None:
    """Open everything that folds, also what is made when something else opens."""
    browser.until(lambda: (browser.run(UNFOLD), browser.run(FOLDED) == 0)[1])


@pytest.mark.parametrize(("width", "dark"), LOOKS)
@pytest.mark.parametrize("path", ["/suites", "run", "compare"])
def test_axe_finds_nothing_where_all_of_a_page_is_unfolded(
    page: Page, browser: Browser, path: str, width: int, dark: bool
) -> None:
    name = "20260701T000004Z-axe-unfolded"
    log = page.project.folder / ".harness/runs" / name / "log.jsonl"
    if not log.exists():
        two_models(log)
        (page.project.folder / "evals").mkdir(exist_ok=True)
        (page.project.folder / "evals/own.yml").write_text(SUITE, "utf-8")
    address = {"run": f"/evaluation?run={name}", "compare": f"/runs/compare?a={name}"}
    browser.open(page.url + address.get(path, path), width=width, dark=dark)
    browser.until(lambda: not browser.run("return document.querySelector('main.loading')"))
    if path == "run":
        browser.until(lambda: browser.run("return document.querySelector('.vbody .vrow')"))
    unfold(browser)
    if path == "run":
        browser.until(lambda: browser.run("return document.querySelector('.vchart svg')"))
    assert faults(browser) == []


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_axe_finds_nothing_where_all_of_a_report_is_unfolded(
    tmp_path: Path, browser: Browser, width: int, dark: bool
) -> None:
    browser.open(page_of(an_ordinary_log(tmp_path)), width=width, dark=dark)
    browser.until(lambda: browser.run("return document.querySelector('.vbody .vrow')"))
    unfold(browser)
    assert faults(browser) == []
