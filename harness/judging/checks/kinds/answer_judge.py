"""Checks that a judge decides: ``expected_answer`` and ``answer_judge``.

Without a judge, or without its verdict, they are *not judged*: that is an error of the case.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from harness.base import JudgeError
from harness.judging.checks.explaining.transcript_lines import quote_answer
from harness.judging.checks.judge.faithfulness import describe_conversation
from harness.judging.checks.judge.judge import Judge
from harness.judging.checks.judge.prompt import GRADE, JudgeQuestion
from harness.judging.checks.kind import (
    NOTHING_WRONG,
    CheckDoc,
    CheckFinding,
    Evidence,
    Explanation,
    FunctionKind,
    make_single_reader,
)
from harness.judging.checks.parsing import (
    SHARE,
    TEXT,
    check_model,
    either_form,
    read_either_form,
    read_share,
    read_text,
)
from harness.judging.matching.json_values import format_value
from harness.judging.matching.texts import format_line
from harness.types import JsonObject, Judgement

THRESHOLD = 0.7
"""The score from which on an answer satisfies a rubric."""

COMPARE = """\
Compare the answer with "expected_answer" in the material, which is right.
correct: the answer says all that the expected answer says, in whatever words, and nothing that \
contradicts it.
Further true details do not matter.
partially correct: it says a part of it, or all of it beside something that contradicts it.
wrong: it says something else, or nothing."""
"""The instructions for a judge of ``expected_answer``."""

BY_RUBRIC = """\
Grade how well the answer satisfies this rubric, from 0 (not at all) to 1 (in every point):

{rubric}"""
"""The instructions for a judge of ``answer_judge``."""


# ── Reading ──────────────────────────────────────────────────────────────────────────────────


def _read_answer(value: Any) -> JsonObject:
    return check_model(read_either_form(value, (), "text", read_text, optional=("model",)))


def _read_rubric(value: Any) -> JsonObject:
    found = read_either_form(
        value, (), "rubric", partial(read_text, what="rubric"), optional=("threshold", "model")
    )
    threshold = read_share(found.get("threshold", THRESHOLD), ("threshold",))
    return check_model({**found, "threshold": threshold})


# ── Judging ──────────────────────────────────────────────────────────────────────────────────


async def ask_judge(
    question: JudgeQuestion, params: JsonObject, evidence: Evidence
) -> CheckFinding:
    """Return what the judge finds, or that the check is not judged, since there is no verdict."""
    found = CheckFinding(
        label=format_value(params.get("text", params.get("rubric")), 60),
        expected={key: params[key] for key in ("text", "rubric", "threshold") if key in params},
    )
    try:
        # A judge without models raises the error that says how to name one.
        judgement = await (evidence.judge or Judge({})).grade(question, params.get("model"))
    except JudgeError as error:
        why = [f"This could not be judged: {error}"], None
        return replace(found, verdict="not_judged", why=why)
    # Of the grades, only `correct` is 1.0.
    passed = judgement.score >= params.get("threshold", 1.0)
    return replace(
        found,
        actual={
            "grade": judgement.grade,
            "score": judgement.score,
            "explanation": judgement.explanation,
            "judge": judgement.model,
            "prompt_version": judgement.prompt_version,
        },
        why=NOTHING_WRONG if passed else _explain_judgement(params, judgement, evidence),
        score=judgement.score,
    )


def _explain_judgement(params: JsonObject, judgement: Judgement, evidence: Evidence) -> Explanation:
    score = f"{judgement.score:.2f} of at least {params.get('threshold', 1.0):.2f}"
    finds = f"The judge {judgement.model} finds the answer {judgement.grade or score}"

    return [
        f"{finds}: {format_line(judgement.explanation, 600)}",
        quote_answer(evidence.transcript, "The answer begins"),
    ], (
        "See in the transcript (--debug) whether the tools returned what a right answer needs. If "
        "the judge errs, make the expectation more precise, or measure the judge with harness "
        "judge-check."
    )


async def _judge_by_answer(params: JsonObject, evidence: Evidence) -> CheckFinding:
    material = describe_conversation(evidence, expected_answer=params["text"])
    question = JudgeQuestion(instructions=COMPARE, material=material, scale=GRADE)
    return await ask_judge(question, params, evidence)


EXPECTED_ANSWER = FunctionKind(
    name="expected_answer",
    needs_model=True,
    schema=either_form("text", TEXT, model=TEXT),
    read=make_single_reader(_read_answer),
    judge=_judge_by_answer,
    needs_judge=True,
    traits=lambda _params: ("judge_decides",),
    doc=CheckDoc(
        section="Judged",
        asks=(
            "the answer says the same as this one: *correct*; *partially correct* and *wrong* fail"
        ),
        fails=("The judge … finds the answer partially correct: …",),
        example="expected_answer: It left the warehouse on 3 May.",
    ),
)


async def _judge_by_rubric(params: JsonObject, evidence: Evidence) -> CheckFinding:
    instructions = BY_RUBRIC.format(rubric=params["rubric"].strip())
    question = JudgeQuestion(instructions=instructions, material=describe_conversation(evidence))
    return await ask_judge(question, params, evidence)


ANSWER_JUDGE = FunctionKind(
    name="answer_judge",
    needs_model=True,
    schema=either_form("rubric", TEXT, threshold={**SHARE, "default": THRESHOLD}, model=TEXT),
    read=make_single_reader(_read_rubric),
    judge=_judge_by_rubric,
    needs_judge=True,
    traits=lambda _params: ("judge_decides",),
    doc=CheckDoc(
        section="Judged",
        asks=(
            "the answer satisfies a rubric in your words, from 0 to 1, at `threshold` "
            "(0.7) or above"
        ),
        fails=("The judge … finds the answer …: …",),
        example='answer_judge: {rubric: "Is it polite and short?", threshold: 0.8}',
    ),
)
