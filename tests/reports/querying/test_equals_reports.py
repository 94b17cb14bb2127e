"""What SQL says of a run is what its reports say: counts, verdicts, checks, cost, policy facts."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.judging.access import NO_LEAK
from harness.probing.findings import read_probe
from harness.runlog import (
    Footer,
    LogWriter,
    ReviewLine,
    RunLog,
    TrialLine,
    read_log,
)
from harness.types import CheckResult, Review, Status, Usage
from tests.evidence.made_logs import Desk, made_by, make_project
from tests.judging.test_golden_logs import GOLDEN
from tests.probing.loopback import on_loopback
from tests.reports.querying.support import ask, assert_equals_reports, objects
from tests.reports.run_logs import write_log
from tests.reports.sample_logs import (
    a_conversation,
    a_hostile_log,
    a_log,
    a_run,
    an_ordinary_log,
)


@pytest.mark.parametrize("golden", sorted(GOLDEN.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_log_of_an_earlier_version(golden: Path, tmp_path: Path) -> None:
    log = Path(shutil.copy(golden, tmp_path / "log.jsonl"))
    assert_equals_reports(log)


def test_a_run_with_every_status_and_repeats(tmp_path: Path) -> None:
    assert_equals_reports(an_ordinary_log(tmp_path).path)


def test_a_run_of_two_models_whose_cost_is_partly_unknown(tmp_path: Path) -> None:
    log = write_log(
        tmp_path / "log.jsonl",
        {},
        models={"a": {"x": "pfp", "y": "e"}, "b": {"x": "ppp", "y": "c"}},
        usage=Usage(input_tokens=3, output_tokens=None, cost_usd=None),
        pass_threshold=0.6,
    )
    assert_equals_reports(log.path)
    assert ask(log.path, "select cost_usd, tokens_in, tokens_out from runs") == [(None, 24, None)]


@pytest.mark.parametrize("planned", [3, 4, 7])
@pytest.mark.parametrize("finished", [True, False])
def test_a_run_of_which_results_are_missing(tmp_path: Path, planned: int, finished: bool) -> None:
    log = write_log(
        tmp_path / "log.jsonl", {"a": "p", "b": "p"}, finished=finished, planned=planned
    )
    _plan(log, "never")
    assert_equals_reports(log.path)


def test_a_run_whose_command_failed_although_its_trials_passed(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", {"a": "p"}).path
    with LogWriter(log) as writer:
        writer.append(Footer(finished_at="2026-01-01T00:00:09Z", elapsed_s=1.0, fault="a gate"))
    assert_equals_reports(log)
    assert ask(log, "select \"case\", status from cases where status != 'passed'") == [
        ("the run as a whole", "failed")
    ]
    assert ask(log, "select count(*) from trials") == [(1,)]


def test_a_trial_that_was_run_again(tmp_path: Path) -> None:
    log = an_ordinary_log(tmp_path)
    _append_again(log, "passed")
    assert_equals_reports(log.path)


def test_a_review_and_one_of_a_trial_that_was_run_again(tmp_path: Path) -> None:
    log = an_ordinary_log(tmp_path)
    failed = [one for one in log.results if one.status == "failed"]
    with LogWriter(log.path) as writer:
        for one in failed:
            review = Review(
                key=one.key, verdict="passed", machine="failed", by="Ann", note="The tool moved."
            )
            writer.append(ReviewLine(review=review))
        assert log.footer is not None
        writer.append(log.footer)
    assert_equals_reports(log.path)
    assert ask(log.path, "select count(*) from trials where review = 'overruled'") == [(2,)]
    _append_again(log, "failed")
    assert_equals_reports(log.path)
    assert ask(log.path, "select count(*) from trials where review = 'overruled'") == [(1,)]


def test_a_damaged_line_and_its_trial_that_was_run_again(tmp_path: Path) -> None:
    log = an_ordinary_log(tmp_path)
    lines = log.path.read_bytes().splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if line.startswith(b'{"run":'))
    whole, lines[place] = lines[place], lines[place].rstrip()[:-1] + b"\n"
    log.path.write_bytes(b"".join(lines))
    assert_equals_reports(log.path)
    (run,) = objects(log.path, "select damaged from runs")
    assert f"log.jsonl:{place + 1}: this line of the run log is damaged" in run["damaged"]
    with log.path.open("ab") as file:
        file.write(whole)
    assert_equals_reports(log.path)
    assert ask(log.path, "select damaged from runs") == [("[]",)]


def test_a_trial_whose_last_line_is_damaged_has_no_result(tmp_path: Path) -> None:
    log = an_ordinary_log(tmp_path).path
    assert ask(log, "select count(*) from trials") == [(8,)]
    lines = log.read_bytes().splitlines(keepends=True)
    last = next(line for line in lines if line.startswith(b'{"run":'))
    with log.open("ab") as file:
        file.write(last.rstrip()[:-1] + b"\n")
    assert_equals_reports(log)
    assert ask(log, "select count(*) from trials") == [(7,)]


def test_a_leak_fails_its_case_although_enough_trials_passed(tmp_path: Path) -> None:
    leak = CheckResult(kind=NO_LEAK, label=NO_LEAK, verdict="failed", explanation="It leaked.")
    case: dict[str, Any] = {"repeats": 3, "pass_threshold": 0.5}
    trials = [
        (a_run("it", "passed", trial=1, **case), a_conversation()),
        (a_run("it", "passed", trial=2, **case), a_conversation()),
        (a_run("it", "failed", trial=3, checks=(leak,), **case), a_conversation()),
    ]
    log = a_log(tmp_path, trials).path
    assert_equals_reports(log)
    assert ask(log, "select status, passed from cases") == [("failed", 2)]


def test_texts_that_are_out_to_do_harm(tmp_path: Path) -> None:
    assert_equals_reports(a_hostile_log(tmp_path, big=False).path)


@pytest.mark.slow
@pytest.mark.parametrize("suite", ["good", "wrong", "broken", "stopped", "leaky", "sound"])
def test_runs_of_the_commands(suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with on_loopback(Desk) as url:
        make_project(tmp_path, url)
        made = [made_by("evals", suite, "--concurrency", "1")]
        if suite in ("leaky", "sound"):
            made.append(made_by("probe", suite, "--named-only"))
    for _, run in made:
        assert_equals_reports(tmp_path / ".harness" / "runs" / run / "log.jsonl")


@pytest.mark.slow
def test_findings_are_those_of_the_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with on_loopback(Desk) as url:
        make_project(tmp_path, url)
        _, run = made_by("probe", "leaky", "--named-only")
    log = tmp_path / ".harness" / "runs" / run / "log.jsonl"
    told = [(one.problem, one.words) for one in read_probe(read_log(log)).findings]
    assert told
    assert ask(log, "select problem, words from findings") == told


def _append_again(log: RunLog, status: Status) -> None:
    """Append another result of the first trial that failed."""
    first = next(one for one in log.results if one.status == "failed")
    again = replace(first, status=status, checks=first.checks if status == "failed" else ())
    with LogWriter(log.path) as writer:
        writer.append(TrialLine(run=again, transcript=log.read_transcript(first.key)))
        assert log.footer is not None
        writer.append(log.footer)


def _plan(log: RunLog, case: str) -> None:
    """Let the header name a further case."""
    head, _, rest = log.path.read_bytes().partition(b"\n")
    named = head.replace(b'"cases":{', b'"cases":{"%s":"d",' % case.encode(), 1)
    assert named != head
    log.path.write_bytes(named + b"\n" + rest)
