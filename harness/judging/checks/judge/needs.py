"""The checks that need a judge, to choose, open and price one before the first trial."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.judging.checks import KINDS
from harness.judging.checks.walk import walk
from harness.types import Check


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One check that needs a judge."""

    model: str | None
    """The judge that it names; ``None`` means the suite's."""
    required: bool
    """Whether it cannot be judged without one."""
    is_rare: bool = False
    """Whether a judge is only asked about some answers: nothing is said if there is none."""


def needs(checks: Iterable[Check]) -> Iterator[Need]:
    """Yield a `Need` for each of ``checks`` that asks a judge, including those inside groups.

    A kind of check declares it by an attribute ``needs_judge``: true if a judge is required, false
    if there is a substitute. A kind without the attribute never asks. A kind that
    asks only about some answers says so by ``asks_rarely``.
    """
    for check in walk(checks):
        kind = KINDS.get(check.kind)
        required = getattr(kind, "needs_judge", None)
        if required is not None:
            is_rare = getattr(kind, "asks_rarely", False)
            yield Need(model=check.params.get("model"), required=required, is_rare=is_rare)
