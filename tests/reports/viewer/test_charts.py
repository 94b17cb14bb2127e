"""Charts of a grid have axes, and no word of them lies on another one."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.reports.formats.test_html import page_of
from tests.reports.sample_logs import STAND_IN, a_conversation, a_log, a_run
from tests.reports.viewer.test_viewer import CLICK

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING),
    pytest.mark.slow,
]
TITLES = "return [...document.querySelectorAll('.vchart figcaption')].map((one) => one.textContent)"
WORDS = "return [...document.querySelectorAll('.vchart text')].map((one) => one.textContent)"
CROSSED = """return [...document.querySelectorAll('.vchart svg')].flatMap((chart) => {
  const texts = [...chart.querySelectorAll('text')]
    .map((one) => [one, one.getBoundingClientRect()]);
  const frame = chart.getBoundingClientRect();
  return texts.filter(([one, a]) => a.left < frame.left - 1 || a.right > frame.right + 1
    || texts.some(([other, b]) => one !== other
      && a.left < b.right - 1 && b.left < a.right - 1
      && a.top < b.bottom - 2 && b.top < a.bottom - 2))
    .map(([one]) => one.textContent);
})"""


def a_page(folder: Path, *, scored: bool) -> str:
    models = ("large", "a_model_with_a_name_that_is_quite_long_and_ends_in_small")
    trials = []
    for number in range(8):
        for model in models:
            bad = model != "large" and number % 2
            score = replace(STAND_IN, score=0.25 if bad else 0.95)
            run = a_run(
                f"case_{number}",
                "failed" if bad else "passed",
                model=model,
                checks=(score,) if scored else (),
                latency_s=0.5 + number,
            )
            trials.append((run, a_conversation("get_order")))
    return page_of(a_log(folder, trials, models=models))


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scored", [True, False])
def test_rates_scores_and_two_columns_are_drawn_with_axes(
    tmp_path: Path, browser: Browser, scored: bool, width: int
) -> None:
    browser.open(a_page(tmp_path, scored=scored), width=width)
    assert browser.run(TITLES) == []  # nothing is drawn before somebody looks
    browser.run(CLICK, ".vmore summary")
    browser.until(lambda: browser.run(TITLES))
    pair = f"by {'score' if scored else 'time'}"
    titles = browser.run(TITLES)
    assert [one.split(",")[0].split(" ")[0] for one in titles] == (
        ["Pass", "Scores", "large"] if scored else ["Pass", "large"]
    )
    assert titles[-1].endswith(pair)
    words = browser.run(WORDS)
    assert {"0", "50", "100", "% of the cases with a verdict"} < set(words)
    assert ("1.0" in words) is scored
    assert ("7.5 s" in words) is not scored
    assert browser.run("return document.querySelectorAll('.vdot.ring').length") == 4
    assert browser.run(CROSSED) == []
    assert browser.complaints() == []


def test_charts_follow_what_is_chosen(tmp_path: Path, browser: Browser) -> None:
    browser.open(a_page(tmp_path, scored=True), width=1440)
    browser.run(CLICK, ".vmore summary")
    browser.until(lambda: len(browser.run(TITLES)) == 3)
    browser.run(CLICK, ".columns-shown input[value=large]")
    browser.until(lambda: len(browser.run(TITLES)) == 2)
