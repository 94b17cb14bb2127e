"""All checks of a case, including those inside groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.types import Case, Check


def every_check(case: Case) -> Iterator[Check]:
    """Yield each check of ``case`` and each check in the options of a group, in order."""
    return walk_checks(case.every_check)


def walk_checks(checks: Iterable[Check]) -> Iterator[Check]:
    """Yield each of ``checks``, and after a group every check inside it."""
    for check in checks:
        yield from check.walk()
