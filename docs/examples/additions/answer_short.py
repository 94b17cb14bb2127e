# harness/judging/checks/kinds/answer_short.py
"""A check on the length of the answer: ``answer_short``."""

from __future__ import annotations

from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    Evidence,
    FunctionKind,
    make_single_reader,
)
from harness.judging.checks.parsing import read_whole_number
from harness.types import JsonObject


def _judge(params: JsonObject, evidence: Evidence) -> CheckFinding:
    words, most = len(evidence.transcript.answer.split()), params["words"]
    lines = [] if words <= most else [f"Answer too long: {words} words, at most {most}"]
    # A check fails if there is anything to explain; the second part of `why` would be advice.
    return CheckFinding(label=f"{most} words", expected=most, actual=words, why=(lines, None))


ANSWER_SHORT = FunctionKind(
    name="answer_short",
    schema={"type": "integer", "minimum": 1},
    read=make_single_reader(lambda value: {"words": read_whole_number(value, (), at_least=1)}),
    judge=_judge,
    doc=CheckDoc(
        section="Answers",
        asks="the answer has at most so many words",
        fails=("Answer too long",),
        example="answer_short: 20",
    ),
)
"""``answer_short: 20``."""
