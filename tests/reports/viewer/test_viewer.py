"""The viewer in a real browser: here in the report; the page of `harness serve` shows the same."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from harness.reports.formats.html_report import REPORT_PAGE
from harness.sessions.call_record import reduce_frame
from harness.types import Status, Transcript, Wire
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.often import often
from tests.reports.formats.test_html import page_of
from tests.reports.packs import blocks_of
from tests.reports.querying.test_text_search import a_log_with_frames
from tests.reports.sample_logs import (
    STAND_IN,
    Trial,
    a_conversation,
    a_log,
    a_run,
    an_ordinary_log,
    must_call,
)
from tests.support import with_reply_times

pytestmark = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)

NAMES = "return [...document.querySelectorAll('.vcase bdi')].map((one) => one.textContent)"
STATUSES = (
    "return [...document.querySelectorAll('[role=gridcell] .vword')].map((one) => one.textContent)"
)
SCORES = "return [...document.querySelectorAll('.vscore')].map((one) => one.textContent)"
LINES_OF_SCORES = """return [...document.querySelectorAll('.vscore')].map((one) => {
  const range = document.createRange();
  range.selectNodeContents(one);
  return new Set([...range.getClientRects()].map((line) => line.top)).size;
})"""
LINES_OF_NAMES = """return [...document.querySelectorAll('.vname bdi')].map((name) => {
  const lines = new Map();
  for (const part of name.childNodes) {
    for (let place = 0; place < part.textContent.length; place++) {
      const range = document.createRange();
      range.setStart(part, place);
      range.setEnd(part, place + 1);
      const { top } = range.getBoundingClientRect();
      lines.set(top, (lines.get(top) ?? '') + range);
    }
  }
  return [...lines.values()];
})"""
SHOWN = "return document.getElementById('shown').textContent"
TEXT = "return document.querySelector(arguments[0]).textContent"
SET = (
    "const at = document.querySelector(arguments[0]); at[arguments[1]] = arguments[2];"
    "at.dispatchEvent(new Event('input')); at.dispatchEvent(new Event('change'))"
)
CLICK = "document.querySelector(arguments[0]).click()"
PRESS = (
    "(document.activeElement || document.body).dispatchEvent(new KeyboardEvent('keydown', "
    "{key: arguments[0], bubbles: true, cancelable: true}))"
)


def two_models(number: int) -> Sequence[Trial]:
    """Return a case for each number, which ``large`` passes, and ``small`` if it is even."""
    found: list[Trial] = []
    for place in range(number):
        for model in ("large", "small"):
            wrong = model == "small" and place % 2 == 1
            ended: Status = "failed" if wrong else "passed"
            problem = "Expected call not found: " + "get_order " * 40
            checks = (
                must_call("get_order", *(() if wrong else ("get_order",)), explanation=problem),
                replace(STAND_IN, score=0.58 if wrong else 1.0),
            )
            run = a_run(f"case_{place}", ended, model=model, checks=checks, tags=(f"t{place % 2}",))
            said = a_conversation("get_order", prompt=f"Needle {place} and hay", result=f"r{place}")
            found.append((run, said))
    return found


def test_cases_and_models_are_a_grid_with_failures_first_and_a_rate_for_each(
    tmp_path: Path, browser: Browser
) -> None:
    browser.open(page_of(a_log(tmp_path, two_models(4), models=("large", "small"))))
    assert browser.run(NAMES) == ["case_1", "case_3", "case_0", "case_2"]
    assert browser.run(TEXT, ".vquestion") == " Needle 1 and hay"
    assert browser.run(STATUSES)[:4] == ["passed", "failed", "passed", "failed"]
    heads = (
        "return [...document.querySelectorAll('[role=columnheader]')].map((one) => one.innerText)"
    )
    assert browser.run(SCORES) == ["1.00", "0.58"] * 2 + ["1.00"] * 4
    assert browser.run(LINES_OF_SCORES) == [1] * 8
    assert browser.run(heads) == ["Test", "large\n100 % (51–100 %)", "small\n50 % (15–85 %)"]
    browser.run(CLICK, "#only-different")
    assert browser.run(NAMES) == ["case_1", "case_3"]
    browser.run(CLICK, "#only-different")
    browser.run(SET, "#filter-sort", "value", "suite")
    assert browser.run(NAMES) == [f"case_{place}" for place in range(4)]
    browser.run(CLICK, "#only-failed")
    assert browser.run(SHOWN) == "2 tests of 4"
    assert browser.complaints() == []


def test_on_a_phone_the_name_of_a_column_is_broken_between_its_words_if_it_can_be(
    tmp_path: Path, browser: Browser
) -> None:
    names = ("one_two_three_four_five_six", "open-er/ten-of:six/seven:free", "w" * 40, "large")
    trials = [(a_run("it", model=name), a_conversation("get_order")) for name in names]
    browser.open(page_of(a_log(tmp_path, trials, models=names)), width=390)
    shown = browser.run(LINES_OF_NAMES)
    assert ["".join(lines) for lines in shown] == list(names)
    for lines in shown[:2]:
        assert len(lines) > 1
        assert all(line[-1] in "_-/:" for line in lines[:-1]), lines
    assert len(shown[2]) > 1, "a word that is longer than its column is broken all the same"
    assert len(shown[3]) == 1


def test_everything_is_searched_and_the_address_remembers_it(
    tmp_path: Path, browser: Browser
) -> None:
    address = page_of(a_log(tmp_path, two_models(6), models=("large", "small")))
    browser.open(address)
    browser.run(SET, "#search", "value", '"needle 3" R3')
    browser.until(lambda: browser.run(NAMES) == ["case_3"])
    browser.run(SET, "#filter-tag", "value", "t1")
    browser.run(SET, "#filter-check", "value", "must_call")
    state = browser.run("return location.hash")
    assert state == "#q=%22needle+3%22+R3&tag=t1&check=must_call"
    browser.open("about:blank")
    browser.open(address + state)
    browser.until(lambda: browser.run(NAMES) == ["case_3"])
    assert browser.run("return document.getElementById('filter-tag').value") == "t1"
    assert browser.run(TEXT, ".filters summary") == "Filters (2)"
    browser.run(SET, "#search", "value", "who what role")  # names of fields are no texts
    browser.until(lambda: browser.run(SHOWN) == "0 tests of 6")


@pytest.mark.slow
def test_the_frames_of_calls_are_searched(tmp_path: Path, browser: Browser) -> None:
    browser.open(page_of(a_log_with_frames(tmp_path)))
    for word in ("s-81f2", "com.example/tenant umeå", "-32602", '"no such kind" stuhl'):
        browser.run(SET, "#search", "value", word)
        browser.until(lambda: browser.run(NAMES) == ["refund"])
        browser.run(SET, "#search", "value", "tools/call progressToken")  # around every call
        browser.until(lambda: browser.run(SHOWN) == "0 tests of 2")


@pytest.mark.parametrize(
    ("name", "value", "left"),
    often(
        [
            ("tool", "get_orders", ["mistaken", "often"]),
            ("tag", "", ["mistaken", "often", "unjudged", "cut", "left_out", "sold"]),
        ]
    ),
)
def test_cases_are_filtered(
    tmp_path: Path, browser: Browser, name: str, value: str, left: list[str]
) -> None:
    browser.open(page_of(an_ordinary_log(tmp_path)))
    browser.run(SET, f"#filter-{name}", "value", value)
    assert browser.run(NAMES) == left


@pytest.mark.slow
def test_the_variant_is_a_filter_of_rows_and_columns(tmp_path: Path, browser: Browser) -> None:
    trials: list[Trial] = []
    for number, axes in enumerate(({}, {"variant": "short"}, {"variant": "shorter"})):
        run = replace(a_run(f"case_{number}", model="large"), axes=axes, key=f"{number:064}")
        trials.append((run, a_conversation("get_order")))
    address = page_of(a_log(tmp_path, trials, models=("large", "large+short", "large+shorter")))
    titles = "return [...document.querySelectorAll('.vhead .vname')].map((one) => one.textContent)"
    browser.open(address)
    assert len(browser.run(titles)) == 3
    browser.run(SET, "#filter-variant", "value", "short")
    assert (browser.run(NAMES), browser.run(titles)) == (["case_1"], ["large+short"])
    assert browser.run("return location.hash") == "#variant=short"
    browser.open(f"{address}#variant=none&unknown=x")
    browser.until(lambda: browser.run(NAMES) == ["case_0"])
    assert browser.run(titles) == ["large"]
    assert browser.run(TEXT, ".filters summary") == "Filters (1)"


@pytest.mark.slow
def test_j_and_k_go_from_trace_to_trace_and_escape_back_to_the_grid(
    tmp_path: Path, browser: Browser
) -> None:
    browser.open(page_of(a_log(tmp_path, two_models(3), models=("large", "small"))))
    for key, title in (
        ("j", "case_1"),
        ("j", "case_0"),
        ("j", "case_2"),
        ("j", "case_2"),
        ("k", "case_0"),
    ):
        browser.run(PRESS, key)
        assert title in browser.run(TEXT, "#trace-title")
    browser.until(lambda: browser.run("return document.querySelector('.trace .timeline')"))
    assert "Needle 0 and hay" in browser.run(TEXT, ".trace-content")
    assert "This log has no JSON-RPC frames." in browser.run(TEXT, ".trace-content")
    assert browser.run("return document.querySelector('.trace .frames')") is None
    assert "open=shop%2Fcase_0%2Flarge" in browser.run("return location.hash")
    browser.run(PRESS, "Escape")
    assert browser.run("return document.activeElement.getAttribute('role')") == "grid"
    assert browser.run("return document.querySelector('.trace').hidden") is True
    assert browser.complaints() == []


def test_a_trace_has_a_time_axis_and_copies_its_texts(tmp_path: Path, browser: Browser) -> None:
    browser.open(page_of(an_ordinary_log(tmp_path)) + "#case-1")
    browser.until(lambda: browser.run("return document.querySelector('.time-axis')"))
    label = browser.run("return document.querySelector('.time-axis').getAttribute('aria-label')")
    assert "get_order: 200 ms from 0 ms on" in label
    browser.run(
        "window.taken = []; document.execCommand = () => "
        "window.taken.push(document.activeElement.value);"
        "Object.defineProperty(navigator, 'clipboard', {value: undefined});"
        "document.querySelector('.timeline .call .copy').click()"
    )
    assert browser.until(lambda: browser.run("return window.taken")) == ['{"id": 1}']


def with_frames(said: Transcript) -> Transcript:
    """Return ``said`` with times of replies, and frames of its only call."""
    (call,) = said.tool_calls
    params = {"name": call.tool, "arguments": dict(call.arguments)}
    sent = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}
    result = {"content": [{"type": "text", "text": call.text}], "_meta": {"page": 2}}
    answer = {"jsonrpc": "2.0", "id": 5, "result": result}
    request, response = reduce_frame(sent, call), reduce_frame(answer, call)
    wire = Wire(id="5", protocol="2025-11-25", transport="pipe", request=request, response=response)
    timed = replace(call, wire=wire, started_s=0.5, duration_s=0.25)
    said = with_reply_times(said, [(0.0, 0.5), (0.75, 1.5)])
    return replace(said, tool_calls=(timed,), latency_s=1.5)


def test_a_call_unfolds_its_frames_and_each_is_copied(tmp_path: Path, browser: Browser) -> None:
    result = "a result of so many letters that the frame leaves it to the record of the call"
    said = with_frames(a_conversation("get_order", result=result))
    browser.open(page_of(a_log(tmp_path, [(a_run("sold"), said)])) + "#case-1")
    browser.until(lambda: browser.run("return document.querySelector('.trace .frames')"))
    assert browser.run("return document.querySelector('.frames').open") is False
    browser.driver.find_element(By.CSS_SELECTOR, ".frames summary").send_keys(Keys.ENTER)
    assert browser.run("return document.querySelector('.frames').open") is True
    assert "protocol 2025-11-25, over a pipe" in browser.run(TEXT, ".frames")
    browser.run(
        "window.taken = []; document.execCommand = () => "
        "window.taken.push(document.activeElement.value);"
        "Object.defineProperty(navigator, 'clipboard', {value: undefined});"
        "for (const one of document.querySelectorAll('.frames .copy')) one.click()"
    )
    taken = browser.until(lambda: browser.run("return window.taken"))
    request, response = map(json.loads, taken)
    assert request["params"] == {"name": "get_order", "arguments": {"id": 1}}
    assert response["result"] == {
        "content": [{"type": "text", "text": result}],
        "_meta": {"page": 2},
    }
    assert browser.complaints() == []


@pytest.mark.slow
def test_the_bars_of_replies_are_measured_and_paler_where_they_are_inferred(
    tmp_path: Path, browser: Browser
) -> None:
    old, new = a_conversation("get_order"), with_frames(a_conversation("get_order"))
    rows = [(a_run("old"), old), (a_run("new"), new)]
    address = page_of(a_log(tmp_path, rows))
    widths = (
        "return [...document.querySelectorAll('.time-axis rect')].map((one) => "
        "[one.getAttribute('class'), Number(one.getAttribute('width'))])"
    )
    found = []
    for number in (1, 2):
        browser.open(f"{address}#case-{number}")
        browser.until(lambda: browser.run("return document.querySelector('.time-axis')"))
        found.append(browser.run(widths))
    inferred, measured = found
    assert [name for name, _ in inferred] == [
        "bar-model bar-inferred",
        "bar-tool",
        "bar-model bar-inferred",
    ]
    assert [name for name, _ in measured] == ["bar-model", "bar-tool", "bar-model"]
    assert [width for _, width in measured] == pytest.approx([1000 / 3, 1000 / 6, 500])


@pytest.mark.slow
def test_a_hundred_tests_stand_on_two_screens_and_ten_thousand_are_scrolled_without_drawing_them(
    tmp_path: Path, browser: Browser
) -> None:
    (tmp_path / "few").mkdir()
    browser.open(page_of(a_log(tmp_path / "few", two_models(100), models=("large", "small"))))
    height = "return document.querySelector('.vgrid').scrollHeight"
    assert browser.run(height) <= 2 * 1080
    browser.open(with_rows(tmp_path / "few" / "report.html", 10_000))
    scrolled = (
        "const grid = document.querySelector('.vgrid'); grid.scrollTop = 100000;"
        "return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => "
        "done([document.querySelectorAll('.vbody .vrow').length, "
        "document.querySelector('.vbody .vrow:nth-child(20) .vcase').textContent]))))"
    )
    browser.until(lambda: browser.run("return document.querySelector('.vbody .vrow') !== null"))
    drawn, case = browser.run(scrolled)
    assert drawn < 120
    assert case.startswith("c50")


def with_rows(page: Path, number: int) -> str:
    """Give a page so many rows, and return its address."""
    data = blocks_of(page.read_text("utf-8"))["overview"]
    fact = {"suite": "s", "entrant": "large", "status": "passed", "at": [0]}
    data["grid"]["cells"] = [fact | {"case": f"c{place}"} for place in range(number)]
    with page.open("w", encoding="utf-8") as stream:
        REPORT_PAGE.write([("overview", data)], stream)
    return page.as_uri()
