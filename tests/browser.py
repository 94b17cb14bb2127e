"""A real browser, without a screen, that looks at pages from the disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

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
)


@contextmanager
def a_browser(folder: Path) -> Iterator[Browser]:
    options = Options()
    options.binary_location = CHROMIUM or ""
    for flag in (*FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        driver.set_page_load_timeout(30)
        driver.set_script_timeout(30)
        yield Browser(driver)
    finally:
        driver.quit()


class Browser:
    """What the tests ask of it."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, page: Path, *, width: int = 1280, dark: bool = False, hash_: str = "") -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.get("about:blank")
        self._log("browser")
        self._log("performance")
        self.driver.get(page.as_uri() + hash_)

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

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
