"""Make forged calls, and confirm their gains.

A gain counts only if the regular call, made right after, does not have it, and the forged call,
repeated, has it again. So changing data and random answers cause no finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from harness.base import HarnessError, canonical_json
from harness.judging import CallKey
from harness.probing.arguments.argument_change import empty_arguments
from harness.probing.arguments.argument_names import OtherKeys, find_ids
from harness.probing.arguments.tampering import ArgumentTamperer, forge_call, other_names
from harness.probing.call_facts import Lines, make_request
from harness.probing.caller_sessions import Prober
from harness.probing.caller_views import ProbedTrials
from harness.probing.callers import ProbeCaller
from harness.probing.forged_calls import (
    MOST_RISKY,
    PROBLEMS,
    ForgedCall,
    collect_withheld,
    interleave_calls,
    within_bounds,
)
from harness.probing.planned_calls import ProbeCall
from harness.probing.requests import read_texts
from harness.probing.smuggling import smuggle_identity
from harness.runlog import TrialLine
from harness.sessions import Connection, RequestAdditions, Session, delivery_of
from harness.types import JsonObject, Tool, Trial

Step: TypeAlias = Literal["forged", "plain", "again", "control"]
"""``forged``: the forged call, or each of its repetitions. ``plain``: the regular call, right
after. ``again``: the forged call once more. ``control``: the call as an identity that may see the
data."""
_STEPS: Mapping[Step, str] = {
    "forged": "",
    "plain": " as it stands, to confirm",
    "again": " again, to confirm",
    "control": " to compare",
}
_MOST_ALIKE = 3
"""Maximum number of calls of one tool with the same names of arguments that are forged."""
_MOST_OTHERS = 2
"""Maximum number of identities with more access that a caller impersonates for one call."""
_MOST_ENDS = 3
"""How often a caller may end a server with risky calls before no more of them are made."""


class CallForger:
    """The forged calls of a probe."""

    def __init__(self, prober: Prober, probed: ProbedTrials) -> None:
        """Choose the forged calls by the answers to the regular calls."""
        self._prober = prober
        self.withheld = collect_withheld(probed)
        """What the server withholds from each identity."""
        possible = interleave_calls([*self._iterate_candidates()])
        self.calls: Sequence[ForgedCall] = within_bounds(possible)
        """The forged calls, the most promising first."""
        risky = interleave_calls([*self._iterate_risky_candidates()])
        self.risky: Sequence[ForgedCall] = within_bounds(risky, MOST_RISKY)
        """Those on which a simple server may end: not to be made while others ask it."""
        changing = interleave_calls(map(self._forge_empty_changes, self._prober.suspects))
        self.changing: Sequence[ForgedCall] = within_bounds(changing, MOST_RISKY)
        """Changes of nothing; there are none unless data may be changed."""
        left = (*possible[len(self.calls) :], *risky[len(self.risky) :])
        self._left_out = sum(one.times for one in left)

    def _iterate_candidates(self) -> Iterator[Iterator[ForgedCall]]:
        """Yield the forged calls for each caller and call, the most promising first."""
        delivery = delivery_of(self._prober.plan.server.identity)
        callers = {caller.name: caller for caller in self._prober.plan.callers}
        # A tampered call that is one of the regular ones has been made already.
        known = {canonical_json(call.arguments) for call in self._prober.calls}
        for caller, call, tool, bending in self._iterate_tamperers():
            others = self._find_withholding_calls(caller).get(call.key, ())
            schema = tool.input_schema
            posing = (
                one
                for name in others[:_MOST_OTHERS]
                for one in smuggle_identity(caller, call, callers[name], schema, delivery)
            )
            bent = [*bending.tamper(caller, call, known)]
            # The repeated call comes last: access that it opens would distort other results.
            yield iter([*interleave_calls([posing, iter(bent[:-1])]), bent[-1]])

    def _iterate_risky_candidates(self) -> Iterator[Iterator[ForgedCall]]:
        """Yield the risky forged calls for each caller and call."""
        named: set[tuple[str, str]] = set()
        for caller, call, _, bending in self._iterate_tamperers():
            yield bending.tamper_riskily(caller, call)
            # Only what is withheld under its own name can be opened by another.
            is_kept = call.key in self._find_withholding_calls(caller)
            if is_kept and self._may_guess_names and (caller.name, call.tool) not in named:
                named.add((caller.name, call.tool))
                # A list, since what the loop has by then would be bound in an iterator.
                yield iter([forge_call(caller, call, bend) for bend in other_names(call.tool)])

    def _forge_empty_changes(self, caller: ProbeCaller) -> Iterator[ForgedCall]:
        """Yield the calls that change something, with nothing to change."""
        # Whoever nothing is withheld from has nothing to gain.
        if self.withheld.find_withholding_calls(caller.name):
            for call in filter(lambda one: one.changes, self._prober.calls):
                for bend in empty_arguments(call.arguments):
                    yield forge_call(caller, call, bend)

    def _iterate_tamperers(self) -> Iterator[tuple[ProbeCaller, ProbeCall, Tool, ArgumentTamperer]]:
        """Yield each caller from whom something is withheld, with the calls to tamper with."""
        leaves = self.withheld.list_leaves()
        readable = self._prober.pair_with_tools(destructive=self._prober.plan.destructive)
        names = {
            name
            for call, tool in readable
            for name in (*call.arguments, *(tool.input_schema.get("properties") or ()))
        }
        ids, others = find_ids(names, leaves), OtherKeys(leaves)
        for caller in self._prober.suspects:
            withheld = self._find_withholding_calls(caller)
            fields = self.withheld.list_fields(caller.name)
            for call, tool in _choose_representatives(readable, withheld) if withheld else ():
                keys = others.find_keys(call.arguments)
                yield caller, call, tool, ArgumentTamperer(tool, ids, keys, fields)

    def _find_withholding_calls(self, caller: ProbeCaller) -> Mapping[CallKey, tuple[str, ...]]:
        """Return the calls that give others more than ``caller`` → the others, most first."""
        withheld = self.withheld.find_withholding_calls(caller.name)
        # Where nothing is withheld, a call that fails shows no policy.
        return {**self.withheld.find_failing_calls(caller.name), **withheld} if withheld else {}

    @property
    def _may_guess_names(self) -> bool:
        """Whether tools may be called that nobody is shown."""
        server = self._prober.plan.server
        # A guessed name would slip past guard rails, which know tools by their names.
        return not (server.guard.read_only or server.guard.block or server.members)

    async def make_calls(self, caller: ProbeCaller, calls: Sequence[ForgedCall]) -> Lines:
        """Make ``calls`` as ``caller``, one after the other; return their lines."""
        lines: Lines = []
        rest = list(calls)
        effort = self._prober.effort
        while rest and not effort.is_spent():
            try:
                async with self._prober.open_session(caller) as session:
                    while rest and session.loss_reason is None and not effort.is_spent():
                        asked = await self._make_confirmed_call(session, rest.pop(0))
                        lines += ((line, session.tools) for line in asked)
            except HarnessError as error:
                for one in rest:
                    trial = self._build_trial(one, one.call, "forged")
                    lines.append((self._prober.build_failed_line(error, trial), None))
                rest = []
        effort.leave_out(sum(one.times for one in rest))
        return lines

    async def make_risky_calls(self, caller: ProbeCaller, calls: Sequence[ForgedCall]) -> Lines:
        """Make risky ``calls`` in a process of the caller's own; those that end it are left out.

        After `_MOST_ENDS` such ends by calls of one sort no more of this sort are made.
        """
        lines: Lines = []
        rest, ends = list(calls), Counter[bool]()
        effort = self._prober.effort
        while rest and not effort.is_spent():
            is_named = rest[0].tool is not None
            try:
                async with self._prober.open_own_session(caller) as session:
                    # A lost session ends this loop, and the outer one opens the next.
                    while rest and session.loss_reason is None and not effort.is_spent():
                        is_named = rest[0].tool is not None
                        asked = await self._make_confirmed_call(session, rest.pop(0))
                        if all(line.run.error is None for line in asked):
                            lines += ((line, session.tools) for line in asked)
            except HarnessError:
                pass  # that it does not start again decides nothing here
            if effort.is_spent():
                break
            ends[is_named] += 1
            if ends[is_named] >= _MOST_ENDS:
                rest = [one for one in rest if (one.tool is not None) is not is_named]
        effort.leave_out(len(rest))
        return lines

    async def _make_confirmed_call(self, session: Session, one: ForgedCall) -> list[TrialLine]:
        """Make one forged call; if it gives withheld data, confirm that."""
        if one.times > 1:
            return await self._repeat_call(session, one)
        lines: list[TrialLine] = []
        steps: tuple[Step, ...] = ("forged", "plain", "again")
        for step in steps:
            if step == "plain" and (one.kind == "request" or one.base.changes):
                continue  # there is none, or it would change something
            line = await self._make_step(session, one, step)
            lines.append(line)
            if line.run.error or (step == "forged" and not self._gives_withheld(one, line)):
                break
            if step == "again" and self._gives_withheld(one, line):
                self._tell_gain(one)
        return lines

    def _tell_gain(self, one: ForgedCall) -> None:
        # Names alone: what else is known of it has not passed the log, which keeps secrets out.
        words = f"{PROBLEMS[one.kind]}: {one.base.tool} as {one.caller.name}"
        self._prober.effort.add_found([words])

    async def _make_step(self, session: Session, one: ForgedCall, step: Step) -> TrialLine:
        call = one.base if step == "plain" else one.call
        trial = self._build_trial(one, call, step)
        if one.kind == "request":
            self._prober.effort.count_call()
            return await make_request(session, call, trial, read_texts)
        if step == "plain":
            return await self._prober.make_call(session, call, trial)
        own = session.additions if isinstance(session, Connection) else RequestAdditions()
        with own.apply(one.additions):
            return await self._prober.make_call(session, call, trial, meta=one.meta)

    async def _repeat_call(self, session: Session, one: ForgedCall) -> list[TrialLine]:
        """Make one call many times; if an answer gives withheld data, make them all again.

        Then an identity that may see the data makes it as often: what is missing from some of its
        answers, too, is missing by chance.
        """
        lines: list[TrialLine] = []
        known = self.withheld.is_given(one.caller.name, one.base.tool, one.base.arguments)
        # What the regular call gives is a leak by itself, which needs no confirmation here.
        steps: tuple[Step, ...] = ("forged",) if known else ("forged", "again")
        for step in steps:
            given = False
            for number in range(1, one.times + 1):
                trial = self._build_trial(one, one.call, step, number)
                line = await self._prober.make_call(session, one.call, trial)
                lines.append(line)
                if line.run.error is not None:
                    return lines
                given = given or self._gives_withheld(one, line)
            if not given or known:
                return lines
        # The identity that gets most of what the call withholds from its caller.
        names = self.withheld.find_withholding_calls(one.caller.name).get(one.base.key, ())
        others = (other for other in self._prober.plan.callers if other.name in names[:1])
        giver = next(others, one.caller)
        async with self._prober.open_session(giver) as other:
            for number in range(1, one.times + 1):
                trial = self._build_trial(one, one.call, "control", number, giver)
                lines.append(await self._prober.make_call(other, one.call, trial))
        return lines

    def _gives_withheld(self, one: ForgedCall, line: TrialLine) -> bool:
        made = () if line.transcript is None else line.transcript.tool_calls
        return any(
            self.withheld.find_gain(
                one.caller.name,
                replace(call, tool=one.base.tool),
                _describe_request(one),
                _describe_extras(one),
                same=one.same,
                by_chance=one.times > 1,
            )
            for call in made
        )

    def _build_trial(
        self,
        one: ForgedCall,
        call: ProbeCall,
        step: Step,
        number: int = 1,
        giver: ProbeCaller | None = None,
    ) -> Trial:
        caller = giver or one.caller
        label, sent = (one.base.label, {}) if step == "plain" else (one.label, one.meta)
        name = f"{label} [{caller.name}]{_STEPS[step]}"
        if step == "plain":
            name += f" {one.label}"
        if step == "control":  # several callers may be compared with one that may see the data
            name += f" with {one.caller.name}"
        forged = {
            "kind": one.kind,
            "words": one.words,
            "call": one.label,
            "of": one.base.label,
            "tool": one.base.tool,
            "for": one.caller.name,
            "asked": dict(_describe_request(one)),
            "same": one.same,
            "times": one.times,
            "brought": dict(_describe_extras(one)),
            "step": step,
            "left_out": self._left_out,
        }
        # No command of harness makes such a request, or adds such headers.
        has_command = one.kind != "request" and not one.additions
        how: JsonObject | None = {"meta": sent, "times": one.times} if has_command else None
        build = self._prober.build_named_trial
        return build(caller, call, name, label, how, number, one.words, forged=forged)


def _choose_representatives(
    calls: Sequence[tuple[ProbeCall, Tool]], withheld: Mapping[CallKey, tuple[str, ...]]
) -> Iterator[tuple[ProbeCall, Tool]]:
    """Yield at most `_MOST_ALIKE` calls for each tool and set of argument names.

    Calls that withhold something from the caller come first.
    """
    groups: Counter[tuple[str, frozenset[str]]] = Counter()
    for call, tool in sorted(calls, key=lambda one: one[0].key not in withheld):
        group = (call.tool, frozenset(call.arguments))
        groups[group] += 1
        if groups[group] <= _MOST_ALIKE:
            yield call, tool


def _describe_request(one: ForgedCall) -> JsonObject:
    return one.base.arguments if one.asked is None else one.asked


def _describe_extras(one: ForgedCall) -> dict[str, object]:
    brought = {"beside": dict(one.brought)} if one.brought else {}
    return {"meta": dict(one.meta), "caller": dict(one.caller.user_context or {}), **brought}
