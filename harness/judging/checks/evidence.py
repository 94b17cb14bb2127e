"""What a check may use to judge a trial."""

from __future__ import annotations

from dataclasses import dataclass

from harness.judging.checks.judge.judge import Judge
from harness.types import Case, CheckResult, Presentation, ToolList, Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything that a check may use."""

    case: Case
    """What was asked."""
    transcript: Transcript
    """What happened."""
    tools: ToolList
    """The tools that this user was offered, as the server describes them."""
    presented: Presentation | None = None
    """What the model saw of them under a variant; ``None``: what the server says of them."""
    judge: Judge | None = None
    """Asked for what no assertion can decide; ``None`` if there is no judge."""
    turn_results: tuple[CheckResult, ...] = ()
    """Results of the checks of single turns, while the whole conversation is judged."""
    must_not_hold: bool = False
    """Whether the check must fail, since it stands under a ``not``: what it names is forbidden."""
