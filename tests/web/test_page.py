"""The pages in a real browser, without a screen and without a network."""

import json
import os
import signal
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from harness.runlog import LogWriter
from harness.types import Status
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.fake_provider import FakeProvider
from tests.judging.test_access import FULL, LEAKING
from tests.judging.test_access import a_log as asked_as_several
from tests.judging.test_access import a_run as asked_as
from tests.reports.formats.test_html import CONTRAST
from tests.reports.logs import a_log, a_run
from tests.web.support import COLUMNS, Page, dataset, open_form

pytestmark = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)

STATUSES = "return [...document.querySelectorAll('.vbody .vword')].map((one) => one.textContent)"
TEXT = "return document.querySelector(arguments[0]).textContent"
TEXTS = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
VISIBLE = "return document.querySelector(arguments[0]).checkVisibility()"
NAMELESS_ROLES = {
    "button",
    "link",
    "searchbox",
    "combobox",
    "checkbox",
    "spinbutton",
    "image",
    "region",
    "table",
    "DisclosureTriangle",
}


@pytest.fixture
def downloads(tmp_path: Path, browser: Browser) -> Path:
    behaviour = {"behavior": "allow", "downloadPath": str(tmp_path), "eventsEnabled": False}
    browser.driver.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    return tmp_path


def upload(
    browser: Browser, page: Page, folder: Path, text: str, name: str = "my_tests.csv"
) -> None:
    """Choose a file on the form, and a model and a server."""
    (folder / name).write_text(text)
    open_form(browser, page)
    browser.until(
        lambda: browser.run("return document.querySelectorAll('#server option').length > 1")
    )
    for field, value in (("model", "fake"), ("server", "plain")):
        browser.run("document.getElementById(arguments[0]).value = arguments[1]", field, value)
    browser.driver.find_element(By.ID, "file").send_keys(str(folder / name))


def run(browser: Browser) -> str:
    """Press Run as soon as it can be pressed, and return the run's name."""
    browser.until(lambda: browser.run("return !document.getElementById('run').disabled"))
    browser.driver.find_element(By.ID, "run").click()
    return str(
        browser.until(lambda: browser.run("return new URLSearchParams(location.search).get('run')"))
    )


def ended(browser: Browser) -> None:
    browser.until(lambda: browser.run(VISIBLE, "#summary"))


@pytest.mark.slow
def test_an_upload_becomes_a_grid_and_a_summary(
    page: Page, browser: Browser, tmp_path: Path, downloads: Path
) -> None:
    upload(
        browser, page, tmp_path, dataset(["Say seven.", "This one is wrong.", "Say seven again."])
    )
    browser.until(lambda: "Ready" in browser.run(TEXT, "#verdict"))
    assert "3 tests with fake on the server plain" in browser.run(TEXT, "#verdict")
    name = run(browser)
    ended(browser)
    browser.until(lambda: browser.run(STATUSES) == ["failed", "passed", "passed"])
    scores = browser.run(TEXT, "#scores")
    assert "Pass rate67 %needs work" in scores
    assert "Tool selection0.67needs work" in scores
    assert "fake on plain" in browser.run(TEXT, "#about")
    # A failure is opened by the keyboard alone.
    browser.driver.find_element(By.CSS_SELECTOR, ".vgrid").send_keys(Keys.ENTER)
    browser.until(lambda: browser.run("return document.querySelector('.trace .chip')"))
    body = browser.run(TEXT, ".trace-content")
    assert '"n": 7' in body
    assert "The tool was not called." in body
    assert "I do not know." in body
    assert "no judge" in body
    chips = "return [...document.querySelectorAll('.trace .chip')].map((one) => one.className)"
    assert browser.run(chips) == ["chip missing"]
    browser.driver.find_element(By.ID, "trace-title").send_keys("j")
    browser.until(lambda: browser.run(chips) == ["chip correct"])
    frames = browser.run(TEXT, ".trace .frames")
    assert frames.count('"jsonrpc": "2.0"') == 2
    assert '"method": "tools/call"' in frames
    bars = "return [...document.querySelectorAll('.time-axis rect')].map((one) => one.classList[0])"
    assert browser.run(bars) == ["bar-model", "bar-tool", "bar-model"]
    assert browser.run("return document.querySelector('.bar-inferred')") is None
    browser.driver.find_element(By.CSS_SELECTOR, ".menu summary").click()
    browser.driver.find_element(By.ID, "download").click()
    file = downloads / f"{name}.json"
    browser.until(file.exists)
    document = json.loads(file.read_text())
    assert document["status"] == "ok"
    assert [test["passed"] for test in document["result"]["tests"]] == [True, False, True]
    assert document["result"]["evaluation"]["averages"]["tool_selection"]["band"] == "needs work"
    browser.driver.find_element(By.ID, "only-failed").click()
    assert browser.run(STATUSES) == ["failed"]
    assert browser.complaints() == []


@pytest.mark.slow
def test_a_page_that_is_reloaded_in_the_middle_shows_the_same_and_cancel_ends_the_run(
    page: Page, browser: Browser, tmp_path: Path
) -> None:
    upload(browser, page, tmp_path, dataset(["Say seven.", "stall here"]))
    name = run(browser)
    middle = ["running", "passed"]
    browser.until(lambda: browser.run(STATUSES) == middle)
    browser.driver.refresh()
    browser.until(lambda: browser.run(STATUSES) == middle)
    assert browser.run(TEXT, "#state") == "1 of 2 tests have ended."
    browser.driver.find_element(By.ID, "cancel").click()
    ended(browser)
    browser.until(lambda: browser.run(STATUSES) == ["cancelled", "passed"])
    assert browser.run(TEXT, "#state").startswith("The run was cancelled.")
    assert "SIGTERM" not in browser.run(TEXT, "main")
    assert not browser.run(VISIBLE, "#cancel")
    assert browser.run(TEXTS, "#notes .notice, #failure .notice") == []  # nothing went wrong
    footer = page.project.log(name).footer
    assert footer is not None
    assert (footer.reason, footer.signal) == ("interrupted", "SIGINT")
    listed = page.client.get("/evaluations").json()["runs"]
    assert [one["result"] for one in listed if one["id"] == name] == [
        "1 passed, 1 cancelled (by hand)"
    ]
    assert browser.complaints() == []


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for a process in /proc")
def test_a_run_whose_process_is_killed_ends_with_a_notice(page: Page, browser: Browser) -> None:
    run = page.begin(dataset(["Say seven.", "stall here"]))
    browser.open(f"{page.url}/evaluation?run={run}")
    browser.until(lambda: browser.run(STATUSES) == ["running", "passed"])
    (worker,) = (one for one in started_by(page.process.pid) if "harness.web.worker" in one[1])
    os.kill(worker[0], signal.SIGKILL)
    browser.until(lambda: browser.run(VISIBLE, "#summary"))
    assert browser.run(TEXTS, "#notes .notice") == [
        "The run broke off: its process ended before it closed the log."
    ]
    assert browser.complaints() == []


def started_by(parent: int) -> list[tuple[int, str]]:
    """Return the processes that ``parent`` has started, with their command lines."""
    found = []
    for one in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            of = int((one / "stat").read_text().rpartition(")")[2].split()[1])
            if of == parent:
                found.append((int(one.name), (one / "cmdline").read_text().replace("\0", " ")))
    return found


def test_mistakes_in_a_file_are_shown_with_their_lines_before_anything_starts(
    page: Page, browser: Browser, tmp_path: Path
) -> None:
    text = (
        dataset(["Say seven."])
        + '2,"Broken","Get Stock","{}","x"\r\n3,"Broken","echo","{oops}","x"\r\n'
    )
    upload(browser, page, tmp_path, text, "bad.csv")
    found = browser.until(
        lambda: "Line" in browser.run(TEXT, "#verdict") and browser.run(TEXT, "#verdict")
    )
    assert found.startswith(
        "bad.csv: This cannot be run.Line 3: expected_tool: 'Get Stock' is not the name of a tool."
    )
    assert "Line 4: expected_args: this is not JSON" in found
    assert browser.run("return document.getElementById('run').disabled")
    entries = browser.complaints()  # Chromium itself notes the 422
    assert all("422" in entry for entry in entries)


@pytest.mark.slow
def test_a_hostile_dataset_stays_text(page: Page, browser: Browser, tmp_path: Path) -> None:
    evil = "</script><script>window.pwned=1</script><img src=x onerror='window.pwned=1'>"
    row = ",".join(
        f'"{cell}"' for cell in (f"{evil}", f"hostile {evil}", "echo", "{}", evil.replace(",", ""))
    )
    upload(
        browser,
        page,
        tmp_path,
        ",".join(COLUMNS) + "\r\n" + row + "\r\n",
        "<b>x<img src=x onerror=alert(1)>.csv",
    )
    run(browser)
    ended(browser)
    browser.run("document.querySelector('[role=gridcell]').click()")
    browser.until(lambda: browser.run("return document.querySelector('.trace .timeline')"))
    text = browser.run(TEXT, "main")
    assert text.count("<script>window.pwned=1</script>") >= 3
    assert "<script>window.pwned=1</script>" in browser.run(TEXT, ".timeline .user")
    assert browser.run("return window.pwned") is None
    assert (
        browser.run(
            "return document.querySelectorAll('main img, main script, main b, main iframe').length"
        )
        == 0
    )
    assert "<b>x<img src=x onerror=alert(1)>.csv" in browser.run(TEXT, "#live-title")
    assert browser.complaints() == []


@pytest.mark.slow
def test_the_sample_runs_at_one_press(page: Page, browser: Browser) -> None:
    open_form(browser, page)
    browser.until(
        lambda: browser.run("return document.querySelectorAll('#server option').length > 1")
    )
    browser.run("document.getElementById('model').value = 'lexical'")
    browser.driver.find_element(By.ID, "use-sample").click()
    browser.until(lambda: len(browser.run(STATUSES)) == 12)
    ended(browser)
    assert "It is not an LLM" in browser.run(TEXT, "#notes")
    assert set(browser.run(STATUSES)) <= {"passed", "failed"}


@pytest.mark.slow
def test_a_file_can_be_dropped(page: Page, browser: Browser) -> None:
    open_form(browser, page)
    browser.until(
        lambda: browser.run("return document.querySelectorAll('#server option').length > 1")
    )
    browser.run(
        "document.getElementById('server').value = 'plain';"
        "const given = new DataTransfer(); given.items.add(new File([arguments[0]], "
        "'dropped.csv'));"
        "document.getElementById('drop').dispatchEvent(new DragEvent('drop', {dataTransfer: given, "
        "bubbles: true}))",
        dataset(["Say seven."]),
    )
    browser.until(lambda: "Ready. dropped: 1 test" in browser.run(TEXT, "#verdict"))


@pytest.mark.slow
def test_past_runs_are_listed_filtered_drawn_and_compared(page: Page, browser: Browser) -> None:
    def ended_on(day: int, status: Status) -> None:
        name = f"2026010{day}T000000Z-over_time-abc"
        log = page.project.folder / ".harness/runs" / name / "log.jsonl"
        a_log(log, a_run("one", status, suite="over_time"))
        log.write_text(log.read_text().replace("2026-01-01T00:00:00Z", f"2026-01-0{day}T00:00:00Z"))

    ended_on(1, "passed")
    ended_on(2, "failed")
    browser.open(f"{page.url}/runs")
    rows = (
        "return [...document.querySelectorAll('#rows tr')].map((one) => one.cells[2].textContent)"
    )
    browser.until(lambda: len(browser.run(rows)) >= 2)
    browser.run(
        "const at = document.getElementById('suite'); at.value = 'over_time'; at.dispatchEvent(new "
        "Event('input'))"
    )
    browser.until(lambda: browser.run(rows) == ["over_time", "over_time"])
    label = browser.run("return document.querySelector('#charts svg').getAttribute('aria-label')")
    assert label == "over_time, pass rate. m: 100 %, 0 %"
    # A row that comes leaves the others where they are, under whatever points at them.
    boxes = browser.driver.find_elements(By.CSS_SELECTOR, "#rows input")
    ended_on(3, "failed")
    browser.run("document.getElementById('suite').dispatchEvent(new Event('input'))")
    browser.until(lambda: len(browser.run(rows)) == 3)
    for box in boxes:
        box.click()
    browser.driver.find_element(By.ID, "compare").click()
    browser.until(lambda: "Comparison" in browser.driver.title)
    assert "100 %" in browser.run(TEXT, "main")
    browser.driver.back()
    browser.until(lambda: browser.run("return document.querySelectorAll('#rows a').length"))
    browser.driver.find_element(By.LINK_TEXT, "report").click()
    browser.until(
        lambda: (
            browser.driver.title.startswith("Evaluation report")
            or "/report" in browser.driver.current_url
        )
    )
    browser.until(lambda: browser.run("return document.querySelectorAll('.vbody .vrow').length"))
    assert browser.complaints() == []


@pytest.mark.slow
def test_every_page_is_as_wide_as_its_window_and_its_texts_stand_out(
    page: Page, browser: Browser, provider: FakeProvider
) -> None:
    runs = page.client.get("/evaluations?limit=1").json()["runs"]
    name = runs[0]["id"] if runs else page.begin(dataset(["hostile"]))
    for path in ("/evaluation", f"/evaluation?run={name}", "/runs", "/docs"):
        browser.open(page.url + path, width=360, dark=True)
        if "run=" in path:
            ended(browser)
            browser.until(lambda: browser.run(STATUSES))
            browser.run("document.querySelector('[role=gridcell]').click()")
        ready = {"/runs": "#rows tr", "/docs": "#operations section"}.get(
            path, "#server option + option, .trace .timeline"
        )
        browser.until(
            partial(browser.run, "return document.querySelector(arguments[0]) !== null", ready)
        )
        for width, dark in ((360, True), (1280, False)):
            browser.look(width=width, dark=dark)
            assert browser.run("return document.documentElement.scrollWidth") <= width, path
            ratio, where = browser.run(CONTRAST)
            assert ratio >= 4.5, (path, where)
            nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
            shown = [node for node in nodes if not node["ignored"]]
            assert {"main", "navigation", "heading"} <= {node["role"]["value"] for node in shown}
            nameless = [
                node["role"]["value"]
                for node in shown
                if node["role"]["value"] in NAMELESS_ROLES and not node.get("name", {}).get("value")
            ]
            assert nameless == [], path
        asked = [
            json.loads(one)["message"]["params"]["request"]["url"] for one in browser.requests()
        ]
        assert [one for one in asked if not one.startswith((page.url, "about:"))] == []
        assert browser.complaints() == []


@pytest.mark.slow
def test_a_keyboard_alone_reaches_everything_on_the_form(page: Page, browser: Browser) -> None:
    open_form(browser, page)
    browser.until(
        lambda: browser.run("return document.querySelectorAll('#server option').length > 1")
    )
    seen = []
    for _ in range(14):
        ActionChains(browser.driver).send_keys(Keys.TAB).perform()
        seen.append(
            browser.run("return document.activeElement.id || document.activeElement.textContent")
        )
    wanted = ["Skip to the content", "Evaluation", "Runs", "API", "file", "use-sample", ("Download "
        "the sample"), "model",
              "server", "judge", "concurrency"]  # fmt: skip
    assert [one for one in seen if one in wanted][: len(wanted)] == wanted


def test_a_run_that_does_not_exist_is_told(page: Page, browser: Browser) -> None:
    browser.open(f"{page.url}/evaluation?run=none")
    browser.until(lambda: "no such run" in browser.run(TEXT, "#failure"))


@pytest.mark.slow
def test_a_test_waits_for_the_other_identities_until_its_status_is_settled(
    page: Page, browser: Browser, tmp_path: Path
) -> None:
    whole = asked_as_several(tmp_path, (asked_as("admin"), FULL), (asked_as("clerk"), LEAKING))
    path = page.project.folder / ".harness" / "runs" / "20260105T000000Z-shop-abcdef" / "log.jsonl"
    path.parent.mkdir(parents=True)
    with LogWriter(path):  # as long as it is open, the run goes on
        path.write_bytes(whole.path.read_bytes())
        browser.open(f"{page.url}/evaluation?run={path.parent.name}")
        waiting = "return [...document.querySelectorAll('.vproblem')].map((one) => one.textContent)"
        browser.until(lambda: browser.run(waiting) == ["waiting for the other identities"] * 2)
    ended(browser)
    browser.until(lambda: browser.run(STATUSES) == ["failed", "passed"])
