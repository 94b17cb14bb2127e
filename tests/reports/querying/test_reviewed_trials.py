"""The trials of a large run are reviewed by its index, and are those of its log."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.judging.reviews import add_review
from harness.reports.querying import log_indexer, reviewed_trials
from harness.reports.querying.reviewed_trials import ReviewedRun, ReviewedTrial, reviewed_run
from harness.runlog import LogWriter, TrialLine, read_log
from tests.judging.test_reviews import GOLDEN
from tests.reports.logs import a_log
from tests.reports.sample_logs import a_run, an_ordinary_log


@pytest.fixture(params=["ordinary", "leaks"])
def log(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    if request.param == "ordinary":
        return an_ordinary_log(tmp_path).path
    return Path(shutil.copyfile(GOLDEN, tmp_path / "log.jsonl"))


def by_index(log: Path, monkeypatch: pytest.MonkeyPatch, case: str | None = None) -> ReviewedRun:
    with monkeypatch.context() as patched:
        patched.setattr(reviewed_trials, "is_worth_indexing", lambda _: True)
        patched.setattr(reviewed_trials, "read_log", None)
        return reviewed_run(log, case)


def called(log: Path) -> Iterator[str]:
    for result in read_log(log).results:
        yield from (result.case.name, f"{result.suite}::{result.case.name}")


def test_the_index_knows_the_trials_and_statuses_of_the_log(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for case in (None, "nothing", *called(log)):
        whole = reviewed_run(log, case)
        assert bool(whole.called) != bool(whole.case_names)
        found = replace(by_index(log, monkeypatch, case), complaints=())
        assert found == replace(whole, complaints=())


def test_a_review_changes_no_result_of_a_store_and_only_its_lines_are_read(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = [one for one in read_log(log).results if one.status in {"passed", "failed"}][:2]
    for result in judged:
        run = by_index(log, monkeypatch, result.case.name)
        trial = next(one for one in run.called if one.key == result.key)
        known = run.get_status(trial)
        review = add_review(log, trial.key, "accept", by="Ann", known=known)
        with monkeypatch.context() as patched:  # it would fail if it counted again
            patched.setattr(log_indexer, "write_totals", None)
            again = by_index(log, monkeypatch, result.case.name)
        told = run.add_review(trial, review)
        assert (again.called, again.listed, again.said) == (told.called, told.listed, told.said)
    after = by_index(log, monkeypatch)
    assert after.said == read_log(log).reviews
    assert {trial.key for trial in after.listed} == {result.key for result in judged}


def test_of_a_large_run_only_the_named_trials_are_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = a_log(tmp_path / "log.jsonl", *(a_run(f"case {n}") for n in range(200))).path
    held: list[str] = []

    def build(*given: Any) -> ReviewedTrial:
        held.append(given[2])
        return ReviewedTrial(*given)

    monkeypatch.setattr(reviewed_trials, "ReviewedTrial", build)
    run = by_index(log, monkeypatch, "case 7")
    (trial,) = run.called
    add_review(log, trial.key, "accept", by="Ann", known=run.get_status(trial))
    assert by_index(log, monkeypatch).listed == (trial,)
    assert set(held) == {"case 7"}


def test_an_index_from_before_a_trial_is_brought_up_to_date(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not by_index(log, monkeypatch, "new").called
    with LogWriter(log) as writer:
        writer.append(TrialLine(run=a_run("new", "failed")))
    (trial,) = by_index(log, monkeypatch, "new").called
    assert trial.status == "failed"
    assert reviewed_run(log, "new").called == (trial,)
