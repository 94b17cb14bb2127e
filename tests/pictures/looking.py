"""What one does in a browser, by what one sees there."""

from __future__ import annotations

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from tests.browser import Browser

_SEEN = "return document.body.innerText.includes(arguments[0])"
_NAMED = """
    const named = [...document.querySelectorAll(arguments[0])].filter(
        (one) => one.offsetParent !== null && one.textContent.trim().startsWith(arguments[1]));
    return named[0];
"""
HEADINGS = "h1, h2, h3, h4"
PRESSABLE = "a, button, summary"


def wait_for(browser: Browser, text: str) -> None:
    """Wait until the page shows ``text``."""
    browser.until(lambda: browser.run(_SEEN, text))


def press(browser: Browser, key: str) -> None:
    """Press a key."""
    ActionChains(browser.driver).send_keys(key).perform()


def open_first_trace(browser: Browser) -> None:
    """Open the trace of the first row of the grid, as the key ``j`` does."""
    press(browser, "j")
    wait_for(browser, "Copy link")
    wait_for(browser, "Checks")


def click(browser: Browser, words: str) -> None:
    """Click on the link, button or summary that begins with ``words``."""
    browser.until(lambda: browser.run(_NAMED, PRESSABLE, words)).click()


def scroll_to(browser: Browser, words: str, of: str = HEADINGS, *, above: int = 0) -> None:
    """Scroll to the first element that begins with ``words``; leave ``above`` pixels over it."""
    found = browser.until(lambda: browser.run(_NAMED, of, words))
    browser.run(
        "scrollBy({top: arguments[0].getBoundingClientRect().top - arguments[1],"
        " behavior: 'instant'})",
        found,
        above,
    )


def choose_file(browser: Browser, path: str) -> None:
    """Choose a file in the only field for files of the page."""
    browser.driver.find_element(By.CSS_SELECTOR, "input[type=file]").send_keys(path)


def window(browser: Browser, width: int, height: int) -> None:
    """Look through a window of that size."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def picture(browser: Browser) -> bytes:
    """Return what the window shows, as PNG."""
    return browser.driver.get_screenshot_as_png()
