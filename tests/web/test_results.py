import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.checks.kinds.grading import THRESHOLD
from harness.reports.build import build_report
from harness.reports.viewer.run_summary import build_summary, clean_json, get_band
from harness.runlog import TrialLine
from harness.types import CheckResult, Transcript, TrialResult, Usage
from harness.web.results import Progress, choose_colour, encode_result
from tests.reports.logs import a_log, a_run, a_transcript


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (1.0, "good"),
        (0.9, "good"),
        (0.899, "acceptable"),
        (0.7, "acceptable"),
        (0.699, "needs work"),
        (0, "needs work"),
    ],
)
def test_a_share_comes_to_a_band(value: float, name: str) -> None:
    assert get_band(value) == name
    assert get_band(None) is None


@pytest.mark.parametrize(
    ("score", "name"),
    [
        (1.0, "green"),
        (0.7, "green"),
        (0.69, "yellow"),
        (0.4, "yellow"),
        (0.39, "red"),
        (0.0, "red"),
    ],
)
def test_a_score_comes_to_a_colour(score: float, name: str) -> None:
    assert choose_colour(a_run("a", "passed" if score >= THRESHOLD else "failed"), score) == name


def test_without_a_score_the_status_decides_and_without_a_verdict_nothing_does() -> None:
    assert [
        choose_colour(a_run("a", "passed"), None),
        choose_colour(a_run("a", "failed"), None),
    ] == [
        "green",
        "red",
    ]
    assert (
        choose_colour(a_run("a", "error"), None)
        == choose_colour(a_run("a", "error"), 0.9)
        == "grey"
    )
    assert choose_colour(a_run("a", "skipped"), None) == "grey"


def graded(score: float | None, **actual: object) -> TrialResult:
    check = CheckResult(
        kind="graded",
        label="graded",
        verdict="passed",
        score=score,
        actual=actual,
        traits=("grades",),
    )
    return replace(a_run("a"), checks=(check,))


def test_a_graded_trial_shows_its_metrics_pairs_and_judge() -> None:
    pair = {"tool": "get_order", "expected": {"id": 7}, "actual": None, "score": 0.0}
    run = graded(
        0.5,
        metrics={
            "tool_selection": {"score": 1.0},
            "argument_match": {"score": 0.0, "pairs": [pair]},
            "faithfulness": {"score": 0.5, "explanation": "Half of it.", "judge": "gpt-4o"},
        },
        calls=[{"tool": "get_order", "arguments": {"id": 7}, "outcome": "ok", "expected": False}],
    )
    shown = encode_result(TrialLine(run=run, transcript=a_transcript()))
    assert shown["metrics"]["faithfulness"] == {"score": 0.5, "judge": "gpt-4o"}
    assert shown["expected"] == [
        {"tool": "get_order", "arguments": {"id": 7}, "actual": None, "score": 0.0}
    ]
    assert [call["expected"] for call in shown["calls"]] == [False]
    assert (shown["explanation"], shown["query"]) == ("Half of it.", "Where is order 7?")


def test_a_trial_that_was_never_started_has_a_card_as_well() -> None:
    shown = encode_result(TrialLine(run=a_run("a", "skipped"), transcript=None))
    assert (shown["status"], shown["answer"], shown["calls"], shown["problem"]) == (
        "skipped",
        "",
        [],
        "budget",
    )
    assert (
        encode_result(TrialLine(run=a_run("a", "error"), transcript=Transcript()))["error"][
            "message"
        ]
        == "the server exited"
    )


def test_an_unknown_cost_makes_the_sum_unknown() -> None:
    progress = Progress(3)
    progress.add(a_run("a"))
    assert progress.as_json() == {"done": 1, "planned": 3, "passed": 1, "paid_usd": 0.25}
    progress.add(replace(a_run("b", "failed"), usage=replace(a_run("b").usage, cost_usd=None)))
    assert progress.as_json() == {
        "done": 2,
        "planned": 3,
        "passed": 1,
        "failed": 1,
        "paid_usd": None,
    }


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.text(), part),
    max_leaves=20,
)


@given(JSON)
def test_whatever_was_said_becomes_strict_json_without_control_characters(value: object) -> None:
    text = json.dumps(clean_json(value), allow_nan=False, ensure_ascii=False)
    assert not any(ord(character) < 32 or 0x7F <= ord(character) < 0xA0 for character in text)


def test_what_is_deep_or_wide_without_end_is_cut() -> None:
    deep: object = "end"
    for _ in range(500):
        deep = [deep]
    assert len(json.dumps(clean_json(deep))) < 100
    note = "… 9,800 more are in the run log"
    assert clean_json(list(range(10_000))) == [*range(200), note]
    assert list(clean_json({str(number): 0 for number in range(10_000)})) == [
        *map(str, range(200)),
        note,
    ]
    assert clean_json(list(range(200))) == list(range(200))


def test_calls_beyond_the_first_hundred_are_counted() -> None:
    said = a_transcript()
    asked = CheckResult(kind="must_call_in_order", label="x", verdict="passed",
                        expected_tools=tuple(f"t{number}" for number in range(130)))  # fmt: skip
    line = TrialLine(
        run=replace(a_run("a"), checks=(asked,)),
        transcript=replace(said, tool_calls=said.tool_calls * 120),
    )
    shown = encode_result(line)
    assert (len(shown["expected"]), len(shown["calls"])) == (100, 100)
    assert shown["left_out"] == {"expected": 30, "calls": 20}
    assert encode_result(TrialLine(run=a_run("a"), transcript=said))["left_out"] == {
        "expected": 0,
        "calls": 0,
    }


def test_models_judges_and_simulated_users_are_paid_for_together(tmp_path: Path) -> None:
    run = replace(a_run("a"), judge_usage=Usage(cost_usd=0.5), user_usage=Usage(cost_usd=2.0))
    progress = Progress(1)
    progress.add(run)
    shown = encode_result(TrialLine(run=run, transcript=a_transcript()))
    log = a_log(tmp_path / "log.jsonl", run)
    whole = build_summary(log, build_report(log))
    assert [told["paid_usd"] for told in (progress.as_json(), shown, whole)] == [2.75] * 3
