"""What the viewer asks the page for: the grid of a run, its single trials, and where words are."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from harness.judging.reviews import add_review
from harness.reports.build import build_report
from harness.reports.querying import index
from harness.reports.querying.index import STORE, keep_store
from harness.reports.viewer.run_summary import build_summary
from harness.runlog import LogWriter, TrialLine, read_log
from harness.types import Status
from harness.web.jobs import LiveConversations, parse_trial_name
from harness.web.run_view import RunView, build_view_summary, ensure_view, find_settled, find_view
from tests.browser import CHROMIUM, DRIVER, MISSING, Browser
from tests.judging.test_access import FULL, LEAKING
from tests.judging.test_access import a_log as asked_as_several
from tests.judging.test_access import a_run as asked_as
from tests.often import often
from tests.reports.logs import a_log, a_run, a_transcript
from tests.reports.viewer.test_viewer import NAMES, PRESS, SET
from tests.web.support import Page, dataset


def a_run_of(page: Page, name: str) -> Path:
    log = page.project.folder / ".harness/runs" / name / "log.jsonl"
    a_log(log, a_run("one"), a_run("two", "failed"))
    return log


def ask(page: Page, path: str) -> Any:
    answer = page.client.get(f"/evaluations/{path}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_run_that_has_ended_comes_at_once_with_its_summary_and_its_grid(page: Page) -> None:
    log = a_run_of(page, "20260501T000000Z-ended-a")
    found = ask(page, f"{log.parent.name}/grid")
    assert [cell["status"] for cell in found["grid"]["cells"]] == ["passed", "failed"]
    assert found["grid"]["axes"][0]["columns"][0]["rates"][0]["text"] == "50 % (9–91 %)"
    assert found["summary"] == ask(page, log.parent.name)["summary"]
    assert found["run"]["id"] == log.parent.name


def test_a_trial_is_everything_that_the_report_shows_of_it(page: Page) -> None:
    log = a_run_of(page, "20260501T000001Z-trial-a")
    cells = ask(page, f"{log.parent.name}/grid")["grid"]["cells"]
    detail = ask(page, f"{log.parent.name}/trials/{cells[1]['at'][0]}")
    assert (detail["status"], detail["key"]) == ("failed", "shoptwom1")
    assert [step["who"] for step in detail["steps"]] == ["user", "call", "assistant"]


@pytest.mark.parametrize("at", ["0", "7", "99999999", "-1", "x", "1" * 30])
def test_only_a_place_where_a_trial_begins_is_one(page: Page, at: str) -> None:
    log = a_run_of(page, "20260501T000002Z-place-a")
    assert page.client.get(f"/evaluations/{log.parent.name}/trials/{at}").status_code == 404


def test_words_are_found_on_the_server(page: Page) -> None:
    log = a_run_of(page, "20260501T000003Z-words-a")
    places = [cell["at"][0] for cell in ask(page, f"{log.parent.name}/grid")["grid"]["cells"]]
    found = ask(page, f"{log.parent.name}/search?word=SHIPPED&word=not+found")["words"]
    assert found == {"shipped": places, "not found": [places[1]]}
    for query in (
        "",
        "?word=" + "x" * 300,
        "?" + "word=a&" * 3 + "&".join(f"word={n}" for n in range(30)),
    ):
        assert page.client.get(f"/evaluations/{log.parent.name}/search{query}").status_code == 400


def test_a_run_under_way_has_events_and_no_grid(page: Page) -> None:
    log = a_run_of(page, "20260501T000004Z-going-a")
    with LogWriter(log):
        assert ask(page, f"{log.parent.name}/grid") == {"grid": None, "to_read": 0, "read": 0}
    assert ask(page, f"{log.parent.name}/grid")["grid"]["cells"]


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
def test_a_trace_is_followed_while_its_trial_goes_on(page: Page, browser: Browser) -> None:
    run = page.begin(dataset(["Please stall later."]))
    browser.open(f"{page.url}/evaluation?run={run}")
    browser.until(lambda: browser.run("return document.querySelector('.vbody .running')"))
    browser.run(PRESS, "j")
    steps = "return [...document.querySelectorAll('.timeline .who')].map((one) => one.textContent)"
    browser.until(lambda: browser.run(steps) == ["user", "call echo"])
    outcome = "return document.querySelector('.timeline .outcome').textContent"
    browser.until(lambda: browser.run(outcome) == "ok")
    assert browser.run("return document.querySelectorAll('.vbody .running').length") == 1
    assert page.client.get(f"/evaluations/{run}/live?suite=x&case=1&model=m&trial=1").json() == {
        "steps": [],
        "ours": True,
    }
    page.client.delete(f"/evaluations/{run}")
    browser.until(lambda: browser.run("return document.querySelector('.trace .pairs')"))
    assert "cancelled" in browser.run("return document.querySelector('#trace-title').textContent")
    assert browser.complaints() == []


def test_steps_that_change_replace_those_from_there_on_and_an_end_forgets_them() -> None:
    talks = LiveConversations()
    trial = {"suite": "s", "case": "c", "entrant": "m", "trial": 1}
    name = parse_trial_name(trial)
    talks.take_steps({"key": "k", "trial": trial, "from": 0, "steps": [{"a": 1}, {"b": 1}]})
    talks.take_steps({"key": "k", "trial": trial, "from": 1, "steps": [{"b": 2}, {"c": 1}]})
    assert talks.get_steps(name) == [{"a": 1}, {"b": 2}, {"c": 1}]
    talks.forget_trial("other")
    talks.forget_trial("k")
    assert talks.get_steps(name) == []


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason=MISSING)
def test_runs_stand_side_by_side_each_with_its_own_rate(page: Page, browser: Browser) -> None:
    runs = page.project.folder / ".harness/runs"
    names = [f"2026050{day}T000000Z-beside-a" for day in (6, 7)]
    ends: tuple[Status, Status] = ("failed", "passed")
    for name, ended in zip(names, ends, strict=True):
        a_log(
            runs / name / "log.jsonl", a_run("a", suite="beside"), a_run("b", ended, suite="beside")
        )
    browser.open(f"{page.url}/runs?")
    browser.run(SET, "#suite", "value", "beside")
    boxes = "return [...document.querySelectorAll('#rows input')].map((one) => one.click()).length"
    rows = "return [...document.querySelectorAll('#rows .suite')].map((one) => one.textContent)"
    browser.until(lambda: browser.run(rows) == ["beside", "beside"])
    browser.run(boxes)
    browser.run("document.getElementById('side').click()")
    rates = "return [...document.querySelectorAll('.vrate')].map((one) => one.textContent)"
    browser.until(lambda: browser.run(rates))
    assert [rate.split()[0] for rate in browser.run(rates)] == ["50", "100"]
    assert browser.run(NAMES) == ["b", "a"]
    browser.run(SET, "#search", "value", "Expected call not found")
    browser.until(lambda: browser.run(NAMES) == ["b"])
    browser.run(PRESS, "j")
    browser.until(lambda: browser.run("return document.querySelector('.trace .checks .failed')"))
    assert names[0] in browser.run("return document.querySelector('.trace').textContent")
    assert browser.complaints() == []


def told_by(view: RunView) -> list[Any]:
    """Return everything that a view says."""
    with view.open_database() as db:
        return list(db.iterdump())


def test_a_view_is_made_once_and_anew_when_the_log_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.jsonl"
    a_log(log, a_run("one"))
    first = told_by(ensure_view(log))
    with monkeypatch.context() as patch:
        patch.setattr(index, "read_log", None)  # it would fail if it read the log
        assert told_by(ensure_view(log)) == first
    (tmp_path / STORE).write_bytes((tmp_path / STORE).read_bytes()[:-9])
    assert told_by(ensure_view(log)) == first
    with LogWriter(log) as writer:
        writer.append(TrialLine(run=a_run("two", "failed"), transcript=a_transcript()))
    assert len(json.loads(ensure_view(log).read_bodies())) == 2


@pytest.mark.parametrize("harm", often(["cut", "other", "older"]))
def test_a_view_that_is_damaged_is_made_anew(tmp_path: Path, harm: str) -> None:
    log = tmp_path / "log.jsonl"
    a_log(log, a_run("one"))
    first = told_by(ensure_view(log))
    view = tmp_path / STORE
    whole = view.read_bytes()
    if harm == "older":
        with closing(sqlite3.connect(view)) as db:
            db.execute("UPDATE _meta SET form = '0 0'")
            db.commit()
        os.utime(view, ns=(log.stat().st_mtime_ns,) * 2)
    else:
        view.write_bytes(whole[:-512] if harm == "cut" else whole.replace(b"passed", b"failed"))
    assert told_by(ensure_view(log)) == first


def test_the_view_of_a_run_that_ends_is_that_which_is_made_of_its_log_later(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    a_log(path, a_run("a"), a_run("b", "failed"), transcript=a_transcript("x" * 500_000))
    log = read_log(path)
    keep_store(log, build_report(log))
    at_the_end = find_view(path)
    assert at_the_end is not None
    told = told_by(at_the_end)
    path.with_name(STORE).unlink()
    assert told == told_by(ensure_view(path))


def test_the_view_of_a_log_in_a_folder_of_others_is_made_once_for_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write everywhere, so the place of the view is taken by a folder."""
    log = tmp_path / "log.jsonl"
    a_log(log, a_run("one"))
    log.with_name(STORE).mkdir()
    first = ensure_view(log)
    assert first.path.parent != tmp_path
    monkeypatch.setattr(index, "read_into", None)
    assert ensure_view(log) == first


def test_reviews_come_into_a_view_without_reading_the_log_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log.jsonl"
    a_log(log, a_run("one"), a_run("two", "failed"))
    (key,) = (one.key for one in read_log(log).results if one.status == "failed")
    ensure_view(log)
    add_review(log, key, "overrule", by="Ann", note="It is right.")
    with monkeypatch.context() as patch:
        patch.setattr(index, "read_log", None)
        reviewed = ensure_view(log)
    whole = read_log(log)
    assert build_view_summary(reviewed) == build_summary(whole, build_report(whole))
    assert build_view_summary(reviewed)["reviews"]["overruled"] == 1
    with LogWriter(log) as writer:
        writer.append(TrialLine(run=a_run("two", "failed"), transcript=a_transcript()))
    # the trial was run again: nobody has reviewed that
    assert build_view_summary(ensure_view(log))["reviews"]["reviewed"] == 0


def test_the_view_of_a_log_that_went_on_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    a_log(path, a_run("a"), transcript=a_transcript("x" * 1_000_000))
    log = read_log(path)
    report = build_report(log)
    with LogWriter(path) as writer:
        writer.append(TrialLine(run=a_run("two", "failed"), transcript=a_transcript()))
    keep_store(log, report)
    assert not path.with_name(STORE).exists()


def test_a_result_that_others_decided_is_kept_as_it_was_decided(tmp_path: Path) -> None:
    log = asked_as_several(tmp_path, (asked_as("admin"), FULL), (asked_as("clerk"), LEAKING))
    (leaking,) = (one for one in build_report(log).results if one.status == "failed")
    logged = {one.key: one for one in read_log(log.path).results}[leaking.key]
    settled = find_settled(log.path, log.get_offset(leaking.key))
    assert settled is not None
    assert (logged.status, settled.status) == ("passed", "failed")
    assert [check.label for check in settled.checks] == [check.label for check in leaking.checks]
    # A review makes the log longer: nothing that was kept holds any more.
    add_review(log.path, leaking.key, "accept", by="Ann", note="")
    again = find_settled(log.path, log.get_offset(leaking.key))
    assert again is not None
    assert again.status == "failed"
