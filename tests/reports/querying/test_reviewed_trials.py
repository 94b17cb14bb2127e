"""The trials of a large run are reviewed by its index, and are those of its log."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from harness.judging.reviews import add_review
from harness.reports.querying import log_indexer, reviewed_trials
from harness.reports.querying.reviewed_trials import ReviewedRun, reviewed_run
from harness.runlog import LogWriter, TrialLine, read_log
from tests.judging.test_reviews import GOLDEN
from tests.reports.sample_logs import a_run, an_ordinary_log


@pytest.fixture(params=["ordinary", "leaks"])
def log(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    if request.param == "ordinary":
        return an_ordinary_log(tmp_path).path
    return Path(shutil.copyfile(GOLDEN, tmp_path / "log.jsonl"))


def by_index(log: Path, monkeypatch: pytest.MonkeyPatch) -> ReviewedRun:
    with monkeypatch.context() as patched:
        patched.setattr(reviewed_trials, "is_worth_indexing", lambda _: True)
        patched.setattr(reviewed_trials, "read_log", None)
        return reviewed_run(log)


def test_the_index_knows_the_trials_and_statuses_of_the_log(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = reviewed_run(log)
    assert whole.trials
    assert replace(by_index(log, monkeypatch), complaints=()) == replace(whole, complaints=())


def test_a_review_changes_no_result_of_a_store_and_only_its_lines_are_read(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = by_index(log, monkeypatch)
    judged = [trial for trial in run.trials if trial.status in {"passed", "failed"}]
    for trial in judged[:2]:
        known = by_index(log, monkeypatch).get_status(trial)
        add_review(log, trial.key, "accept", by="Ann", known=known)
        with monkeypatch.context() as patched:  # it would fail if it counted again
            patched.setattr(log_indexer, "write_totals", None)
            assert by_index(log, monkeypatch).trials == run.trials
    assert by_index(log, monkeypatch).trials == run.trials
    assert run.reviews() == read_log(log).reviews
    assert len(run.reviews()) == 2


def test_an_index_from_before_a_trial_is_brought_up_to_date(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = by_index(log, monkeypatch)
    with LogWriter(log) as writer:
        writer.append(TrialLine(run=a_run("new", "failed")))
    after = by_index(log, monkeypatch)
    assert len(after.trials) == len(before.trials) + 1
    assert after.trials == reviewed_run(log).trials
