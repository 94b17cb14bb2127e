"""The judge: a configured model that grades what no assertion can.

`JudgeModel` is one such model, shared by all trials of a run: it asks, reads the verdict, and
caches verdicts by question. `Judge` serves the checks of one trial; it adds up what that trial's
judgements used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import anyio

from harness.base import JudgeError, ModelError
from harness.judging.checks.judge.prompt import (
    JUDGE_PROMPT_VERSION,
    SYSTEM,
    VERDICT,
    JudgeQuestion,
    NoVerdict,
    read_verdict,
)
from harness.models import Model
from harness.types import (
    AssistantMessage,
    Judgement,
    Message,
    ModelSpec,
    Reply,
    ToolAnswer,
    ToolMessage,
    Usage,
    UserMessage,
)

DEFAULT_JUDGE = "gpt-4o"
"""The model that judges if it is configured and no other is named."""

JUDGE_TIMEOUT_S = 60.0
"""Seconds for one judgement, including its second attempt and all waits."""

ATTEMPTS = 2
"""A judge that gives no valid verdict is told so and asked again, once."""

NO_JUDGE = (
    "no judge is configured. Name one with --judge-model or judge_model: in the suite, "
    f"or configure a model named {DEFAULT_JUDGE}."
)
"""The message where a judge is needed and there is none."""

RECORDED_JUDGE = "recorded"
"""The judge's name for verdicts that came with a recording made elsewhere."""

MAX_EXPLANATION = 1_000
"""At most so many characters of a judge's explanation are kept."""


def spec_for_judging(spec: ModelSpec) -> ModelSpec:
    """Return ``spec`` for judging: at temperature 0, if the model's API has a temperature."""
    return replace(spec, temperature=0.0)


class JudgeModel:
    """One model that judges, for a whole run."""

    def __init__(self, name: str, model: Model, *, timeout_s: float = JUDGE_TIMEOUT_S) -> None:
        """``model`` is open; the caller closes it."""
        self.name = name
        self._model = model
        self._timeout_s = timeout_s
        self._kept: dict[str, Judgement] = {}
        # A lock for each question, so that different ones are asked at the same time.
        self._locks: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)

    async def grade(self, question: JudgeQuestion, spend: Callable[[Usage], None]) -> Judgement:
        """Return the judgement, from the cache for an equal question.

        ``spend`` is called with what the judgement used.

        Raises:
            JudgeError: there is no verdict.
        """
        try:
            # Around the lock, so that the wait for an equal question counts as well.
            with anyio.fail_after(self._timeout_s):
                return await self._grade_uncached(question, spend)
        except TimeoutError:
            raise JudgeError(
                f"the judge {self.name} gave no verdict within {self._timeout_s:g} s"
            ) from None
        except ModelError as error:
            raise JudgeError(f"the judge {self.name} gave no reply: {error}") from error

    async def _grade_uncached(
        self, question: JudgeQuestion, spend: Callable[[Usage], None]
    ) -> Judgement:
        key = question.digest
        async with self._locks[key]:  # an equal question waits for the first one's verdict
            if key in self._kept:
                return replace(self._kept[key], cached=True)
            # Only a verdict is kept: after an error, an equal question is asked anew.
            self._kept[key] = await self._ask_model(question, spend)
            return self._kept[key]

    async def _ask_model(
        self, question: JudgeQuestion, spend: Callable[[Usage], None]
    ) -> Judgement:
        conversation: list[Message] = [UserMessage(text=question.text)]
        problem = ""
        for _ in range(ATTEMPTS):
            try:
                reply = await self._model.answer(conversation, question.scale.tools, SYSTEM)
            except ModelError as error:
                # A request that failed may have used tokens, too.
                spend(error.usage)
                raise
            spend(reply.usage)
            try:
                score, grade, explanation = read_verdict(reply, question.scale)
            except NoVerdict as error:
                problem = str(error)
                conversation += _correction_messages(reply, problem)
                continue
            return Judgement(
                question=question.digest,
                model=self.name,
                prompt_version=JUDGE_PROMPT_VERSION,
                score=score,
                grade=grade,
                explanation=explanation[:MAX_EXPLANATION],
            )
        raise JudgeError(f"the judge {self.name} gave no verdict in {ATTEMPTS} attempts: {problem}")


def _correction_messages(reply: Reply, problem: str) -> tuple[Message, ...]:
    """Return the messages after a reply without valid verdict; every call in it is answered."""
    demand = f"Call {VERDICT} exactly once, with the fields of its schema."
    words = f"That is no verdict: {problem}. {demand}"
    answers = tuple(
        ToolAnswer(request_id=request.id, text=words, is_error=True)
        for request in reply.tool_requests
    )
    following = ToolMessage(answers=answers) if answers else UserMessage(text=words)
    return AssistantMessage(reply=reply), following


class Judge:
    """Gives verdicts to the checks of one trial."""

    def __init__(
        self,
        models: Mapping[str, JudgeModel],
        default: str | None = None,
        *,
        recorded: Iterable[Judgement] = (),
    ) -> None:
        """Use ``models``.

        Args:
            models: Name → judge.
            default: Name of the judge for checks that name none; ``None`` without such a judge.
            recorded: Judgements of an earlier run; one of the same question by the same judge is
                reused.
        """
        self._models = models
        self._default = default
        # By question and judge: neither another judge's verdict nor one on other words is reused.
        self._recorded = {
            (judgement.question, judgement.model): judgement for judgement in recorded
        }
        self.usage = Usage()
        """What the judgements of this trial used; reused ones cost nothing."""
        self.given: Mapping[str, Judgement] = {}
        """Statement → the judgement by `RECORDED_JUDGE` that came with the recorded trial; see
        `take_over`."""
        self.judgements: list[Judgement] = []
        """Every judgement of this trial, in order."""

    def is_available(self, model: str | None = None) -> bool:
        """Whether there is a judge: the one called ``model``, or the default."""
        return (model or self._default) is not None

    async def grade(self, question: JudgeQuestion, model: str | None = None) -> Judgement:
        """Return the judgement by the judge called ``model``, or by the default one.

        Raises:
            JudgeError: there is none.
        """
        name = model or self._default or RECORDED_JUDGE
        recorded = self._recorded.get((question.digest, name))
        if recorded is None and name == RECORDED_JUDGE:
            raise JudgeError(NO_JUDGE)
        if recorded is not None:
            judgement = replace(recorded, cached=True)
        elif name in self._models:
            judgement = await self._models[name].grade(question, self._record_usage)
        else:
            raise JudgeError(
                f"the recorded run has no verdict of {name} on this question as it is asked now. "
                "Name a judge with --judge-model to have it judged."
            )
        self.judgements.append(judgement)
        return judgement

    def take_over(self, question: JudgeQuestion, given: Judgement) -> None:
        """Use ``given``, which came with a recording, as the judgement of ``question``.

        It is used only without a judge; `is_available` is not affected.
        """
        self._recorded[question.digest, RECORDED_JUDGE] = replace(
            given, question=question.digest, cached=True
        )

    def _record_usage(self, usage: Usage) -> None:
        self.usage += usage
