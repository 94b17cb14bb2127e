"""Measures how well a judge agrees with people who graded the same answers."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from harness.base import JudgeError
from harness.judging import (
    FAIL,
    GRADE,
    PASS,
    SCORE,
    Agreement,
    Judge,
    JudgeModel,
    LabelledAnswer,
    compare_labels,
)
from harness.runner.run_context import open_models
from harness.types import Judgement, ModelSpec, Usage, dataclass

CONCURRENCY = 4
"""Number of simultaneous judgements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedAnswer:
    """One answer, graded by a person and by the judge."""

    item: LabelledAnswer
    """The answer and the person's grade."""
    judgement: Judgement | None
    """The judge's grade; ``None`` if there is none."""
    error: str | None = None
    """Why it is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeMeasurement:
    """The result of measuring a judge."""

    judge: str
    """Its name."""
    threshold: float
    """The score from which an answer passes."""
    answers: tuple[GradedAnswer, ...]
    """The answers, in the order of the file."""
    usage: Usage
    """What the judge used."""

    @property
    def judged_answers(self) -> tuple[GradedAnswer, ...]:
        """The answers with a verdict of the judge."""
        return tuple(answer for answer in self.answers if answer.judgement is not None)

    @property
    def agreement(self) -> Agreement:
        """Agreement of judge and person, over the judged answers.

        By grades if every answer is compared with an expected one, otherwise by pass and fail.
        """
        # Grades and scores have no labels in common, but pass and fail.
        graded = all(answer.item.question.scale is GRADE for answer in self.answers)
        labels = tuple(GRADE.grades) if graded else (PASS, FAIL)
        pairs = [self.format_labels(answer, in_grades=graded) for answer in self.judged_answers]
        return compare_labels(pairs, labels)

    @property
    def mean_difference(self) -> float | None:
        """Mean distance of the judge's score from the person's; ``None`` if no person scored."""
        gaps = [
            abs(answer.judgement.score - answer.item.human)
            for answer in self.judged_answers
            if answer.judgement and isinstance(answer.item.human, float)
        ]
        return sum(gaps) / len(gaps) if gaps else None

    @property
    def disagreements(self) -> tuple[GradedAnswer, ...]:
        """The answers on which judge and person disagree."""
        graded = self.agreement.labels != (PASS, FAIL)
        return tuple(
            answer
            for answer in self.judged_answers
            if len(set(self.format_labels(answer, in_grades=graded))) > 1
        )

    def format_labels(self, answer: GradedAnswer, *, in_grades: bool = False) -> tuple[str, str]:
        """Return the person's label and the judge's for a judged answer."""
        assert answer.judgement is not None
        human, judged = answer.item.human, answer.judgement
        if in_grades:
            return str(human), str(judged.grade)
        threshold = self.threshold
        if answer.item.question.scale is not SCORE:
            human, threshold = GRADE.grades[str(human)], 1.0
        label = human if isinstance(human, str) else PASS if human >= threshold else FAIL
        return label, PASS if judged.score >= threshold else FAIL


async def check_judge(
    items: Sequence[LabelledAnswer], spec: ModelSpec, threshold: float
) -> JudgeMeasurement:
    """Let the model of ``spec`` judge every item, several at a time.

    Raises:
        UsageError: the model cannot be opened.
    """
    # By place: judgements end in any order, and the file's order is kept.
    measured: dict[int, GradedAnswer] = {}
    limiter = anyio.CapacityLimiter(CONCURRENCY)
    async with open_models((spec,)) as models:
        judge = Judge({spec.name: JudgeModel(spec.name, models[spec.name])}, spec.name)

        async def measure_answer(place: int, item: LabelledAnswer) -> None:
            async with limiter:
                try:
                    judgement = await judge.grade(item.question)
                    measured[place] = GradedAnswer(item=item, judgement=judgement)
                except JudgeError as error:
                    measured[place] = GradedAnswer(item=item, judgement=None, error=str(error))

        async with anyio.create_task_group() as group:
            for numbered in enumerate(items):
                group.start_soon(measure_answer, *numbered)
    answers = tuple(measured[place] for place in range(len(items)))
    return JudgeMeasurement(
        judge=spec.name, threshold=threshold, answers=answers, usage=judge.usage
    )
