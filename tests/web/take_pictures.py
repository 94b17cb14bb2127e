"""``python -m tests.web.take_pictures``: ``docs/images/web-results.png``, from a real run.

The sample is run on a page of its own, with the built-in model and server, and looked at in
Chromium: the summary, the grid with failures first, and the trace of the first failure.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.browser import Browser, a_browser
from tests.end_to_end.harness_process import Project
from tests.reports.viewer.test_viewer import PRESS
from tests.web.support import Page, served

IMAGES = Path(__file__).parents[2] / "docs" / "images"
SIZE = {"width": 1280, "height": 1050, "deviceScaleFactor": 1, "mobile": False}


def results(page: Page, browser: Browser) -> bytes:
    """Return a picture of the results of the sample."""
    sample = page.client.get("/evaluations/sample").content
    run = page.client.post("/evaluations", files={"file": ("sample.csv", sample)}).json()["id"]
    page.until(run, "summary")
    browser.open(f"{page.url}/evaluation?run={run}")
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE)
    browser.until(lambda: browser.run("return document.querySelector('.vbody .vrow')"))
    browser.run(PRESS, "j")
    browser.until(lambda: browser.run("return document.querySelector('.trace .pairs')"))
    browser.run("document.getElementById('live-title').scrollIntoView()")
    return browser.driver.get_screenshot_as_png()


def main() -> None:
    """Take it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as profile,
        a_browser(Path(profile)) as browser,
        served(Project(Path(folder), {})) as page,
    ):
        (IMAGES / "web-results.png").write_bytes(results(page, browser))


if __name__ == "__main__":
    main()
