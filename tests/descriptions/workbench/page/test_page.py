"""The page of a workbench: its content, its links, and that no text in it does harm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.descriptions.workbench.arms import ServerTexts
from harness.descriptions.workbench.page.change_widgets import split_pieces
from harness.descriptions.workbench.page.overview import collect_conversations, tool_list
from harness.descriptions.workbench.page.study_widgets import VIEWS, study_widgets
from harness.descriptions.workbench.workbench_result import WorkbenchResult
from harness.runlog import read_log
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.descriptions.workbench.page.samples import (
    a_result,
    handed_back,
    page_of,
    studies_of,
    tools_of,
)
from tests.often import often
from tests.reports.formats.test_html import CONTRAST
from tests.reports.packs import blocks_of
from tests.reports.sample_logs import HOSTILE
from tests.reports.test_hostile import HARMFUL

needs_browser = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
MARKUP = HOSTILE[0]
HOSTILE_WORDS = ("a<b>&\u202ename", f"{MARKUP} one.", "::error file=x::pwned", '__proto__"\\')


def opened(browser: Browser, result: WorkbenchResult, **how: Any) -> str:
    """Open the page and everything that is folded, and return all that is to be read."""
    path = result.logs[0].with_name("workbench.html")
    path.write_text(page_of(result), "utf-8")
    browser.open(path.as_uri(), **how)
    browser.run(
        "document.querySelectorAll('.heat button').forEach((one) => one.click());"
        "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
    )
    later = "requestAnimationFrame(() => setTimeout(() => done(document.body.innerText)))"
    return str(browser.run(f"return new Promise((done) => {later})"))


# ── The file ─────────────────────────────────────────────────────────────────────────────────


def test_no_text_of_a_tool_is_markup_or_steers_a_reader(tmp_path: Path) -> None:
    text = page_of(a_result(tmp_path, HOSTILE_WORDS))
    assert "<img" not in text
    assert "window.pwned=1</script>" not in text
    blocks = blocks_of(text).values()
    assert len(blocks) == 2  # the overview, and the one conversation that a cell opens
    for block in blocks:
        assert HARMFUL.search(json.dumps(block, ensure_ascii=False)) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(facts=st.dictionaries(st.text(max_size=9), JSON, max_size=4))
def test_facts_of_any_unknown_study_are_shown_without_harm(facts: dict[str, Any]) -> None:
    shown = study_widgets("of another package", facts)
    assert bool(shown) == bool({*facts} - {"headline", "notes", "findings"})
    assert all(widget["kind"] in {"table", "raw"} for widget in shown)
    assert HARMFUL.search(json.dumps(shown, ensure_ascii=False)) is None


@given(words=st.lists(st.text(max_size=40) | st.sampled_from(HOSTILE), min_size=4, max_size=4))
def test_any_words_of_a_tool_are_shown_without_harm(words: list[str]) -> None:
    tools = tools_of([f"t{words[0]}", *words[1:]])
    for study in studies_of(tools):
        shown = [
            tool_list(ServerTexts(tools=tools), study.facts),
            *study_widgets(study.study, study.facts),
        ]
        assert HARMFUL.search(json.dumps(shown, ensure_ascii=False)) is None


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_a_study_that_measured_nothing_has_a_section_all_the_same(name: str) -> None:
    assert study_widgets(name, {}) == []


def test_a_part_has_its_effect_its_sign_and_its_price() -> None:
    tools = tools_of()
    ablation, *_ = studies_of(tools)
    shown = tool_list(ServerTexts(tools=tools), ablation.facts)
    helps, hurts, same, *_ = shown["tools"][0]["parts"]
    assert helps["says"] == "▲ carries weight"
    assert (helps["sign"], helps["shade"]) == ("helps", 4)
    assert helps["effect"]["text"] == "+100 points"
    assert helps["tokens"] >= 1
    assert (hurts["sign"], hurts["tone"]) == ("hurts", "undecided")
    assert (same["sign"], same["shade"]) == ("none", 0)


def test_the_instructions_stand_before_the_tools() -> None:
    texts = ServerTexts(tools=tools_of(), instructions=({"shop": "Ask first. Be brief."},))
    first, second, *_ = tool_list(texts, None)["tools"]
    assert first["name"] == "the server's instructions"
    assert [part["what"] for part in first["parts"]] == ["all", "sentence 1", "sentence 2"]
    assert first["tokens"] == sum(part["tokens"] for part in first["parts"][1:])
    assert second["name"] == tools_of()[0].name


def test_without_an_ablation_the_list_says_that_effects_are_not_known() -> None:
    shown = tool_list(ServerTexts(tools=tools_of()), None)
    assert shown["measured"] == 0
    assert {part["says"] for part in shown["tools"][0]["parts"]} == {"· not measured"}


def test_a_conversation_without_room_says_which_command_shows_it(tmp_path: Path) -> None:
    result = a_result(tmp_path)
    [key] = [one.key for one in read_log(result.logs[0]).results if one.status == "failed"]
    known, blocks = collect_conversations(result, [key])
    assert [name for name, _ in blocks] == ["trial-0"]
    assert known[key]["block"] == "trial-0"
    known, blocks = collect_conversations(result, [key], most=10)
    assert blocks == []
    assert (known[key]["block"], known[key]["run"]) == (None, result.run_id)


# ── In a browser ─────────────────────────────────────────────────────────────────────────────


@needs_browser
@pytest.mark.parametrize(("width", "dark"), often([(390, False), (1280, True)]))
def test_a_hostile_tool_list_is_shown_as_text_within_the_window(
    tmp_path: Path, browser: Browser, width: int, dark: bool
) -> None:
    text = opened(browser, a_result(tmp_path, HOSTILE_WORDS), width=width, dark=dark)
    assert browser.complaints() == []
    assert browser.run("return window.pwned") is None
    assert browser.run("return document.querySelectorAll('main img, main script, b').length") == 0
    assert "</script><script>window.pwned=1</script>" in text
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert all("file://" in one for one in browser.requests())
    ratio, where = browser.run(CONTRAST)
    assert ratio >= 4.5, where


@pytest.mark.slow
@needs_browser
def test_a_cell_opens_its_conversation_and_a_model_is_shown_alone(
    tmp_path: Path, browser: Browser
) -> None:
    result = a_result(tmp_path, models=("one", "two"), not_judged=1, reason="interrupted")
    text = opened(browser, result)
    for words in (
        "Sell me a chair",  # the conversation behind the cell
        "Find the orders of a customer.",
        "carries weight",
        "of another package",
        "1 of 2 trials have no verdict",
        "ended early: interrupted",
        "a note on find_orders",
    ):
        assert words in text
    pressed = (
        "return [...document.querySelectorAll('#models button')].map((one) => one.ariaPressed)"
    )
    assert browser.run(pressed) == ["true", "false"]
    browser.run("document.querySelectorAll('#models button')[1].click()")
    assert browser.run(pressed) == ["false", "true"]
    assert browser.run("return document.querySelectorAll('#study-ablation').length") == 1


@needs_browser
def test_the_baseline_is_named_and_everything_that_can_be_used_has_a_name(
    tmp_path: Path, browser: Browser
) -> None:
    text = opened(browser, a_result(tmp_path, baseline=True))
    assert "built-in baseline, which is not an LLM" in text
    nodes = browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    used = {"button", "link", "combobox", "image", "region", "table", "DisclosureTriangle"}
    nameless = [
        node["role"]["value"]
        for node in nodes
        if not node["ignored"]
        and node["role"]["value"] in used
        and not node.get("name", {}).get("value")
    ]
    assert nameless == []


@needs_browser
def test_one_button_copies_a_missing_test_and_a_rewrite_stands_side_by_side(
    tmp_path: Path, browser: Browser
) -> None:
    text = opened(browser, a_result(tmp_path, more=tuple(handed_back())))
    browser.run("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    buttons = "return [...document.querySelectorAll('#study-kill-score .card button')]"
    named = browser.run(f"{buttons}.map((one) => one.ariaLabel)")
    assert named == ["Copy: Text to paste: emptied text in list_invoices"]
    browser.run(f"{buttons}[0].click()")
    copied = browser.until(lambda: browser.run("return window.copied"))
    assert copied.startswith("- name: list_invoices\n")
    assert "- tool: list_invoices" in copied
    assert copied in text
    changed = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)"
    assert browser.run(changed, "del") == ["open"]
    assert browser.run(changed, "ins") == ["paid"]
    assert "97.5 %: +5 to +40" in text


def test_changed_words_are_marked_on_their_own_side() -> None:
    before, after = split_pieces("Find open orders.", "Find all orders.")
    assert before == [["Find ", False], ["open", True], [" orders.", False]]
    assert after == [["Find ", False], ["all", True], [" orders.", False]]
    assert split_pieces("a " * 5_000, "b") == ([["a " * 5_000, True]], [["b", True]])
