"""Judges for tests: verdicts as replies, and a judge of them without any network."""

from __future__ import annotations

import json
from typing import Any

from harness.judging.checks.judge.judge import Judge, JudgeModel
from harness.types import Reply
from tests.support import ScriptedModel, Step, asks


def verdict(score: Any, explanation: Any = "Because.", **more: Any) -> Reply:
    return asks(("verdict", {"explanation": explanation, "score": score, **more}))


def grade(word: Any, explanation: str = "Because.") -> Reply:
    return asks(("verdict", {"explanation": explanation, "grade": word}))


def judge_of(*steps: Step, timeout_s: float = 5.0) -> tuple[Judge, ScriptedModel]:
    """Return a judge whose model gives these replies, and the model."""
    model = ScriptedModel(*steps)
    return Judge({"j": JudgeModel("j", model, timeout_s=timeout_s)}, "j"), model


def materials(model: ScriptedModel) -> list[dict[str, Any]]:
    """Return the material of each question that the judge was asked."""
    found = []
    for conversation in model.asked:
        lines = getattr(conversation[0], "text", "").split("\n")
        found.append(json.loads(lines[lines.index("BEGIN DATA") + 1]))
    return found
