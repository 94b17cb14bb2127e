"""Findings about forged calls, from the log of a probe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.base import one_line
from harness.judging import View
from harness.probing.caller_views import ProbedTrials, bases_of, facts_of, name_of
from harness.probing.forged_calls import Forgery
from harness.probing.gains import Gain, Withheld
from harness.reports import ProbeFinding, Problem
from harness.types import TrialResult

_PROBLEMS: Mapping[Forgery, Problem] = {
    "identity": "smuggled_identity",
    "arguments": "opened_by_arguments",
    "request": "opened_by_request",
}
_MOST_FIELDS = 4
_OWN_ROWS = (
    "; nothing but a refusal of another call withholds it: if it is on a further page of their own "
    "list, add a test that lists all of it"
)


def forged_gains(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield each forged call that gave withheld data twice, while the regular call did not."""
    if not probed.forged:
        return
    withheld = withheld_by(probed)
    tries: dict[tuple[str, str, str], list[TrialResult]] = {}
    for run in probed.forged:
        forged = facts_of(run)["forged"]
        tries.setdefault((forged["for"], forged["words"], forged["call"]), []).append(run)
    for runs in tries.values():
        found = _Steps(probed, withheld, runs).confirmed()
        if found is not None:
            yield _finding(*found)


class _Steps:
    """The calls of one forgery, and what each gave."""

    def __init__(
        self, probed: ProbedTrials, withheld: Withheld, runs: Sequence[TrialResult]
    ) -> None:
        self._probed = probed
        self._gains: dict[str, list[tuple[TrialResult, Gain]]] = {}
        self._control = [run for run in runs if _step(run) == "control"]
        self._is_repeated = facts_of(runs[0])["forged"]["times"] > 1
        for run in runs:
            gain = None if _step(run) == "control" else _gain(run, probed, withheld)
            if gain is not None:
                self._gains.setdefault(_step(run), []).append((run, gain))

    def confirmed(self) -> tuple[TrialResult, Gain] | None:
        """Return the first call that gave something, and what; ``None`` if it is not certain."""
        if "forged" not in self._gains or "again" not in self._gains or "plain" in self._gains:
            return None
        run, gain = self._gains["forged"][0]
        if not self._is_repeated:
            return run, gain
        always = [field for field in gain.fields if self._is_always_given(field)]
        return (run, replace(gain, fields=tuple(always))) if always else None

    def _is_always_given(self, field: str) -> bool:
        """Whether an identity that may see a field gets it each time, and not by chance."""
        results = [self._probed.result(run) for run in self._control]
        return bool(results) and all(
            result is not None and any(field in (leaf.path, leaf.name) for leaf in result.leaves)
            for result in results
        )


def _step(run: TrialResult) -> str:
    return str(facts_of(run)["forged"]["step"])


def withheld_by(probed: ProbedTrials) -> Withheld:
    """Return what the server withholds from each of the suite's own identities."""
    own = (*(run for run in probed.runs if not bases_of(run)), *probed.records)
    return Withheld(_views(probed, own), _views(probed, filter(_is_own_page, probed.turned)))


def _views(probed: ProbedTrials, runs: Iterable[TrialResult]) -> list[View]:
    views = (probed.views.get(run.key) for run in runs)
    return [view for view in views if view is not None and view.results]


def _is_own_page(run: TrialResult) -> bool:
    """Whether a page was read with a cursor of the caller's own."""
    return bool(facts_of(run)["cursor"]["step"] != "cross")


def forged_kinds(probed: ProbedTrials) -> Mapping[str, int]:
    """Return the number of forged calls by kind of forgery."""
    made = (facts_of(run)["forged"] for run in probed.forged)
    count = Counter(forged["kind"] for forged in made if forged["step"] == "forged")
    sent = (facts_of(run)["cursor"]["step"] for run in probed.turned)
    if crossed := sum(step == "cross" for step in sent):
        count["cursor"] = crossed
    return {kind: count[kind] for kind in (*_PROBLEMS, "cursor") if count[kind]}


def not_forged(probed: ProbedTrials) -> int:
    """Return the number of forged calls beyond the maximum."""
    return max((facts_of(run)["forged"]["left_out"] for run in probed.forged), default=0)


def _gain(trial: TrialResult, probed: ProbedTrials, withheld: Withheld) -> Gain | None:
    result, forged = probed.result(trial), facts_of(trial)["forged"]
    if result is None:
        return None
    return withheld.gain(
        name_of(trial),
        replace(result.call, tool=forged["tool"]),
        forged["asked"],
        forged["brought"],
        same=forged["same"],
        by_chance=forged["times"] > 1,
    )


def _finding(result: TrialResult, gain: Gain) -> ProbeFinding:
    forged = facts_of(result)["forged"]
    fields = ", ".join(gain.fields[:_MOST_FIELDS])
    otherwise = "which no call gives them" if forged["kind"] == "request" else "and not without"
    words = (
        f"{forged['of']} gives {name_of(result)} {fields} {forged['words']}, {otherwise}: "
        f"only {' and '.join(gain.givers)} may see that"
    )
    if gain.is_only_refused:
        words += _OWN_ROWS
    return ProbeFinding(
        problem=_PROBLEMS[forged["kind"]],
        words=one_line(words),
        callers=(name_of(result),),
        call=forged["call"],
    )
