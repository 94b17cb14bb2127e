"""Which checks ask a judge, so that one can be chosen, opened and paid for before the first trial."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.checks import KINDS
from harness.checks.walk import walk
from harness.types import Check


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One check that asks a judge."""

    model: str | None
    """The judge that it names; ``None`` is the suite's."""
    required: bool
    """Whether it cannot be judged otherwise."""


def needs(checks: Iterable[Check]) -> Iterator[Need]:
    """Yield a `Need` for each of ``checks`` that asks a judge, those inside groups included.

    A kind of check says so by an attribute ``needs_judge``: true where nothing stands in for a
    judge, false where something does. A kind without it never asks.
    """
    for check in walk(checks):
        required = getattr(KINDS.get(check.kind), "needs_judge", None)
        if required is not None:
            yield Need(model=check.params.get("model"), required=required)
