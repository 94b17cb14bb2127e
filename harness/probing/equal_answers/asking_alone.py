"""Repeat a call in separate processes if all callers of one process got the same answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from harness.errors import HarnessError
from harness.judging.policy.views import Result
from harness.probing.caller_sessions import Asking, result_of
from harness.probing.callers import ProbeCaller
from harness.probing.equal_answers.mixed_up import ROUNDS, gives_more
from harness.probing.planned_calls import ProbeCall
from harness.probing.repeated_calls import Again
from harness.probing.stability import Answer, told
from harness.runlog import TrialLine
from harness.sessions import Session
from harness.types import ToolList, Trial

Lines: TypeAlias = list[tuple[TrialLine, ToolList | None]]


async def ask_alone(asking: Asking, answers: Sequence[Answer]) -> Lines:
    """Repeat the calls that all callers got the same answer to, each caller in a separate process.

    If a caller gets less there, the call is repeated both alone and after a caller who gets more.
    Servers that are not started by the probe, or whose callers do not share a process, are left
    out.
    """
    server = asking.plan.server
    shares = server.shared().isolation == "none" and server.transport.command is not None
    calls = [*_equal_calls(asking, answers)] if shares else []
    if not calls:
        return []
    alone = _Alone(asking)
    await asking.pool.end_idle()
    for caller in asking.plan.callers:
        await alone.by_itself(caller, calls, 0)
    for suspect, call, other in alone.suspects(calls):
        for number in range(1, ROUNDS):
            if not await alone.is_confirmed(suspect, call, other, number):
                break
    return alone.lines


def _equal_calls(asking: Asking, answers: Sequence[Answer]) -> Iterator[ProbeCall]:
    """Yield the calls that succeeded with the same answer for all of the suite's identities."""
    names = {caller.name for caller in asking.plan.callers}
    of_call: dict[str, dict[str, set[frozenset[str]]]] = {}
    failed: set[str] = set()
    for name, label, result in answers:
        of_call.setdefault(label, {}).setdefault(name, set()).add(told(result))
        if result is None or result.call.outcome != "ok":
            failed.add(label)
    for call in asking.calls:
        heard = of_call.get(call.label, {})
        if call.label in failed or heard.keys() != names or len(names) == 1:
            continue
        if len(set.union(*heard.values())) == 1:
            yield call


@dataclass(slots=True)
class _Alone:
    """The calls in separate processes, and their results by caller and call."""

    asking: Asking
    lines: Lines = field(default_factory=list)
    results: dict[tuple[str, str], Result] = field(default_factory=dict)

    async def by_itself(
        self, caller: ProbeCaller, calls: Sequence[ProbeCall], number: int
    ) -> Mapping[str, Result]:
        """Make ``calls`` as ``caller``, each in a separate process; return the results.

        Each call is made twice and the second answer counts, so that the process has answered the
        call once before, as it has in the comparison after another caller.
        """
        found: dict[str, Result] = {}
        for call in calls:
            first = self._trial(caller, call, number, "first in a process of its own", None)
            trial = self._trial(caller, call, number, "again in a process of its own", None)
            try:
                async with self.asking.own_session(caller) as session:
                    await self._line(session, call, first)
                    made = await self._line(session, call, trial)
            except HarnessError as error:
                self.lines.append((self.asking.unopened(error, trial), None))
                continue
            if made is not None:
                found[call.label] = made
                self.results.setdefault((caller.name, call.label), made)
        return found

    def suspects(
        self, calls: Sequence[ProbeCall]
    ) -> Iterator[tuple[ProbeCaller, ProbeCall, ProbeCaller]]:
        """Yield a caller who gets less alone, the call, and the caller who gets most; once each."""
        callers = {caller.name: caller for caller in self.asking.plan.callers}
        seen: set[str] = set()
        for call in calls:
            own = {
                name: self.results[name, call.label]
                for name in callers
                if (name, call.label) in self.results
            }
            good = {name: one for name, one in own.items() if one.call.outcome == "ok"}
            if not good:
                continue
            most = max(good, key=lambda name: len(good[name].leaves))
            for name, result in own.items():
                if name not in seen and gives_more(good[most], result):
                    seen.add(name)
                    yield callers[name], call, callers[most]

    async def is_confirmed(
        self, suspect: ProbeCaller, call: ProbeCall, other: ProbeCaller, number: int
    ) -> bool:
        """Repeat the call after ``other`` in one process, and alone; return if it gives more."""
        after = await self._after(suspect, call, other, number)
        alone = (await self.by_itself(suspect, [call], number)).get(call.label)
        first = self.results[suspect.name, call.label]
        if after is None or alone is None or told(alone) != told(first):
            return False
        return gives_more(after, alone)

    async def _after(
        self, suspect: ProbeCaller, call: ProbeCall, other: ProbeCaller, number: int
    ) -> Result | None:
        trials = [
            self._trial(other, call, number, f"before {suspect.name}, in a new process", None),
            self._trial(suspect, call, number, f"after {other.name}, in a new process", other.name),
        ]
        one = self.asking.plan.server.isolated_by("none")
        pool, made = self.asking.pool, None
        try:
            async with (
                pool.session(one, other.user_context) as first,
                pool.session(one, suspect.user_context) as second,
            ):
                for session, trial in zip((first, second), trials, strict=True):
                    made = await self._line(session, call, trial)
        except HarnessError as error:
            self.lines.append((self.asking.unopened(error, trials[-1]), None))
        await pool.end_idle()
        return made

    async def _line(self, session: Session, call: ProbeCall, trial: Trial) -> Result | None:
        line = await self.asking.line(session, call, trial)
        self.lines.append((line, session.tools))
        return result_of(line)

    def _trial(
        self, caller: ProbeCaller, call: ProbeCall, number: int, words: str, after: str | None
    ) -> Trial:
        trial = self.asking.trial(caller, call, number, Again(words, after))
        facts = {
            key: value
            for key, value in trial.case.metadata["probe"].items()
            if key not in ("call", "after")
        }
        is_first = words.startswith(("before", "first"))
        facts["alone"] = {"of": call.label, "after": after, "is_first": is_first}
        return replace(trial, case=replace(trial.case, metadata={"probe": facts}))
