"""Faithfulness, from 0 to 1: does the answer address the question, grounded in tool results?

A judge decides if there is one. Otherwise a deterministic score is used: the share of the keywords
that the answer has, times the share of its figures that are in the question or in a tool's output.
This is not a judgement, and is labelled so.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from harness.judging.checks.explaining.transcript_lines import no_answer
from harness.judging.checks.judge.prompt import JudgeQuestion, build_material
from harness.judging.checks.kind import Evidence
from harness.judging.matching.amounts import find_amounts, find_figures
from harness.judging.matching.json_values import format_value, iterate_leaves
from harness.judging.matching.texts import find_passage, format_line
from harness.types import JsonObject, Judgement

STAND_IN = "no judge: keywords and grounding"
"""The label of a score without a judge."""

RUBRIC = """\
How faithful is the answer? Two things count: that it addresses the query, and that \
everything it states rests on
the tool outputs. "keywords" in the material are what a good answer is expected to speak of, \
in these or other words.
1.0: the query is fully addressed, and every statement is grounded in the tool outputs.
0.7 to 0.9: addressed and grounded, with minor details missing.
0.4 to 0.6: partially addressed, or some statements have no ground in the tool outputs.
0.0 to 0.3: hardly addressed, or essential statements are invented.
Rounding, unit conversion and plain arithmetic on what the tools returned are grounded."""
"""The instructions for a judge."""

_COUNTING = 12
"""Whole numbers up to this one count things or number lists; they need no source."""
_ROUNDING = 0.005
"""Relative distance of a figure from its source that counts as rounding."""
_SEARCHED = 100_000
"""At most so many characters of a text are searched for figures."""
_MAX_TOLD = 5


class Faithfulness(NamedTuple):
    """A score and its origin."""

    score: float
    """From 0 to 1."""
    explanation: str
    """The judge's reason, or what is missing from the answer."""
    judgement: Judgement | None = None
    """The judge's verdict; ``None`` for the deterministic score."""


async def grade_faithfulness(
    keywords: Sequence[str], model: str | None, evidence: Evidence
) -> Faithfulness:
    """Return the score by the judge ``model`` (or the default judge), else the deterministic one.

    Raises:
        JudgeError: there is a judge, but it gave no verdict.
    """
    if evidence.judge is None or not evidence.judge.is_available(model):
        return grade_without_judge(keywords, evidence)
    material = describe_conversation(evidence, keywords=list(keywords))
    question = JudgeQuestion(instructions=RUBRIC, material=material)
    judgement = await evidence.judge.grade(question, model)
    return Faithfulness(judgement.score, judgement.explanation, judgement)


def describe_conversation(evidence: Evidence, **more: object) -> JsonObject:
    """Return what happened in a trial, in the form that a judge is shown."""
    outputs = [
        {
            "tool": call.tool,
            "arguments": format_value(call.arguments, 2_000),
            "outcome": call.outcome,
            # Some servers give a structured result without any text.
            "result": call.told_text
            if call.told_text.strip() or call.structured is None or call.injected is not None
            else format_value(call.structured, 1_000_000),
        }
        for call in evidence.transcript.tool_calls
    ]
    outputs += [
        {"resource": read.uri, "outcome": read.outcome, "result": read.shown_text}
        for read in evidence.transcript.resource_reads
    ]
    if (got := evidence.transcript.used_prompt) is not None:
        outputs.append(
            {"prompt": str(got.use), "outcome": got.outcome, "result": "\n\n".join(got.texts)}
        )
    return build_material(evidence.case.prompt, outputs, evidence.transcript.answer, **more)


# ── Without a judge ──────────────────────────────────────────────────────────────────────────


def grade_without_judge(keywords: Sequence[str], evidence: Evidence) -> Faithfulness:
    """Return the share of keywords in the answer times the share of its figures with a source."""
    answer = evidence.transcript.answer
    if not answer.strip():
        return Faithfulness(0.0, no_answer(evidence.transcript))
    absent = [keyword for keyword in keywords if find_passage(keyword, answer) is None]
    total, invented = _check_figures(answer, evidence)
    coverage = 1 - len(absent) / len(keywords) if keywords else 1.0
    grounding = 1 - len(invented) / total if total else 1.0
    told = [f"The answer lacks {_format_list(absent)}."] if absent else []
    told += [f"No tool returned {_format_list(invented)}."] if invented else []
    explanation = " ".join(told) or "All keywords and figures are accounted for."
    return Faithfulness(coverage * grounding, explanation)


def _check_figures(answer: str, evidence: Evidence) -> tuple[int, list[str]]:
    """Return the number of figures in the answer, and those without a source."""
    # The sources of figures: the question, and tool results without error.
    good = [call for call in evidence.transcript.tool_calls if not call.told_as_error]
    sources = [evidence.case.prompt, *(call.told_text for call in good)]
    sources += [read.text for read in evidence.transcript.resource_reads if read.outcome == "ok"]
    sources += got.texts if (got := evidence.transcript.used_prompt) else ()
    sources += [
        " ; ".join(iterate_leaves(call.structured))
        for call in good
        if call.structured is not None and call.injected is None
    ]
    # An answer may name the year of a date, or the parts of 120/350.
    # All without signs, since a loss of 5 may be -5 in the data.
    known = sorted(abs(value) for text in sources for value in find_figures(text[:_SEARCHED]))
    found = [
        amount
        for amount in find_amounts(answer[:_SEARCHED])
        if not all(value.is_integer() and abs(value) <= _COUNTING for value in amount.readings)
    ]
    invented = [
        amount.text
        for amount in found
        if not any(_is_near(abs(value), known) for value in amount.readings)
    ]
    return len(found), invented


def _is_near(value: float, known: Sequence[float]) -> bool:
    place = bisect_left(known, value * (1 - _ROUNDING))
    return place < len(known) and known[place] <= value * (1 + _ROUNDING)


def _format_list(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _MAX_TOLD} more" if len(texts) > _MAX_TOLD else ""
    return ", ".join(f"“{format_line(text, 60)}”" for text in texts[:_MAX_TOLD]) + more
