"""A real browser, without a screen, that looks at pages on the disk and on loopback."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import JavascriptException, StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.wait import WebDriverWait

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = "Chromium is not installed: apt-get install chromium chromium-driver"
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-features=SpareRendererForSitePerProcess,BackForwardCache",
)
WAIT_S = 60.0
"""Bound of everything that is waited for; all of it takes a second or two."""
_LOADED = "return document.readyState === 'complete' && location.href === arguments[0]"


@contextmanager
def a_browser(folder: Path) -> Iterator[Browser]:
    options = Options()
    options.binary_location = CHROMIUM or ""
    for flag in (*FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        driver.set_page_load_timeout(WAIT_S)
        driver.set_script_timeout(WAIT_S)
        yield Browser(driver)
    finally:
        driver.quit()


class Browser:
    """What the tests ask of it."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, address: str, *, width: int = 1280, dark: bool = False) -> None:
        """Go to ``address`` and wait until the page is there.

        The driver may come back while the last one still is.
        """
        self.look(width=width, dark=dark)
        self.driver.get("about:blank")
        self._log("browser")
        self._log("performance")
        self.driver.get(address)
        self.until(lambda: self.run(_LOADED, address))

    def look(self, *, width: int = 1280, dark: bool = False) -> None:
        """Look at every page through a window of that width, with a light or a dark scheme."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def until(self, true: Callable[[], Any]) -> Any:
        """Return what ``true`` returns as soon as that is true; between two pages nothing is."""
        between = (JavascriptException, StaleElementReferenceException)
        return WebDriverWait(self.driver, WAIT_S, 0.05, between).until(lambda _: true())

    def complaints(self) -> list[str]:
        """Return what the console says: errors, and violations of the page's own policy."""
        return [entry["message"] for entry in self._log("browser")]

    def requests(self) -> list[str]:
        """Return every address that the page asked for."""
        sent = (entry["message"] for entry in self._log("performance"))
        return [message for message in sent if '"Network.requestWillBeSent"' in message]

    def _log(self, sort: str) -> list[dict[str, Any]]:
        """Return what has come since the last time."""
        entries: list[dict[str, Any]] = self.driver.get_log(sort)  # type: ignore[no-untyped-call]  # selenium's own
        return entries
