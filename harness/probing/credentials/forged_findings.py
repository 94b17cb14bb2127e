"""Findings about forged calls, from the log of a probe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from harness.base import make_one_line
from harness.judging import View
from harness.probing.caller_views import ProbedTrials, get_bases, get_caller_name, get_facts
from harness.probing.credentials.forged_calls import Forgery
from harness.probing.gains import ForgeryGain, WithheldData
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


def find_forged_gains(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield each forged call that gave withheld data twice, while the regular call did not."""
    if not probed.forged:
        return
    withheld = collect_withheld(probed)
    tries: dict[tuple[str, str, str], list[TrialResult]] = {}
    for run in probed.forged:
        forged = get_facts(run)["forged"]
        tries.setdefault((forged["for"], forged["words"], forged["call"]), []).append(run)
    for runs in tries.values():
        found = _ForgeryCalls(probed, withheld, runs).find_confirmed_gain()
        if found is not None:
            yield _build_finding(*found)


class _ForgeryCalls:
    """The calls of one forgery, and what each gave."""

    def __init__(
        self, probed: ProbedTrials, withheld: WithheldData, runs: Sequence[TrialResult]
    ) -> None:
        self._probed = probed
        self._gains: dict[str, list[tuple[TrialResult, ForgeryGain]]] = {}
        self._control = [run for run in runs if _get_step(run) == "control"]
        self._is_repeated = get_facts(runs[0])["forged"]["times"] > 1
        for run in runs:
            gain = None if _get_step(run) == "control" else _find_gain(run, probed, withheld)
            if gain is not None:
                self._gains.setdefault(_get_step(run), []).append((run, gain))

    def find_confirmed_gain(self) -> tuple[TrialResult, ForgeryGain] | None:
        """Return the first call that gave something, and what; ``None`` if it is not certain."""
        # What the regular call gives, too, is no gain; what is not given again was chance.
        if "forged" not in self._gains or "again" not in self._gains or "plain" in self._gains:
            return None
        run, gain = self._gains["forged"][0]
        if not self._is_repeated:
            return run, gain
        always = [field for field in gain.fields if self._is_always_given(field)]
        return (run, replace(gain, fields=tuple(always))) if always else None

    def _is_always_given(self, field: str) -> bool:
        """Whether an identity that may see a field gets it each time, and not by chance."""
        results = [self._probed.get_result(run) for run in self._control]
        return bool(results) and all(
            result is not None and any(field in (leaf.path, leaf.name) for leaf in result.leaves)
            for result in results
        )


def _get_step(run: TrialResult) -> str:
    return str(get_facts(run)["forged"]["step"])


def collect_withheld(probed: ProbedTrials) -> WithheldData:
    """Return what the server withholds from each of the suite's own identities."""
    own = (*(run for run in probed.runs if not get_bases(run)), *probed.records)
    return WithheldData(
        _build_views(probed, own), _build_views(probed, filter(_is_own_page, probed.turned))
    )


def _build_views(probed: ProbedTrials, runs: Iterable[TrialResult]) -> list[View]:
    views = (probed.views.get(run.key) for run in runs)
    return [view for view in views if view is not None and view.results]


def _is_own_page(run: TrialResult) -> bool:
    """Whether a page was read with a cursor of the caller's own."""
    return bool(get_facts(run)["cursor"]["step"] != "cross")


def count_forged_kinds(probed: ProbedTrials) -> Mapping[str, int]:
    """Return the number of forged calls by kind of forgery."""
    made = (get_facts(run)["forged"] for run in probed.forged)
    count = Counter(forged["kind"] for forged in made if forged["step"] == "forged")
    sent = (get_facts(run)["cursor"]["step"] for run in probed.turned)
    if crossed := sum(step == "cross" for step in sent):
        count["cursor"] = crossed
    return {kind: count[kind] for kind in (*_PROBLEMS, "cursor") if count[kind]}


def count_not_forged(probed: ProbedTrials) -> int:
    """Return the number of forged calls beyond the maximum."""
    # Every call has the same number.
    return max((get_facts(run)["forged"]["left_out"] for run in probed.forged), default=0)


def _find_gain(
    trial: TrialResult, probed: ProbedTrials, withheld: WithheldData
) -> ForgeryGain | None:
    result, forged = probed.get_result(trial), get_facts(trial)["forged"]
    if result is None:
        return None
    return withheld.find_gain(
        get_caller_name(trial),
        # Under a guessed name, too, the answer is compared with those of the tool itself.
        replace(result.call, tool=forged["tool"]),
        forged["asked"],
        forged["brought"],
        same=forged["same"],
        by_chance=forged["times"] > 1,
    )


def _build_finding(result: TrialResult, gain: ForgeryGain) -> ProbeFinding:
    forged = get_facts(result)["forged"]
    fields = ", ".join(gain.fields[:_MOST_FIELDS])
    otherwise = "which no call gives them" if forged["kind"] == "request" else "and not without"
    words = (
        f"{forged['of']} gives {get_caller_name(result)} {fields} {forged['words']}, {otherwise}: "
        f"only {' and '.join(gain.givers)} may see that"
    )
    if gain.is_only_refused:
        words += _OWN_ROWS
    return ProbeFinding(
        problem=_PROBLEMS[forged["kind"]],
        words=make_one_line(words),
        callers=(get_caller_name(result),),
        call=forged["call"],
    )
