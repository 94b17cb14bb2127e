"""Judges for tests: verdicts as replies, and a judge of them without any network."""

from __future__ import annotations

from typing import Any

from harness.checks.judge.judge import Judge, JudgeModel
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
