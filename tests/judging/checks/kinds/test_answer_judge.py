from __future__ import annotations

from dataclasses import replace
from typing import Any

import anyio
import pytest

from harness.base.errors import InvalidValue, ModelError
from harness.judging.checks import VOCABULARY, evaluate_checks
from harness.judging.checks.judge.judge import Judge, JudgeModel
from harness.judging.checks.registry import KINDS
from harness.types import Case, CheckResult, Reply
from tests.judging.checks.judges import grade, judge_of, materials, verdict
from tests.judging.checks.scenes import call, scene
from tests.support import ScriptedModel, says


def judged(
    kind: str, value: Any, judge: Judge | None, answer: str = "Three orders, $120 in all."
) -> CheckResult:
    checks = tuple(check for _, check in VOCABULARY.parse(kind, value))
    evidence = scene(call("get_orders", {"customer_id": "C1"}, text="3 orders"), answer=answer)
    evidence = replace(
        evidence, case=Case(name="c", prompt="What did they order?", checks=checks), judge=judge
    )
    (result,) = anyio.run(evaluate_checks, evidence)
    return result


@pytest.mark.parametrize(
    ("word", "outcome", "score"),
    [("correct", "passed", 1.0), ("partially correct", "failed", 0.5), ("wrong", "failed", 0)],
)
def test_only_a_correct_answer_is_the_expected_one(word: str, outcome: str, score: float) -> None:
    judge, model = judge_of(grade(word, "The sum differs."))
    result = judged("expected_answer", "Three orders worth $120.", judge)
    assert result.verdict == outcome
    assert result.score == score
    assert result.actual == {
        "grade": word,
        "score": score,
        "explanation": "The sum differs.",
        "judge": "j",
        "prompt_version": "1",
    }
    assert materials(model)[0] == {
        "query": "What did they order?",
        "tool_outputs": [
            {
                "tool": "get_orders",
                "arguments": '{"customer_id": "C1"}',
                "outcome": "ok",
                "result": "3 orders",
            }
        ],
        "answer": "Three orders, $120 in all.",
        "expected_answer": "Three orders worth $120.",
    }
    if outcome == "passed":
        assert result.explanation == ""
    else:
        assert result.explanation.startswith(
            f"The judge j finds the answer {word}: The sum differs."
        )
        assert "The answer begins: “Three orders" in result.explanation
        assert result.hint


@pytest.mark.parametrize(
    ("score", "threshold", "outcome"),
    [(0.7, None, "passed"), (0.69, None, "failed"), (0.5, 0.5, "passed"), (0.9, 1, "failed")],
)
def test_a_rubric_is_satisfied_from_its_threshold_on(
    score: float, threshold: float | None, outcome: str
) -> None:
    judge, model = judge_of(verdict(score, "Short and polite."))
    value = (
        "Is it polite?"
        if threshold is None
        else {"rubric": "Is it polite?", "threshold": threshold}
    )
    result = judged("answer_judge", value, judge)
    assert (result.verdict, result.score) == (outcome, score)
    asked = getattr(model.asked[0][0], "text", "")
    assert "Is it polite?" in asked.split("BEGIN DATA")[0]
    if outcome == "failed":
        assert (
            f"{score:.2f} of at least {threshold or 0.7:.2f}: Short and polite."
            in result.explanation
        )


def test_a_check_may_name_its_judge() -> None:
    other = JudgeModel("other", ScriptedModel(verdict(1)))
    result = judged("answer_judge", {"rubric": "r", "model": "other"}, Judge({"other": other}))
    assert result.actual["judge"] == "other"


@pytest.mark.parametrize(("kind", "value"), [("expected_answer", "x"), ("answer_judge", "x")])
def test_without_a_judge_it_is_not_judged_and_says_how_to_name_one(kind: str, value: str) -> None:
    for judge in (None, Judge({})):
        result = judged(kind, value, judge)
        assert result.verdict == "not_judged"
        assert result.score is None
        assert "no judge is configured. Name one with --judge-model" in result.explanation


@pytest.mark.parametrize("reply", [says("correct"), grade("right"), ModelError("down")])
def test_a_judge_that_fails_or_talks_nonsense_is_no_verdict(reply: Reply | Exception) -> None:
    result = judged("expected_answer", "x", judge_of(reply)[0])
    assert result.verdict == "not_judged"
    assert result.explanation.startswith("This could not be judged: the judge j gave no")


def test_a_judge_may_be_one_way_among_others_to_pass() -> None:
    either = [{"answer_contains": "$120"}, {"expected_answer": "Three orders."}]
    assert judged("any_of", either, judge_of(ModelError("down"))[0]).verdict == "passed"
    assert (
        judged(
            "any_of", [{"answer_contains": "$99"}, either[1]], judge_of(grade("correct"))[0]
        ).verdict
        == "passed"
    )
    assert (
        judged(
            "any_of", [{"answer_contains": "$99"}, either[1]], judge_of(ModelError("x"))[0]
        ).verdict
        == "not_judged"
    )


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("expected_answer", ""),
        ("expected_answer", 5),
        ("expected_answer", {"answer": "x"}),
        ("expected_answer", {"text": "x", "model": 5}),
        ("answer_judge", {"threshold": 0.5}),
        ("answer_judge", {"rubric": "x", "threshold": 2}),
        ("answer_judge", {"rubric": "x", "threshold": "high"}),
        ("answer_judge", ["x"]),
    ],
)
def test_what_does_not_fit_is_refused(kind: str, value: Any) -> None:
    with pytest.raises(InvalidValue):
        VOCABULARY.parse(kind, value)


@pytest.mark.parametrize(
    ("kind", "needed"),
    [("answer_judge", True), ("expected_answer", True), ("graded", False), ("must_call", None)],
)
def test_what_nothing_stands_in_for_needs_a_judge(kind: str, needed: bool | None) -> None:
    assert KINDS.get(kind).needs_judge is needed
