"""A run of several models and suites: each is told apart, and no figure is made of several."""

from pathlib import Path

import pytest

from harness.reports.build import build_report
from harness.reports.viewer.run_summary import build_summary
from harness.runlog import Header, LogWriter, TrialLine, read_log
from harness.runlog.lines import Footer
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.reports.logs import a_run
from tests.support import entrants_of
from tests.web.support import Page

TEXT = "return document.querySelector(arguments[0]).textContent"
NAME = "20260401T000000Z-two-models"


def two_models(log: Path) -> Path:
    """Write a log of two models on two suites: ``good`` passes 4 of 4, ``poor`` 2 of 4."""
    cases = {"cases": {"a": "1", "b": "2"}, "file": "x.yml", "digest": "x"}
    with LogWriter(log) as writer:
        writer.append(
            Header(
                run_id=NAME, started_at="2026-04-01T00:00:00Z", harness_version="1", planned=8,
                suites={"shop": cases, "mail": cases}, models={"good": {}, "poor": {}},
                entrants=entrants_of(("good", "poor")),
                servers={"s": {}},
            )
        )  # fmt: skip
        for suite in ("shop", "mail"):
            for case in ("a", "b"):
                writer.append(TrialLine(run=a_run(case, suite=suite, model="good")))
                ended = a_run(
                    case, "passed" if case == "a" else "failed", suite=suite, model="poor"
                )
                writer.append(TrialLine(run=ended))
        writer.append(Footer(finished_at="2026-04-01T00:00:09Z", elapsed_s=9.0))
    return log


def test_a_summary_of_several_models_has_a_rate_for_each_and_none_of_all(tmp_path: Path) -> None:
    log = read_log(two_models(tmp_path / NAME / "log.jsonl"))
    told = build_summary(log, build_report(log))
    assert (told["pass_rate"], told["pass_rate_interval"], told["band"]) == (None, None, None)
    assert [(one["suite"], one["entrant"], one["pass_rate"]) for one in told["groups"]] == [
        ("shop", "good", 1.0), ("shop", "poor", 0.5), ("mail", "good", 1.0), ("mail", "poor", 0.5),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
def test_the_grid_figures_and_the_list_tell_models_and_suites_apart(
    page: Page, browser: Browser
) -> None:
    two_models(page.project.folder / ".harness/runs" / NAME / "log.jsonl")
    browser.open(f"{page.url}/evaluation?run={NAME}")
    browser.until(lambda: browser.run("return document.querySelectorAll('#scores h2').length") == 4)
    assert browser.run(TEXT, "#scores h2") == "good on shop"
    assert "75 %" not in browser.run(TEXT, "main")
    heads = (
        "return [...document.querySelectorAll('[role=columnheader] .vname')].map((one) => "
        "one.textContent)"
    )
    assert browser.run(heads) == ["good", "poor"]
    rates = (
        "return [...document.querySelectorAll('[role=columnheader]:last-child .vrate')].map((one) "
        "=> one.textContent.slice(0, 9))"
    )
    assert browser.run(rates) == ["shop 50 %", "mail 50 %"]
    names = "return [...document.querySelectorAll('.vcase')].map((one) => one.textContent)"
    assert browser.run(names) == ["shop · b", "mail · b", "shop · a", "mail · a"]
    browser.open(f"{page.url}/runs")
    rates = (
        "return [...document.querySelectorAll('#rows tr')].filter((one) => "
        "one.textContent.includes('mail')).map((one) => one.querySelector('.rate').textContent)"
    )
    browser.until(lambda: browser.run(rates))
    assert browser.run(rates) == ["100 % good, shop50 % poor, shop100 % good, mail50 % poor, mail"]
    assert browser.complaints() == []
