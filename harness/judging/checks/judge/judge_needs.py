"""The checks that need a judge, to choose, open and price one before the first trial."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.judging.checks.nested_checks import walk_checks
from harness.judging.checks.registry import get_kind
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
    """Yield a `JudgeNeed` for each of ``checks``, also inside groups, that asks a judge."""
    for check in walk_checks(checks):
        kind = get_kind(check)
        if kind.needs_judge is not None:
            yield JudgeNeed(
                model=check.params.get("model"),
                required=kind.needs_judge,
                is_rare=kind.asks_rarely,
            )
