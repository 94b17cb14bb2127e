"""``python -m tests.web.take_pictures``: pictures of ``docs/images``, from real runs in Chromium.

====================  =====================================================================
``web-results.png``   the sample, run on a page of its own with the built-in model and server
``compare-page.png``  a built-in suite with and without worse words of its tools, one case opened
``viewer.png``        the report of a made-up run of a hundred cases and two models
====================  =====================================================================
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import yaml

from benchmarks.viewing import MODELS, trials
from tests.browser import Browser, a_browser
from tests.end_to_end.harness_process import Project
from tests.reports.formats.test_html import page_of
from tests.reports.sample_logs import a_log
from tests.reports.viewer.test_viewer import PRESS
from tests.web.support import Page, served

IMAGES = Path(__file__).parents[2] / "docs" / "images"
VAGUE = {
    "get_customer_details": {"description": "Details."},
    "search_customers": {"description": "Find customers."},
    "search_orders": {"description": "Find orders."},
}
"""Words of tools that say less than the server's own."""


def results(page: Page, browser: Browser) -> bytes:
    """Return a picture of the results of the sample: summary, grid, trace of the first failure."""
    sample = page.client.get("/evaluations/sample").content
    run = page.client.post("/evaluations", files={"file": ("sample.csv", sample)}).json()["id"]
    page.until(run, "summary")
    browser.open(f"{page.url}/evaluation?run={run}")
    with_a_trace(browser)
    browser.run("document.getElementById('live-title').scrollIntoView()")
    return picture(browser, 1280, 1050)


def comparison(project: Project, browser: Browser) -> bytes:
    """Return a picture of a comparison: difference, tools that differ, the first case opened."""
    (project.folder / "vague.yml").write_text(
        yaml.safe_dump({"variants": {"vague": {"tools": VAGUE}}})
    )
    project.run("evals", "data_governance", "--variant", "none", "--variant", "vague.yml")
    project.run("compare", "latest", "--report", "page.html")
    browser.open((project.folder / "page.html").as_uri())
    browser.until(lambda: browser.run("return document.querySelector('.compared summary')"))
    browser.run("document.querySelector('.compared summary').click()")
    browser.until(lambda: browser.run("return document.querySelector('.compared .body > *')"))
    browser.run("document.querySelector('.verdict').scrollIntoView()")
    return picture(browser, 1100, 1400)


def report(folder: Path, browser: Browser) -> bytes:
    """Return a picture of the grid of two models, with the trace of a failure beside it."""
    browser.open(page_of(a_log(folder, list(trials(100)), models=MODELS)))
    with_a_trace(browser)
    browser.run("document.getElementById('cases').scrollIntoView()")
    return picture(browser, 1280, 820)


def with_a_trace(browser: Browser) -> None:
    """Open the trace of the first row."""
    browser.until(lambda: browser.run("return document.querySelector('.vbody .vrow')"))
    browser.run(PRESS, "j")
    browser.until(lambda: browser.run("return document.querySelector('.trace .pairs')"))


def picture(browser: Browser, width: int, height: int) -> bytes:
    """Return what a window of that size shows."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    return browser.driver.get_screenshot_as_png()


def main() -> None:
    """Take them."""
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as profile,
        a_browser(Path(profile)) as browser,
    ):
        project = Project(Path(folder), {})
        with served(project) as page:
            (IMAGES / "web-results.png").write_bytes(results(page, browser))
        (IMAGES / "compare-page.png").write_bytes(comparison(project, browser))
        (IMAGES / "viewer.png").write_bytes(report(Path(folder), browser))


if __name__ == "__main__":
    main()
