"""Is it right: assertions over a transcript, one file a family, found by name through `KINDS`.

A check is data (`harness.types.Check`); a `CheckKind` knows how to read it from a suite and how to
judge it. To add one, write a class that satisfies `CheckKind` and name it here or under the
entry-point group ``harness.checks``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from harness.registry import Registry
from harness.types import Case, Check, CheckResult, JsonObject, ToolList, Transcript

Path = tuple[str | int, ...]
"""Steps from a value to a part of it: ``(2, "args")``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that a check may look at."""

    case: Case
    """What was asked."""
    transcript: Transcript
    """What happened."""
    tools: ToolList
    """What this user was offered."""


class CheckKind(Protocol):
    """One kind of check."""

    @property
    def schema(self) -> JsonObject:
        """JSON Schema of the value that a suite gives under this kind's name."""
        ...

    def parse(self, value: Any) -> Sequence[tuple[Path, JsonObject]]:
        """Return one ``(path in value, normalised params)`` for each check that ``value`` asks for.

        Raises:
            InvalidValue: with the path to what does not fit.
        """
        ...

    async def evaluate(self, check: Check, evidence: Evidence) -> CheckResult:
        """Judge.

        Raises:
            JudgeError: it cannot be judged.
        """
        ...


KINDS: Registry[CheckKind] = Registry(
    "harness.checks",
    {
        "must_call": "harness.checks.calls:MUST_CALL",
        "must_not_call": "harness.checks.calls:MUST_NOT_CALL",
        "answer_contains": "harness.checks.answers:ANSWER_CONTAINS",
        "answer_not_contains": "harness.checks.answers:ANSWER_NOT_CONTAINS",
    },
)
"""Check name → its `CheckKind`."""


async def evaluate(evidence: Evidence) -> tuple[CheckResult, ...]:
    """Judge all checks of the case, in the suite's order."""
    return tuple([await KINDS.get(check.kind).evaluate(check, evidence) for check in evidence.case.checks])
