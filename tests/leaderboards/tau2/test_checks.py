"""The rules of tau2-bench as checks: what a failure says."""

from __future__ import annotations

import anyio
import pytest

from harness.judging.checks.registry import KINDS
from harness.leaderboards.tau2.checks import RULE
from harness.types import AssistantMessage, Check, CheckResult, Reply
from tests.judging.checks.scenes import scene


def told(text: str, answer: str) -> CheckResult:
    reply = Reply(text=answer, stop="end")
    check = Check(kind=RULE, params={"component": "COMMUNICATE", "text": text})
    evidence = scene(answer=answer, messages=(AssistantMessage(reply=reply),))
    return anyio.run(KINDS.get(RULE).evaluate, check, evidence)


@pytest.mark.parametrize(
    ("text", "verdict", "lines"),
    [
        ("1050", "passed", 0),
        ("2050", "failed", 1),
        ("1,050", "failed", 2),
    ],
)
def test_a_comma_in_what_is_to_be_told_is_named_as_the_cause_where_there_is_one(
    text: str, verdict: str, lines: int
) -> None:
    found = told(text, "It was 1,050 dollars.")
    assert (found.verdict, len(found.explanation.splitlines())) == (verdict, lines)
    assert ("A comma in it" in found.explanation) is (lines > 1)
