from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from harness.base.errors import UsageError
from harness.judging.checks.judge.labelled_answers import LabelledAnswer, read_labelled
from harness.runner.judge_measurement import JudgeMeasurement, check_judge
from harness.types import ModelSpec
from tests.fake_provider import FakeProvider, Incoming, Step, call, say
from tests.models.support import spec_for

SCORES = {"a": 0.9, "b": 0.75, "c": 0.2, "d": 0.8}


def by_answer(request: Incoming) -> Step:
    """Judge an answer by its one letter."""
    lines = request.prompt.split("\n")
    answer = json.loads(lines[lines.index("BEGIN DATA") + 1])["answer"]
    if answer in SCORES:
        return call("verdict", {"explanation": f"It is {answer}.", "score": SCORES[answer]})
    if answer in ("correct", "partially correct", "wrong"):
        return call("verdict", {"explanation": f"It is {answer}.", "grade": answer})
    return say("no idea")


def labels(folder: Path, *records: dict[str, object]) -> tuple[LabelledAnswer, ...]:
    path = folder / "labels.jsonl"
    path.write_text("".join(json.dumps({"query": "q", **record}) + "\n" for record in records))
    return read_labelled(path)


def measure(items: tuple[LabelledAnswer, ...], threshold: float = 0.7) -> JudgeMeasurement:
    with FakeProvider(by_answer) as provider:
        return anyio.run(check_judge, items, spec_for("chat", provider.url), threshold)


def test_scores_are_compared_by_whether_they_pass_and_by_their_distance(tmp_path: Path) -> None:
    result = measure(
        labels(
            tmp_path,
            {"answer": "a", "human": 1.0},
            {"answer": "b", "human": "pass"},
            {"answer": "c", "human": 0.3},
            {"answer": "d", "human": 0.4},
        )
    )
    assert result.agreement.labels == ("pass", "fail")
    assert result.agreement.confusion == ((2, 0), (1, 1))
    assert result.agreement.kappa == pytest.approx(0.5)
    assert result.mean_difference == pytest.approx((0.1 + 0.1 + 0.4) / 3)
    assert [answer.item.at.line for answer in result.disagreements] == [4]
    assert (result.usage.input_tokens or 0) > 0


def test_the_threshold_decides_what_passes_for_both(tmp_path: Path) -> None:
    items = labels(tmp_path, {"answer": "b", "human": 0.7}, {"answer": "d", "human": 0.9})
    assert measure(items, 0.78).agreement.confusion == ((1, 0), (0, 1))


def test_grades_are_compared_as_grades(tmp_path: Path) -> None:
    result = measure(
        labels(
            tmp_path,
            {"answer": "correct", "human": "correct", "expected_answer": "x"},
            {"answer": "partially correct", "human": "wrong", "expected_answer": "x"},
        )
    )
    assert result.agreement.labels == ("correct", "partially correct", "wrong")
    assert result.agreement.confusion == ((1, 0, 0), (0, 0, 0), (0, 1, 0))
    assert result.mean_difference is None


def test_grades_beside_scores_are_compared_by_whether_they_pass(tmp_path: Path) -> None:
    result = measure(
        labels(
            tmp_path,
            {"answer": "partially correct", "human": "wrong", "expected_answer": "x"},
            {"answer": "correct", "human": "correct", "expected_answer": "x"},
            {"answer": "a", "human": "pass"},
        )
    )
    assert result.agreement.confusion == ((2, 0), (0, 1))


def test_an_answer_without_a_verdict_is_kept_apart_and_counts_for_nothing(tmp_path: Path) -> None:
    result = measure(
        labels(tmp_path, {"answer": "?", "human": "fail"}, {"answer": "a", "human": "pass"})
    )
    assert result.agreement.total == 1
    assert result.agreement.kappa is None
    assert "gave no verdict" in (result.answers[0].error or "")


def test_a_judge_that_cannot_be_opened_is_a_usage_error(tmp_path: Path) -> None:
    spec = ModelSpec(name="m", provider="openai", model_id="m")
    with pytest.raises(UsageError):
        anyio.run(check_judge, labels(tmp_path, {"answer": "a", "human": 1}), spec, 0.7)
