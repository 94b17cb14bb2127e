"""Results as an index keeps them: as far as the verdicts on cases, and the sums, need them."""

from __future__ import annotations

from typing import Any

from harness.judging.access_checks import NO_LEAK
from harness.types import CaseFacts, CheckResult, Status, TrialResult


def counted_result(
    case: CaseFacts,
    *,
    suite: str,
    model: str,
    status: Status,
    leaks: bool,
    key: str = "",
    **counted: Any,
) -> TrialResult:
    """Return a trial that was judged before; of its checks only the one on a leak is known.

    ``counted`` are fields of `TrialResult`.
    """
    leak = CheckResult(kind=NO_LEAK, label=NO_LEAK, verdict="failed")
    checks = (leak,) if leaks else ()
    return TrialResult(
        key=key, suite=suite, case=case, model=model, status=status, checks=checks, **counted
    )
