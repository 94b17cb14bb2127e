"""Results of checks, and what judges said."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal, TypeAlias

from harness.types.basics import Location, left_out_if
from harness.types.cases import CheckTrait, Severity
from harness.types.shared_dataclass import dataclass

Verdict: TypeAlias = Literal["passed", "failed", "not_judged"]
"""A check's outcome; ``not_judged`` (a judge failed, say) is never a score and never a pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One check's verdict and its reason."""

    kind: str
    """The kind of check."""
    label: str
    """The check in a few words: ``must_call get_orders``."""
    verdict: Verdict
    """Whether it passed."""
    severity: Severity = "fail"
    """Whether a failure fails the trial."""
    score: float | None = None
    """0 to 1, if the check is graded."""
    expected: Any = None
    """What was expected (JSON)."""
    actual: Any = None
    """What was found (JSON)."""
    explanation: str = ""
    """What happened, for a reader who wants to act on it; empty if there is nothing to say."""
    code: str | None = field(default=None, metadata=left_out_if(None))
    """The check's own word for what is wrong, for programs: a leaderboard's ``error_type``."""
    hint: str | None = None
    """What usually helps."""
    at: Location | None = None
    """Where the suite states the check."""
    turn: int | None = field(default=None, metadata=left_out_if(None))
    """The `Turn` (from 1) that the check belongs to; ``None`` if it belongs to the whole case."""
    attempted: bool | None = field(default=None, metadata=left_out_if(None))
    """Of a policy, as the next three (else ``None``): whether a call that it is about was tried."""
    reached_server: bool | None = field(default=None, metadata=left_out_if(None))
    """Whether such a call was sent."""
    executed: bool | None = field(default=None, metadata=left_out_if(None))
    """Whether the server carried one out."""
    line_crossed: bool | None = field(default=None, metadata=left_out_if(None))
    """Whether somebody did or got what they must not: the model, the server or the user."""
    traits: tuple[CheckTrait, ...] = field(default=(), metadata=left_out_if(()))
    """What holds for it because of its kind: reports go by that, and know no kinds."""
    expected_tools: tuple[str, ...] = field(default=(), metadata=left_out_if(()))
    """The tools that had to be called; of alternatives, those that were, or all if none was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A judge's verdict on one question, as a run keeps it."""

    question: str
    """SHA-256 of everything that the judge was told: equal digests, equal questions."""
    model: str
    """Name of the judge."""
    prompt_version: str
    """Version of the judge's prompt."""
    score: float
    """0 to 1."""
    grade: str | None = None
    """The word that it chose, if it was asked for one: ``correct``, ``partially correct``,
    ``wrong``."""
    explanation: str = ""
    """Its reason."""
    cached: bool = False
    """Whether an equal question had been judged before, so that this judgement cost nothing."""


WRITTEN_CALL = "written_call"
"""`CheckResult.kind` of the warning on a call that the model wrote as text."""
UNMARKED_FAILURE = "unmarked_failure"
"""`CheckResult.kind` of the warning on results that read like failures and are not marked."""
FAULT_HITS = "fault"
"""`CheckResult.kind` of what a fault did: ``actual`` has the calls that it hit, by its kind."""
ATTACK = "attack"
"""`CheckResult.kind` of what became of an attack: ``actual`` has its ``outcome``."""
CONFUSED_DEPUTY = "confused_deputy"
"""`CheckResult.kind` of what an identity got by an attack that it has no right to."""
HELD_BACK = "held_back"
"""`CheckResult.kind` of the warning on tools that the built-in baseline held back."""
