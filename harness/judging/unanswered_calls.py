"""Tool calls without a valid answer from the server: decide if the trial can still be judged.

The table is in docs/servers.md, "Calls without a valid answer". In short: such a call is the
server's fault, and the trial cannot be judged, unless

- the model repeated the call in a later reply, and the server answered it;
- a check of the case expects this call to fail;
- a check failed that no answer could have changed: the model made a forbidden call, or the server
  allowed one;
- the end of the trial cut the call off before it had half of the trial's time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.judging.checks.explaining.transcript_lines import format_call
from harness.judging.checks.nested_checks import every_check
from harness.judging.checks.registry import KINDS, get_kind
from harness.types import (
    DEFAULT_TIMEOUT_S,
    NOT_SENT,
    Case,
    CheckResult,
    ToolCall,
    Transcript,
    TrialError,
)

_CUT_OFF_S = 0.1
"""A call that ends within this time before the end of its trial was cut off by it."""
# With less of the trial's time, the server had no fair chance: then the limit decides.
_FAIR_SHARE = 0.5


def server_fault(
    case: Case, transcript: Transcript, results: Sequence[CheckResult]
) -> TrialError | None:
    """Return why the trial cannot be judged, if the server did not answer a call."""
    # Harness itself ended the call: somebody interrupted the run, or the case aborts it.
    if transcript.stop in ("cancelled", "aborted"):
        return None
    owed = next(_find_owed(case, transcript), None)
    if owed is None or any(_stands_anyway(result, transcript) for result in results):
        return None
    place, call = owed
    return TrialError(
        kind="server",
        message=f"call {place}, {format_call(call)}, has no result, so the model's reaction to a "
        f"result is unknown: {call.text}",
        detail=transcript.stderr_tail or None,
    )


def _find_owed(case: Case, transcript: Transcript) -> Iterator[tuple[int, ToolCall]]:
    """Yield the calls whose missing answer leaves the trial without verdict, with their number."""
    calls = transcript.tool_calls
    for place, call in enumerate(calls, start=1):
        if call.is_unanswered and not (
            # Calls are numbered from 1, so these are the ones after it.
            any(_is_repeated_by(call, later) for later in calls[place:])
            or _is_cut_off(call, case.limits.timeout_s or DEFAULT_TIMEOUT_S)
            or any(
                get_kind(check).expects_failure(check.params, call) for check in every_check(case)
            )
        ):
            yield place, call


def _is_repeated_by(call: ToolCall, later: ToolCall) -> bool:
    same = (later.tool, later.arguments) == (call.tool, call.arguments)
    return (
        same
        # In one reply, the model had not yet seen that the first call got no answer.
        and later.reply > call.reply
        and not later.is_unanswered
        and later.outcome not in NOT_SENT
    )


def _is_cut_off(call: ToolCall, trial_s: float) -> bool:
    """Whether the end of the trial (``trial_s`` seconds) cut the call off before its share."""
    at_the_end = call.started_s + call.duration_s >= trial_s - _CUT_OFF_S
    return call.outcome == "timeout" and at_the_end and call.duration_s < _FAIR_SHARE * trial_s


def _stands_anyway(result: CheckResult, transcript: Transcript) -> bool:
    """Whether a check failed for a reason that no answer could have changed."""
    return (
        result.verdict == "failed"
        and result.severity == "fail"
        # Limits and leaks are results, too, but of no check of a suite.
        and result.kind in KINDS
        and KINDS.get(result.kind).stands_anyway(result, transcript)
    )
