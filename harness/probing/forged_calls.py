"""Forged calls: calls whose arguments or metadata are forged to get withheld data; their findings.

A forged call is made as one of the suite's own identities. `harness.probing.gains` defines what
counts as a gain.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from itertools import accumulate, zip_longest
from operator import itemgetter
from typing import Literal, TypeAlias

from harness.base import shorten_text
from harness.probing.caller_views import (
    ProbedTrials,
    build_finding,
    get_caller_name,
    get_facts,
    group_by,
)
from harness.probing.callers import ProbeCaller
from harness.probing.gains import ForgeryGain, WithheldData
from harness.probing.planned_calls import ProbeCall
from harness.reports import ProbeFinding, Problem
from harness.sessions import RequestAdditions
from harness.types import JsonObject, Leak, TrialResult, dataclass

MOST_FORGED = 2_000
"""Maximum number of forged calls of one probe, not counting those that confirm a gain."""
MOST_RISKY = 600
"""The same for calls on which a simple server may end."""
_META_CHARS = 60

Forgery: TypeAlias = Literal["identity", "arguments", "request"]
"""``identity``: another identity's attributes are added to a call. ``arguments``: the arguments are
tampered with, or the call is repeated. ``request``: a resource, a prompt or a completion is asked
for, so that there is no regular call to compare with (`harness.probing.requests`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgedCall:
    """A forged variant of a regular call."""

    caller: ProbeCaller
    """The caller."""
    base: ProbeCall
    """The regular call."""
    kind: Forgery
    """The kind of forgery."""
    words: str
    """The difference in words: ``with 'role' of admin in the arguments``."""
    arguments: JsonObject
    """The arguments that are sent."""
    meta: JsonObject = field(default_factory=dict)
    """Entries that are added to ``_meta`` of the request."""
    asked: JsonObject | None = None
    """Those arguments that identify the requested record; ``None``: all arguments of `base`."""
    same: bool = True
    """Whether it requests the same record as `base`, so that a withheld value in its answer belongs
    to that record."""
    times: int = 1
    """Number of repetitions; any of the answers counts."""
    additions: RequestAdditions = field(default_factory=RequestAdditions)
    """What each HTTP request has meanwhile, beside the caller's identity."""
    brought: JsonObject = field(default_factory=dict)
    """What these additions say of somebody, without tokens."""
    tool: str | None = None
    """Another name under which the tool is called; ``None``: its own."""
    is_risky: bool = False
    """Whether a simple server may end on it, so that it is made in a process of its own."""

    @property
    def call(self) -> ProbeCall:
        """The call as it is sent."""
        name = self.tool or self.base.tool
        return ProbeCall(tool=name, arguments=self.arguments, changes=self.base.changes)

    @property
    def label(self) -> str:
        """Its name in tables."""
        if self.times > 1:
            return f"{self.call.label} ×{self.times}"
        if not self.meta:
            return self.call.label
        meta = json.dumps(dict(self.meta), ensure_ascii=False)
        return f"{self.call.label} _meta={shorten_text(meta, _META_CHARS)}"


def within_bounds(forged: Sequence[ForgedCall], most: int = MOST_FORGED) -> Sequence[ForgedCall]:
    """Return the first of ``forged``, up to ``most`` calls including repetitions."""
    # A repeated call counts as often as it is made.
    sums = accumulate(one.times for one in forged)
    return [one for one, calls in zip(forged, sums, strict=True) if calls <= most]


def interleave_calls(each: Iterable[Iterator[ForgedCall]]) -> list[ForgedCall]:
    """Return the first call of each iterator, then the second of each, and so on (round robin)."""
    return [one for together in zip_longest(*each) for one in together if one is not None]


def group_by_caller(forged: Sequence[ForgedCall]) -> Mapping[str, list[ForgedCall]]:
    """Return the calls of each caller, by name."""
    return group_by(lambda one: one.caller.name, forged)


PROBLEMS: Mapping[Forgery, Problem] = {
    "identity": "smuggled_identity",
    "arguments": "opened_by_arguments",
    "request": "opened_by_request",
}
"""What is forged → the finding that it may lead to."""
_MOST_FIELDS = 4
_TIMES_SHARED = 2
"""How often a call with a shared value is made: what comes once is chance."""
_OWN_ROWS = (
    "; nothing but a refusal of another call withholds it: if it is on a further page of their own "
    "list, add a test that lists all of it"
)


def find_forged_gains(probed: ProbedTrials) -> Iterator[ProbeFinding]:
    """Yield each forged call that gave withheld data twice, while the regular call did not."""
    if not probed.apart["forged"]:
        return
    withheld = collect_withheld(probed)
    told = itemgetter("for", "words", "call")
    tries = group_by(lambda run: told(get_facts(run)["forged"]), probed.apart["forged"])
    for runs in tries.values():
        found = _find_confirmed_gain(probed, withheld, runs)
        if found is not None:
            yield _build_finding(*found)


def find_shared_gains(probed: ProbedTrials, leaks: Iterable[Leak]) -> Iterator[ProbeFinding]:
    """Yield each call with a value known from elsewhere that gave withheld data each time.

    A field that is one of the regular calls' ``leaks`` to the same identity is left out, wherever
    it stands.
    """
    if not probed.apart["shared"]:
        return
    withheld = collect_withheld(probed)
    leaking = {(leak.identity, get_last_name(leak.field)) for leak in leaks}
    tries = group_by(
        lambda run: (get_caller_name(run), get_facts(run)["shared"]), probed.apart["shared"]
    )
    for (name, call), runs in tries.items():
        gains = [_find_shared_gain(run, probed, withheld) for run in runs]
        gain = gains[0]
        if gain is None or None in gains or len(gains) < _TIMES_SHARED:
            continue
        fields = [one for one in gain.fields if (name, get_last_name(one)) not in leaking]
        if fields:
            words = f"{call} gives {name} {', '.join(fields[:_MOST_FIELDS])}, which their other "
            words += f"calls withhold: only {' and '.join(gain.givers)} may see that"
            yield build_finding("unchecked_value", words, name, call)


def get_last_name(path: str) -> str:
    """Return the field's own name: ``email`` of ``customers[].email``."""
    return path.rpartition(".")[2].removesuffix("[]")


def _find_shared_gain(
    trial: TrialResult, probed: ProbedTrials, withheld: WithheldData
) -> ForgeryGain | None:
    result, name = probed.get_result(trial), get_caller_name(trial)
    if result is None:
        return None
    sent, call = get_facts(trial)["brought"], result.call
    # That another question for a list is refused says nothing of the rows of this one.
    return withheld.find_gain(name, call, call.arguments, sent, same=False, past_refusals=False)


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


# Several searches need the same, and the probe at hand is the only one of its process.
@lru_cache(maxsize=1)
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
    return {kind: count[kind] for kind in (*PROBLEMS, "cursor") if count[kind]}


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
    return build_finding(PROBLEMS[forged["kind"]], words, name, forged["call"])
