"""What is on the screen at once: the first case, and on top of a trace what it is about."""

from pathlib import Path

import pytest

from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.reports.formats.test_html import page_of
from tests.reports.sample_logs import a_conversation, a_log, a_run, must_call

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING),
    pytest.mark.slow,
]

TOP = "return document.querySelector('.vbody .vrow').getBoundingClientRect().top + scrollY"
BELOW = """const [name, question] = ['bdi', '.vquestion'].map((one) =>
  document.querySelector(`.vcase ${one}`).getBoundingClientRect());
return question.top >= name.bottom - 4"""
TEXTS = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
LONG = "a_case_with_a_name_that_is_as_long_as_they_are_in_large_suites_and_ends_in_"


def a_page(folder: Path) -> str:
    checks = (must_call("t", explanation="It was not called."), *(must_call("u", "u"),) * 7)
    runs = [
        (a_run(f"{LONG}{end}", "failed", suite=suite, checks=checks), a_conversation())
        for suite in ("shop", "mail", "bank")
        for end in ("one", "two")
    ]
    return page_of(a_log(folder, runs, suites=("shop", "mail", "bank")))


@pytest.mark.parametrize(("width", "most"), [(1440, 200), (390, 320)])
def test_the_first_case_is_near_the_top(
    tmp_path: Path, browser: Browser, width: int, most: int
) -> None:
    browser.open(a_page(tmp_path), width=width)
    assert browser.run(TOP) <= most
    assert browser.run(BELOW) is (width == 390)
    ends = browser.run(
        "return [...document.querySelectorAll('.cut > :last-child')].map((one) => "
        "[one.textContent, one.scrollWidth <= one.clientWidth + 1 || !one.clientWidth])"
    )
    assert {end[-3:] for end, _ in ends} == {"one", "two"}
    assert all(whole for _, whole in ends)


def test_a_trace_keeps_on_top_what_it_is_about_and_folds_what_passed(
    tmp_path: Path, browser: Browser
) -> None:
    browser.open(a_page(tmp_path), width=1440)
    browser.run("document.querySelector('[role=gridcell]').click()")
    browser.until(lambda: browser.run(TEXTS, ".trace-pin dd"))
    question, expected, verdict = browser.run(TEXTS, ".trace-pin dd")
    assert question
    assert "must_call t" in expected
    assert verdict == "failed: It was not called."
    assert browser.run(TEXTS, ".met > summary") == ["✓ 7 passed"]
    titles = browser.run(TEXTS, ".trace-content > h3")
    assert titles.index("Conversation") < titles.index("Checks")
    assert any(", reply 1 of " in who for who in browser.run(TEXTS, ".timeline .who"))
