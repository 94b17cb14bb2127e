"""What a probe's log says beside its findings: notes, lost calls, echoed tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.base import make_one_line
from harness.judging import (
    LEAK_NOTE,
    echo_words,
)
from harness.probing.caller_views import (
    ProbedTrials,
    build_finding,
    get_caller_name,
    get_facts,
    get_label,
)
from harness.reports import ProbeFinding
from harness.types import TrialResult


def iterate_notes(runs: Iterable[TrialResult]) -> Iterator[str]:
    """Yield notes: possible problems that fail nothing."""
    for run in runs:
        for check in run.checks:
            if check.kind == LEAK_NOTE:
                yield from map(make_one_line, check.explanation.splitlines())


def iterate_lost_calls(runs: Iterable[TrialResult]) -> Iterator[str]:
    """Yield the reason of each call without an answer."""
    for run in runs:
        if run.error is not None:
            yield make_one_line(f"{run.case.identity}: {run.error.message}")


def find_echoed_tokens(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield each call whose answer contains the caller's token, once for all callers."""
    reported: set[str] = set()
    for run in probed.runs:
        result = probed.get_result(run)
        # Once for all callers, since the refusals of their sessions would say the same.
        name, call = get_caller_name(run), get_label(run)
        if get_facts(run).get("echoed") and "" not in reported:
            reported.add("")
            words = "Token was sent back: the refusal of a session contains the caller's token"
            yield build_finding("token_echoed", f"{words}, as {name}", name)
        if result is not None and result.call.echoed_token and call not in reported:
            reported.add(call)
            words = f"{echo_words(result.call)}: {call} as {name}"
            yield build_finding("token_echoed", words, name, call, is_judged=True)
