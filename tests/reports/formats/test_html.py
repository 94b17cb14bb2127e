import base64
import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness.runlog import RunLog
from harness.types import Judgement
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.reports.packs import blocks_of
from tests.reports.sample_logs import (
    HOSTILE,
    a_conversation,
    a_hostile_log,
    a_log,
    a_run,
    an_ordinary_log,
    must_call,
    written,
)

needs_browser = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)


def page_of(log: RunLog) -> str:
    """Write the page beside the log and return its address."""
    page = log.path.with_name("report.html")
    page.write_text(written(log, "html"), "utf-8")
    return page.as_uri()


def opened(browser: Browser, case: int = 0) -> str:
    """Open the case at that place of the grid and return all that is to be read."""
    browser.run("document.querySelectorAll('[role=gridcell]')[arguments[0]].click()", case)
    browser.until(lambda: browser.run("return document.querySelector('.trace-content > *')"))
    later = "requestAnimationFrame(() => setTimeout(() => done(document.body.textContent)))"
    return str(browser.run(f"return new Promise((done) => {later})"))


# ── The file ─────────────────────────────────────────────────────────────────────────────────


def test_the_page_is_one_file_that_names_no_address(tmp_path: Path) -> None:
    text = written(an_ordinary_log(tmp_path), "html")
    assert re.findall(r"https?://[^\"'\s]+", text) == ["http://www.w3.org/2000/svg"]
    assert re.findall(r"""\b(?:src|href)=["'](?!#)""", text) == []
    assert "url(" not in text
    assert "@import" not in text


def test_the_policy_allows_this_style_and_this_script_and_nothing_else(tmp_path: Path) -> None:
    text = written(an_ordinary_log(tmp_path), "html")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; ")
    assert "unsafe" not in policy[1]
    for part in (r"<style>(.*?)</style>", r'<script type="module">(.*?)</script>'):
        source = re.search(part, text, re.DOTALL)
        assert source is not None
        digest = base64.b64encode(hashlib.sha256(source[1].encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]


def test_the_script_makes_no_markup_of_strings(tmp_path: Path) -> None:
    text = written(an_ordinary_log(tmp_path), "html")
    for way in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "srcdoc",
    ):
        assert way not in text


def test_every_block_of_data_is_json(tmp_path: Path) -> None:
    text = written(a_hostile_log(tmp_path, big=False), "html")
    blocks = blocks_of(text)
    assert len(blocks) == 2 * len(HOSTILE) + 1
    assert all(blocks.values())


# ── In a browser ─────────────────────────────────────────────────────────────────────────────


@needs_browser
def test_everything_of_a_case_is_there_once_it_is_opened(tmp_path: Path, browser: Browser) -> None:
    judgement = Judgement(
        question="",
        model="judge",
        prompt_version="1",
        score=0.25,
        explanation="It says too little.",
    )
    checks = (must_call("get_order", explanation="That was missing"),)
    run = a_run(
        "a", "failed", checks=checks, judgements=(judgement,), user_context={"role": "guest"}
    )
    conversation = a_conversation(
        "get_orders",
        arguments={"id": 77},
        result="nothing here",
        outcome="denied",
        stderr="oh dear",
    )
    browser.open(page_of(a_log(tmp_path, [(run, conversation)])))
    before = browser.run("return document.querySelectorAll('.timeline').length")
    text = opened(browser)
    assert before == 0
    for part in (
        "Sell me a chair", "Here is a chair", "get_orders", "denied", '{"id": 77}', "nothing here",
        "200 ms", "That was missing", '{"tool": "get_order", "args": {}}', "Say it more clearly.",
        "evals/shop.yml:15:9", "It says too little.", "score 0.25", "oh dear", '{"role": "guest"}',
        "$0.25", ("10 in, 5 "
        "out"),
    ):  # fmt: skip
        assert part in text
    assert browser.complaints() == []


@needs_browser
def test_the_page_asks_for_itself_and_for_nothing_else(tmp_path: Path, browser: Browser) -> None:
    browser.open(page_of(a_hostile_log(tmp_path, big=False)))
    opened(browser)
    assert [
        json.loads(one)["message"]["params"]["request"]["url"][:7] for one in browser.requests()
    ] == ["file://"]


@pytest.mark.slow
@needs_browser
def test_a_hostile_log_is_shown_as_text_and_runs_nothing(tmp_path: Path, browser: Browser) -> None:
    browser.open(page_of(a_hostile_log(tmp_path)))
    text = "".join(opened(browser, case) for case in range(len(HOSTILE) + 1))
    assert browser.complaints() == []
    assert browser.run("return window.pwned") is None
    assert (
        browser.run(
            "return document.querySelectorAll('main img, main script, main b, main iframe').length"
        )
        == 0
    )
    assert browser.run("return document.querySelectorAll('a:not([href^=\"#\"])').length") == 0
    assert "</script><script>window.pwned=1</script>" in text
    assert "more characters are in the run log" in text
    assert "👩‍👩‍👧‍👦" in text


@pytest.mark.slow
@needs_browser
def test_calls_that_the_case_makes_itself_stand_around_the_conversation(
    tmp_path: Path, browser: Browser
) -> None:
    said = a_conversation("get_order")
    (call,) = said.tool_calls
    scripted = [
        replace(call, tool=tool, reply=0, request_id="", text=f"{tool} result")
        for tool in ("seed", "clean_up")
    ]
    said = replace(said, setup_calls=(scripted[0],), teardown_calls=(scripted[1],))
    browser.open(page_of(a_log(tmp_path, [(a_run("a"), said)])))
    opened(browser)
    text = browser.run("return document.querySelector('.timeline').textContent")
    told = ["setup seed", "seed result", "Sell me a chair", "call get_order", "reply 1", ("Here "
        "is a "
        "chair"),
            "teardown clean_up", "clean_up result"]  # fmt: skip
    places = [text.index(words) for words in told]
    assert places == sorted(places)
    assert "reply 0" not in text


@pytest.mark.slow
@needs_browser
def test_every_trial_of_a_case_can_be_looked_at(tmp_path: Path, browser: Browser) -> None:
    browser.open(page_of(an_ordinary_log(tmp_path)) + "#case-6")
    pressed = (
        "return [...document.querySelectorAll('.trials button')]"
        ".map((one) => [one.textContent, one.getAttribute('aria-pressed')])"
    )
    browser.until(lambda: browser.run("return document.querySelector('.trace .outcome')"))
    assert browser.run(pressed) == [
        ["Trial 1: passed", "false"],
        ["Trial 2: failed", "true"],
        ["Trial 3: passed", "false"],
    ]
    browser.run("document.querySelectorAll('.trials button')[2].click()")
    outcome = "return document.querySelector('.trace .outcome').textContent"
    browser.until(lambda: browser.run(outcome) == "denied")


@pytest.mark.slow
@needs_browser
def test_tools_and_what_was_taken_for_what_are_tables(tmp_path: Path, browser: Browser) -> None:
    browser.open(page_of(an_ordinary_log(tmp_path)))
    table = (
        "return [...document.querySelectorAll(arguments[0] + ' tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )
    assert browser.run(table, "#tools-table")[1:] == [
        ["get_order", "7", "3", "0", "1", "0", ""],
        ["get_orders", "7", "2", "0", "0", "0", ""],
    ]
    assert browser.run(table, "#heat-table") == [
        ["expected ↓ called →", "get_order", "get_orders"],
        ["get_order", "·", "2"],
    ]


@pytest.mark.slow
@needs_browser
def test_tools_taken_for_another_are_broken_between_their_words_if_they_can_be(
    tmp_path: Path, browser: Browser
) -> None:
    expected, called, endless = "get_customer_purchase_history", "search_customers", "w" * 90
    trials = [
        (a_run(other, "failed", checks=(must_call(expected, other),)), a_conversation(other))
        for other in (called, endless)
    ]
    log = a_log(tmp_path, trials)
    browser.open(page_of(log), width=390)
    lines = """return [...document.querySelectorAll('.heat bdi')].map((name) =>
      [...name.childNodes].filter((one) => one.nodeType === Node.TEXT_NODE).map((part) => {
        const range = document.createRange();
        range.selectNodeContents(part);
        return new Set([...range.getClientRects()].map((line) => line.top)).size;
      }))"""
    names = "return [...document.querySelectorAll('.heat bdi')].map((name) => name.textContent)"
    found = dict(zip(browser.run(names), browser.run(lines), strict=True))
    assert found.keys() == {expected, called, endless}
    assert found[expected] == [1, 1, 1, 1]
    assert found[called] == [1, 1]
    assert found[endless][0] > 1


@pytest.mark.slow
@needs_browser
def test_the_page_is_as_wide_as_its_window(tmp_path: Path, browser: Browser) -> None:
    browser.open(page_of(a_hostile_log(tmp_path, big=False)), width=360)
    opened(browser)
    for width, dark in ((360, False), (360, True), (1280, True), (1280, False)):
        browser.look(width=width, dark=dark)
        assert browser.run("return document.documentElement.scrollWidth") <= width, dark
    assert browser.complaints() == []


CONTRAST = """
const luminance = (colour) => {
  const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map((v) => v / 255)
    .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (node) => {
  for (let at = node; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (!/, 0\\)$|transparent/.test(colour) && !/rgba/.test(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
};
return [...document.querySelectorAll("body *")].filter((node) =>
  [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim())
  && node.checkVisibility())
  .map((node) => {
    const [front, back] = [getComputedStyle(node).color, behind(node)].map(luminance);
    return [(Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05),
            node.tagName + "." + node.className];
  }).sort((a, b) => a[0] - b[0])[0];
"""


@pytest.mark.slow
@needs_browser
def test_every_text_stands_out_from_its_ground(tmp_path: Path, browser: Browser) -> None:
    browser.open(page_of(an_ordinary_log(tmp_path)))
    opened(browser)
    for dark in (False, True):
        browser.look(dark=dark)
        ratio, where = browser.run(CONTRAST)
        assert ratio >= 4.5, (dark, where)


@needs_browser
def test_a_screen_reader_finds_a_name_for_everything_that_can_be_used(
    tmp_path: Path, browser: Browser
) -> None:
    browser.open(page_of(an_ordinary_log(tmp_path)))
    opened(browser)
    nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    used = {
        "button",
        "link",
        "searchbox",
        "combobox",
        "checkbox",
        "image",
        "region",
        "group",
        "table",
        "DisclosureTriangle",
    }
    roles = {node["role"]["value"] for node in nodes if not node["ignored"]}
    assert {"main", "navigation", "search", "banner", "heading", "searchbox"} <= roles
    nameless = [
        node["role"]["value"]
        for node in nodes
        if not node["ignored"]
        and node["role"]["value"] in used - {"group"}
        and not node.get("name", {}).get("value")
    ]
    assert nameless == []


@pytest.mark.slow
@needs_browser
def test_a_keyboard_alone_opens_a_case(tmp_path: Path, browser: Browser) -> None:
    browser.open(page_of(an_ordinary_log(tmp_path)))
    body = browser.driver.switch_to.active_element
    seen: list[str | None] = []
    for _ in range(30):
        body.send_keys("\ue004")  # Tab
        body = browser.driver.switch_to.active_element
        seen.append(body.get_attribute("role") or body.tag_name)
        if seen[-1] == "grid":
            break
    body.send_keys("\ue015\ue007")  # Down, Enter
    assert seen[0] == "a"
    assert "often" in browser.run("return document.activeElement.textContent")


@pytest.mark.slow
@needs_browser
def test_on_paper_controls_are_gone_and_long_texts_whole(tmp_path: Path, browser: Browser) -> None:
    browser.open(page_of(an_ordinary_log(tmp_path)), dark=True)
    opened(browser)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    style = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    try:
        assert browser.run(style, "nav", "display") == "none"
        assert browser.run(style, ".toolbar", "display") == "none"
        assert browser.run(style, ".box pre", "maxHeight") == "none"
        assert browser.run(style, "body", "color") == "rgb(0, 0, 0)"
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
