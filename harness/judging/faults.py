"""What faults did in a trial, as a fact of its result: which calls they hit, or that none fired."""

from __future__ import annotations

from collections import Counter

from harness.judging.checks.explaining.transcript_lines import describe_call
from harness.types import FAULT_HITS, CheckResult, Transcript


def describe_faults(fault: str | None, transcript: Transcript) -> tuple[CheckResult, ...]:
    """Return what the faults named ``fault`` did; nothing if there were none.

    It never decides the verdict. A fault that did not fire is a warning: such a trial shows nothing
    of how the model bears it.
    """
    if fault is None:
        return ()
    calls = transcript.server_calls
    hits = [call for call in calls if call.injected is not None]
    lines = [describe_call(call) for call in hits]
    return (
        CheckResult(
            kind=FAULT_HITS,
            label=f"fault {fault}",
            verdict="passed" if hits else "failed",
            severity="warn",
            expected="at least one call that it hits",
            actual=dict(Counter(call.injected.fault for call in hits if call.injected)),
            explanation="\n".join(lines)
            or f"The fault did not fire: none of {len(calls)} calls was one that it can hit.",
        ),
    )
