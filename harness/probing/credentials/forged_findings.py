"""Findings about forged calls, from the log of a probe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from harness.probing.caller_views import ProbedTrials, build_finding, get_caller_name, get_facts
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
    if not probed.apart["forged"]:
        return
    withheld = collect_withheld(probed)
    tries: dict[tuple[str, str, str], list[TrialResult]] = {}
    for run in probed.apart["forged"]:
        forged = get_facts(run)["forged"]
        tries.setdefault((forged["for"], forged["words"], forged["call"]), []).append(run)
    for runs in tries.values():
        found = _find_confirmed_gain(probed, withheld, runs)
        if found is not None:
            yield _build_finding(*found)


def _find_confirmed_gain(
    probed: ProbedTrials, withheld: WithheldData, runs: Sequence[TrialResult]
) -> tuple[TrialResult, ForgeryGain] | None:
    """Return the first call of one forgery that gave something, and what, if that is certain."""
    gains: dict[str, list[tuple[TrialResult, ForgeryGain]]] = {}
    control = []
    for run in runs:
        step = get_facts(run)["forged"]["step"]
        if step == "control":
            control.append(probed.get_result(run))
        elif (gain := _find_gain(run, probed, withheld)) is not None:
            gains.setdefault(step, []).append((run, gain))
    # What the regular call gives, too, is no gain; what is not given again was chance.
    if "forged" not in gains or "again" not in gains or "plain" in gains:
        return None
    run, gain = gains["forged"][0]
    if get_facts(run)["forged"]["times"] == 1:
        return run, gain
    # An identity that may see a field gets it each time, and not by chance.
    always = tuple(
        field
        for field in gain.fields
        if control
        and all(
            result is not None and any(field in (leaf.path, leaf.name) for leaf in result.leaves)
            for result in control
        )
    )
    return (run, replace(gain, fields=always)) if always else None


def collect_withheld(probed: ProbedTrials) -> WithheldData:
    """Return what the server withholds from each of the suite's own identities."""
    # Pages that were read with a cursor of the caller's own.
    pages = [run for run in probed.apart["cursor"] if get_facts(run)["cursor"]["step"] != "cross"]
    own, further = (
        [view for view in probed.select_views(runs) if view.results]
        for runs in ((*probed.own, *probed.apart["record"]), pages)
    )
    return WithheldData(own, further)


def count_forged_kinds(probed: ProbedTrials) -> Mapping[str, int]:
    """Return the number of forged calls by kind of forgery."""
    made = (get_facts(run)["forged"] for run in probed.apart["forged"])
    count = Counter(forged["kind"] for forged in made if forged["step"] == "forged")
    sent = (get_facts(run)["cursor"]["step"] for run in probed.apart["cursor"])
    if crossed := sum(step == "cross" for step in sent):
        count["cursor"] = crossed
    return {kind: count[kind] for kind in (*_PROBLEMS, "cursor") if count[kind]}


def count_not_forged(probed: ProbedTrials) -> int:
    """Return the number of forged calls beyond the maximum."""
    # Every call has the same number.
    return max((get_facts(run)["forged"]["left_out"] for run in probed.apart["forged"]), default=0)


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
    forged, name = get_facts(result)["forged"], get_caller_name(result)
    fields = ", ".join(gain.fields[:_MOST_FIELDS])
    otherwise = "which no call gives them" if forged["kind"] == "request" else "and not without"
    words = (
        f"{forged['of']} gives {name} {fields} {forged['words']}, {otherwise}: "
        f"only {' and '.join(gain.givers)} may see that"
    )
    if gain.is_only_refused:
        words += _OWN_ROWS
    return build_finding(_PROBLEMS[forged["kind"]], words, name, forged["call"])
