"""What cells show where it is asked for, and the buttons above the grid."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.types import Usage
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.reports.formats.test_html import page_of
from tests.reports.sample_logs import a_conversation, a_log, a_run, must_call
from tests.reports.viewer.test_viewer import CLICK, NAMES, SET

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING),
    pytest.mark.slow,
]

TEXTS = (
    "return [...document.querySelectorAll(arguments[0])].filter((one) => one.offsetParent)"
    ".map((one) => one.innerText)"
)
PRESSED = (
    "return [...document.querySelectorAll('.quick button[aria-pressed=true]')].map((one) => one.id)"
)
OVER = """const cells = [...document.querySelectorAll('.vbody .vcell')];
return cells.filter((one) => one.scrollHeight > one.parentElement.clientHeight + 1
  || getComputedStyle(one).overflow !== 'hidden' && one.scrollWidth > one.clientWidth + 1).length"""
WARNING = replace(must_call("refund", explanation="It was slow."), severity="warn")


def a_page(folder: Path) -> str:
    trials = []
    for name, status, checks in (
        ("good", "passed", ()),
        ("slow", "passed", (WARNING,)),
        ("lost", "failed", (must_call("refund", explanation="It was not called."),)),
        ("down", "error", ()),
    ):
        for model in ("large", "small"):
            ended = "passed" if model == "large" and name == "lost" else status
            run = a_run(name, ended, model=model, checks=checks)  # type: ignore[arg-type]
            usage = Usage(input_tokens=1200, output_tokens=34, cost_usd=0.5)
            answer = f"{model} says of {name}: " + "a long answer " * 60
            trials.append((replace(run, usage=usage), a_conversation("get_order", answer=answer)))
    return page_of(a_log(folder, trials, models=("large", "small")))


def test_buttons_filter_by_status_warnings_and_change_and_say_what_is_pressed(
    tmp_path: Path, browser: Browser
) -> None:
    browser.open(a_page(tmp_path), width=1440)
    words = browser.run(TEXTS, ".quick button")
    assert words[:6] == ["not passed", "error 2", "failed 1", "passed 5", "warnings 2", "changed"]
    shown = {}
    for button in ("failed", "status-error", "warned", "different"):
        browser.run(CLICK, f"#only-{button}")
        assert browser.run(PRESSED) == [f"only-{button}"]
        shown[button] = sorted(browser.run(NAMES))
        browser.run(CLICK, f"#only-{button}")
    assert shown == {
        "failed": ["down", "lost"],
        "status-error": ["down"],
        "warned": ["slow"],
        "different": ["lost"],
    }
    assert len(browser.run(NAMES)) == 4


@pytest.mark.parametrize("width", [1440, 390])
def test_answers_are_shown_in_the_cells_within_their_rows(
    tmp_path: Path, browser: Browser, width: int
) -> None:
    browser.open(a_page(tmp_path), width=width)
    assert browser.run(TEXTS, ".vanswer") == []
    browser.run(CLICK, "#show-answers")
    browser.until(lambda: all(browser.run(TEXTS, ".vanswer")))
    answers = browser.run(TEXTS, ".vanswer")
    assert [one[:13] for one in answers[:2]] == ["large says of", "small says of"]
    assert len(answers) == 8
    assert browser.run(OVER) == 0
    assert browser.run("return location.hash") == "#answers=1"
    assert browser.complaints() == []


def test_tokens_time_and_cost_of_each_cell_are_shown_where_they_are_asked_for(
    tmp_path: Path, browser: Browser
) -> None:
    browser.open(a_page(tmp_path), width=1440)
    assert not any(browser.run(TEXTS, ".veffort"))
    browser.run(CLICK, "#show-figures")
    assert len(browser.run(TEXTS, ".veffort")) == 8
    assert all("1,234 tokens" in one and "$0.50" in one for one in browser.run(TEXTS, ".veffort"))
    assert browser.run(OVER) == 0


def test_columns_are_chosen_and_the_address_keeps_the_choice(
    tmp_path: Path, browser: Browser
) -> None:
    address = a_page(tmp_path)
    browser.open(address, width=1440)
    heads = ".vhead .vname"
    assert browser.run(TEXTS, heads) == ["large", "small"]
    browser.run(CLICK, ".columns-shown input[value=large]")
    assert browser.run(TEXTS, heads) == ["small"]
    browser.run(CLICK, ".columns-shown input[value=small]")
    assert browser.run(TEXTS, heads) == ["large", "small"], "a grid without columns says nothing"
    browser.run(CLICK, ".columns-shown input[value=small]")
    state = browser.run("return location.hash")
    browser.open("about:blank")
    browser.open(address + state, width=1440)
    assert browser.run(TEXTS, heads) == ["large"]
    browser.run(SET, "#search", "value", "lost")
    browser.until(lambda: browser.run(NAMES) == ["lost"])
