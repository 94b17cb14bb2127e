"""However often a trial is asked: what was found and what was paid is in every count."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness.reports.build import build_report
from harness.reports.formats.json_report import write_json
from harness.runlog import Footer, Header, LogWriter, RunLog, TrialLine, read_log
from harness.runlog.content import has_verdict, merge_attempts
from harness.types import Status, TrialResult, Usage
from tests.reports.querying.support import ask, assert_equals_reports
from tests.reports.run_logs import a_run
from tests.support import entrants_of

COST = Usage(input_tokens=8, output_tokens=2, cost_usd=0.25)


def an_attempt(status: Status, number: int) -> TrialResult:
    started = status != "skipped"
    return replace(
        a_run("s", "a", "m", 1, status[0]),
        stop="answer" if started else None,
        usage=COST if started else Usage(),
        judge_usage=Usage(cost_usd=0.5) if status in {"passed", "failed"} else Usage(),
        started_at=f"2026-01-01T00:00:{number:02}.000Z" if started else "",
    )


def a_log(path: Path, attempts: Sequence[TrialResult]) -> RunLog:
    path.unlink(missing_ok=True)
    with LogWriter(path) as log:
        log.append(
            Header(
                run_id="r",
                started_at="2026-01-01T00:00:00Z",
                harness_version="0",
                planned=1,
                suites={"s": {"cases": {"a": "d"}}},
                models={"m": {"provider": "openai", "model_id": "m"}},
                entrants=entrants_of(("m",)),
            )
        )
        for one in attempts:
            log.append(TrialLine(run=one, transcript=None))
        log.append(Footer(finished_at="2026-01-01T00:01:00Z", elapsed_s=1.0))
    return read_log(path)


STATUSES = st.lists(st.sampled_from(get_args(Status)), min_size=1, max_size=4)


@given(STATUSES, st.booleans())
@example(["passed", "passed", "failed", "skipped"], False)
@example(["error", "cancelled", "passed"], False)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_every_attempt_is_paid_for_in_every_output_and_no_failure_is_lost(
    tmp_path: Path, statuses: list[Status], together: bool
) -> None:
    attempts = [an_attempt(status, number) for number, status in enumerate(statuses)]
    lines = attempts
    if together:  # as a run writes them that knows of the earlier ones
        lines = attempts[:1]
        for one in attempts[1:]:
            lines.append(merge_attempts(lines[-1], one))
    log = a_log(tmp_path / "log.jsonl", lines)
    report, stream = build_report(log), io.StringIO()
    paid = sum((one.usage for one in attempts), Usage())
    judged = sum((one.judge_usage for one in attempts), Usage())
    assert (report.usage, report.judge_usage) == (paid, judged)
    write_json(report, log, stream)
    said = json.loads(stream.getvalue())["result"]
    assert said["usage"]["cost_usd"] == paid.cost_usd
    (result,) = log.results
    if "failed" in statuses:
        assert result.status == "failed"
    elif "passed" in statuses:
        assert result.status == "passed"
    elif set(statuses) != {"skipped"}:
        assert result.status in {"error", "cancelled"}
    assert ask(log.path, "SELECT status, tokens_in, cost_usd, judge_cost_usd FROM trials") == [
        (result.status, paid.input_tokens, paid.cost_usd, judged.cost_usd)
    ]
    assert_equals_reports(log.path)


def test_a_line_that_says_more_of_the_same_attempt_is_paid_once(tmp_path: Path) -> None:
    begun = replace(an_attempt("cancelled", 1), usage=Usage(cost_usd=0.25))
    ended = replace(begun, status="skipped", usage=Usage(cost_usd=0.5))
    assert build_report(a_log(tmp_path / "log.jsonl", [begun, ended])).usage.cost_usd == 0.5


def test_only_a_trial_that_was_judged_has_a_verdict() -> None:
    found = {status for status in get_args(Status) if has_verdict(an_attempt(status, 1))}
    assert found == {"passed", "failed"}
