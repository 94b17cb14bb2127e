"""Findings about callers who get more in a process that another caller has used before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.judging import Result
from harness.probing.caller_views import (
    ProbedTrials,
    build_finding,
    find_extra_fields,
    get_caller_name,
    get_facts,
)
from harness.probing.report import AFTER_NOBODY
from harness.probing.stability import extract_traits
from harness.reports import ProbeFinding

ROUNDS = 6
"""How often a suspicious call is repeated, alone and after another caller.
If a server answers at random, a false alarm has a probability of less than 1 in 1,000 with two
different answers, and of less than 1 in 100,000 with three."""


def gives_more(result: Result, own: Result) -> bool:
    """Whether ``result`` has data that ``own``, a result of the same call, refuses or withholds."""
    if result.call.outcome != "ok":
        return False
    if own.call.outcome == "ok":
        return bool(find_extra_fields(result, own))
    # A tool that is hidden from somebody is often answered as an unknown one.
    return own.call.outcome in ("denied", "unknown_tool")


def find_mixed_callers(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield calls that gave a caller more after another caller, in every repetition."""
    alone: dict[tuple[str, str], list[Result]] = {}
    after: dict[tuple[str, str], dict[str, list[Result]]] = {}
    for run in probed.apart["alone"]:
        facts, result = get_facts(run)["alone"], probed.get_result(run)
        # A process that has just started may answer otherwise.
        if result is None or facts["is_first"]:
            continue
        asked = get_caller_name(run), facts["of"]
        if facts["after"] is None:
            alone.setdefault(asked, []).append(result)
        else:
            after.setdefault(asked, {}).setdefault(facts["after"], []).append(result)
    for (name, call), others in after.items():
        for other, given in others.items():
            own = alone.get((name, call), [])
            if len(own) >= ROUNDS and len(given) >= ROUNDS - 1 and _is_certain(given, own):
                words = (
                    f"{call} gives {name} more where {other} has asked the same process before "
                    f"than in a process of their own, {len(given)} times of {len(given)}"
                )
                shown = (AFTER_NOBODY,)
                yield build_finding("unstable", words, name, call, after=other, shown=shown)


def _is_certain(given: Sequence[Result], own: Sequence[Result]) -> bool:
    same = len(set(map(extract_traits, given))) == 1 and len(set(map(extract_traits, own))) == 1
    return same and all(gives_more(one, other) for one in given for other in own)
