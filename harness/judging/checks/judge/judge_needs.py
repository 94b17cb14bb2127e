"""The checks that need a judge, to choose, open and price one before the first trial."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.judging.checks import KINDS
from harness.judging.checks.nested_checks import walk_checks
from harness.types import Check


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeNeed:
    """One check that needs a judge."""

    model: str | None
    """The judge that it names; ``None`` means the suite's."""
    required: bool
    """Whether it cannot be judged without one."""
    is_rare: bool = False
    """Whether a judge is only asked about some answers: nothing is said if there is none."""


def find_judge_needs(checks: Iterable[Check]) -> Iterator[JudgeNeed]:
    """Yield a `JudgeNeed` for each of ``checks`` that asks a judge, including those inside groups.

    A kind of check declares it by an attribute ``needs_judge``: true if a judge is required, false
    if there is a substitute. A kind without the attribute never asks. A kind that
    asks only about some answers says so by ``asks_rarely``.
    """
    for check in walk_checks(checks):
        kind = KINDS.get(check.kind)
        required = getattr(kind, "needs_judge", None)
        if required is not None:
            is_rare = getattr(kind, "asks_rarely", False)
            yield JudgeNeed(model=check.params.get("model"), required=required, is_rare=is_rare)
