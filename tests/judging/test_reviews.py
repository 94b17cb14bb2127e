"""People accept or overrule verdicts; what they say stands beside the machine's verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Discriminator, TypeAdapter

from harness.base.errors import HarnessError, UsageError
from harness.base.redaction import KNOWN
from harness.judging import reviews
from harness.judging.exit_codes import exit_code
from harness.judging.reviews import KnownStatus, add_review, reviewed_judge
from harness.reports.build import build_report
from harness.reports.comparing.contrasts import compare_logs
from harness.runlog import Footer, Header, LogWriter, RunLog, ToolsLine, TrialLine, lines, read_log
from harness.runner.runs.shard import merge_logs
from harness.types import CheckResult, TrialResult
from tests.reports.packs import all_of
from tests.reports.sample_logs import a_log, a_run, written

GOLDEN = Path(__file__).with_name("golden") / "leaks.jsonl"


def two(folder: Path) -> RunLog:
    return a_log(folder, [(a_run("good"), None), (a_run("bad", "failed"), None)])


def key_of(log: RunLog, case: str) -> str:
    return next(one.key for one in log.results if one.case.name == case)


def reviewed(log: RunLog, case: str, decision: Any, note: str = "", by: str = "Ann") -> RunLog:
    add_review(log.path, key_of(log, case), decision, by=by, note=note)
    return read_log(log.path)


def test_a_review_stands_beside_the_verdict_and_changes_no_rate_and_no_exit_code(
    tmp_path: Path,
) -> None:
    log = two(tmp_path)
    before = build_report(log)
    log = reviewed(reviewed(log, "good", "accept"), "bad", "overrule", "The tool was renamed.")
    after = build_report(log)
    assert [one.status for one in after.results] == [one.status for one in before.results]
    assert (exit_code(after), after.counts, after.reason) == (1, before.counts, "complete")
    assert [(one.decision, one.verdict, one.by) for one in after.reviews.values()] == [
        ("accepted", "passed", "Ann"), ("overruled", "passed", "Ann"),
    ]  # fmt: skip


def test_reviews_are_counted_apart_in_every_report(tmp_path: Path) -> None:
    log = reviewed(two(tmp_path), "good", "accept")
    log = reviewed(log, "bad", "overrule", "The tool was renamed.")
    for name in ("html", "markdown", "junit"):
        assert "2 reviewed, 1 overruled" in all_of(written(log, name)), name
    document = json.loads(written(log, "json"))["result"]
    assert {key: document["reviews"][key] for key in ("reviewed", "accepted", "overruled")} == {
        "reviewed": 2, "accepted": 1, "overruled": 1,
    }  # fmt: skip
    bad = next(test for test in document["tests"] if test["name"] == "bad")
    assert (bad["status"], bad["review"], bad["reviewed_by"], bad["review_note"]) == (
        "failed", "overruled", "Ann", "The tool was renamed.",
    )  # fmt: skip
    assert "overruled,Ann,The tool was renamed." in written(log, "csv")
    ours = [json.loads(line)["metadata"]["harness"] for line in written(log, "jsonl").splitlines()]
    assert {one["review"] for one in ours} == {"accepted", "overruled"}


def test_with_the_option_the_verdicts_of_people_count_and_the_report_says_so(
    tmp_path: Path,
) -> None:
    log = reviewed(two(tmp_path), "bad", "overrule", "It is right.").apply_reviews()
    report = build_report(log)
    assert (report.counts.passed, exit_code(report)) == (2, 0)
    assert "1 reviewed, 1 overruled; the verdicts of people count here" in written(log, "markdown")
    machine = two(tmp_path / "other")
    assert compare_logs([machine, log]).contrasts[0].effects[0].better == 1


def test_the_last_review_of_a_trial_counts_until_the_trial_is_run_again(tmp_path: Path) -> None:
    log = reviewed(two(tmp_path), "bad", "overrule", "No.")
    log = reviewed(log, "bad", "accept", by="Ben")
    assert [(one.decision, one.by) for one in log.reviews.values()] == [("accepted", "Ben")]
    with LogWriter(log.path) as writer:
        writer.append(TrialLine(run=a_run("bad")))
    assert read_log(log.path).reviews == {}


def test_a_version_without_reviews_reads_the_same_results_and_the_same_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = build_report(two(tmp_path))
    path = reviewed(two(tmp_path / "other"), "bad", "accept").path
    assert [json.loads(line)["kind"] for line in path.read_text().splitlines()[-3:]] == [
        "footer", "review", "footer",
    ]  # fmt: skip
    old: Any = Annotated[Header | ToolsLine | TrialLine | Footer, Discriminator("kind")]
    monkeypatch.setattr(lines, "_get_adapter", lambda: TypeAdapter(old))
    monkeypatch.setattr(
        lines, "_KINDS", {key: kind for key, kind in lines._KINDS.items() if kind != "review"}
    )
    after = build_report(read_log(path))
    assert [one.status for one in after.results] == [one.status for one in before.results]
    assert (after.counts, after.reason, exit_code(after)) == (before.counts, "complete", 1)


def test_a_log_of_schema_1_can_be_reviewed(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(GOLDEN.read_bytes())
    leaking = build_report(read_log(path)).results[4]
    assert leaking.status == "failed"  # by what the other identities see: its own line says passed
    add_review(path, leaking.key, "overrule", by="Ann", note="Salaries are public here.")
    log = read_log(path)
    assert log.damaged == ()
    assert [(one.machine, one.verdict) for one in log.reviews.values()] == [("failed", "passed")]


def test_a_damaged_review_loses_only_itself(tmp_path: Path) -> None:
    path = reviewed(two(tmp_path), "bad", "accept").path
    text = path.read_text()
    path.write_text(text.replace('{"review":{"key"', '{"review":{"kee"'))
    log = read_log(path)
    assert (log.reviews, len(log.results), log.footer is not None) == ({}, 2, True)
    assert "a person's review is lost" in log.complaints[0]


def test_merged_parts_keep_their_reviews(tmp_path: Path) -> None:
    log = reviewed(two(tmp_path / "one"), "bad", "accept")
    other = a_log(tmp_path / "two", [(a_run("third"), None)])
    assert merge_logs([log, other], tmp_path / "both" / "log.jsonl").reviews == log.reviews


@pytest.mark.parametrize(
    ("status", "decision", "by", "note", "words"),
    [
        ("failed", "overrule", "Ann", " ", "overruling a verdict needs a reason"),
        ("failed", "accept", " \n", "x", "needs the name of the person"),
        ("failed", "accept", "x" * 101, "", "longer than 100 characters"),
        ("error", "accept", "Ann", "", "has no verdict that could be reviewed: it is error"),
    ],
)
def test_a_review_that_makes_no_sense_is_refused_and_leaves_the_log_as_it_is(
    tmp_path: Path, status: Any, decision: Any, by: str, note: str, words: str
) -> None:
    log = a_log(tmp_path, [(a_run("a", status), None)])
    before = log.path.read_bytes()
    with pytest.raises(UsageError, match=words):
        add_review(log.path, key_of(log, "a"), decision, by=by, note=note)
    assert log.path.read_bytes() == before


def test_a_run_under_way_is_not_reviewed(tmp_path: Path) -> None:
    log = two(tmp_path)
    with LogWriter(log.path), pytest.raises(HarnessError, match="being written"):
        add_review(log.path, key_of(log, "bad"), "accept", by="Ann")


def test_a_secret_in_a_note_never_reaches_the_log(tmp_path: Path) -> None:
    KNOWN.add_secret("hunter2-hunter2")
    log = reviewed(two(tmp_path), "bad", "overrule", "The key hunter2-hunter2 is right.")
    assert "hunter2" not in log.path.read_text()
    assert next(iter(log.reviews.values())).note == "The key [redacted] is right."


# ── What reviews say of a judge ──────────────────────────────────────────────────────────────


def judged(case: str, verdict: Any, *more: CheckResult) -> TrialResult:
    """Return a trial that a judge has decided, and other checks."""
    facts = {"judge": "gpt", "score": 1.0 if verdict == "passed" else 0.0, "explanation": "So."}
    said = CheckResult(
        kind="answer_judge",
        label="polite",
        verdict=verdict,
        actual=facts,
        traits=("judge_decides",),
    )
    checks = (said, *more)
    failed = any(check.verdict == "failed" for check in checks)
    return a_run(case, "failed" if failed else "passed", checks=checks)


def test_reviews_label_the_judges_answers_where_they_say_anything_of_them(tmp_path: Path) -> None:
    other = CheckResult(kind="must_call", label="must_call x", verdict="failed")
    trials = [
        judged("agree", "passed"),
        judged("too_strict", "failed"),
        judged("too_mild", "passed"),
        judged("another_reason", "passed", other),
        judged("right_after_all", "passed", other),
        a_run("no_judge", "failed"),
    ]
    log = a_log(tmp_path, [(trial, None) for trial in trials])
    log = reviewed(log, "agree", "accept")
    log = reviewed(log, "too_strict", "overrule", "Polite enough.")
    log = reviewed(log, "too_mild", "overrule", "Rude.")
    log = reviewed(log, "another_reason", "accept")
    log = reviewed(log, "right_after_all", "overrule", "x is not needed.")
    log = reviewed(log, "no_judge", "accept")
    found = reviewed_judge(log, 0.7)
    assert [(one.result.case.name, one.human, one.judged) for one in found.labels] == [
        ("agree", "pass", "pass"),
        ("too_strict", "pass", "fail"),
        ("too_mild", "fail", "pass"),
        ("right_after_all", "pass", "pass"),
    ]
    assert found.silent == 1


def test_a_graded_answer_is_labelled_by_its_faithfulness(tmp_path: Path) -> None:
    def graded(case: str, faith: float, tools: float) -> TrialResult:
        metrics = {
            "tool_selection": {"score": tools},
            "faithfulness": {"score": faith, "judge": "gpt", "explanation": "So."},
        }
        check = CheckResult(
            kind="graded",
            label="graded",
            verdict="failed",
            actual={"metrics": metrics},
            traits=("grades",),
        )
        return a_run(case, "failed", checks=(check,))

    log = a_log(tmp_path, [(graded("faith", 0.2, 1.0), None), (graded("tools", 0.9, 0.0), None)])
    log = reviewed(reviewed(log, "faith", "accept"), "tools", "accept")
    found = reviewed_judge(log, 0.7)
    assert [(one.result.case.name, one.human, one.judged) for one in found.labels] == [
        ("faith", "fail", "fail")
    ]
    assert found.silent == 1


def test_a_known_status_spares_the_reading_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = two(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(reviews, "read_log", None)
        known = KnownStatus(status="failed", size=log.path.stat().st_size)
        add_review(log.path, key_of(log, "bad"), "overrule", by="Ann", note="No.", known=known)
    after = read_log(log.path)
    assert [(one.machine, one.verdict) for one in after.reviews.values()] == [("failed", "passed")]
    assert after.footer == log.footer


def test_a_status_of_an_earlier_state_of_the_log_is_not_believed(tmp_path: Path) -> None:
    log = two(tmp_path)
    known = KnownStatus(status="failed", size=log.path.stat().st_size)
    with LogWriter(log.path) as writer:
        writer.append(TrialLine(run=a_run("bad")))
    add_review(log.path, key_of(log, "bad"), "accept", by="Ann", known=known)
    assert [one.machine for one in read_log(log.path).reviews.values()] == ["passed"]
