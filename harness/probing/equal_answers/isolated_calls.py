"""Make the calls in separate processes: what a caller gets only after others is not theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from harness.base import HarnessError
from harness.judging import Result
from harness.probing.call_facts import Lines, get_result
from harness.probing.caller_sessions import Prober
from harness.probing.callers import ProbeCaller
from harness.probing.equal_answers.mixed_callers import ROUNDS, gives_more
from harness.probing.planned_calls import ProbeCall
from harness.probing.repeated_calls import RepeatReason
from harness.probing.stability import CallerAnswer, extract_traits
from harness.sessions import Session, with_shared_process
from harness.types import Trial

MOST_UNKNOWN = 9
"""Maximum number of identities with an unknown attribute that ask alone."""
_MOST_SUSPECTS = 2
"""Maximum number of calls of one caller that are repeated."""
_MOST_CONFIRMED = 2
"""Number of callers after whose confirmed calls no more are repeated: one fault is enough."""


async def make_isolated_calls(prober: Prober, answers: Sequence[CallerAnswer]) -> Lines:
    """Make each call as each caller in a process that nobody else has asked.

    The callers are the suite's identities, and those made from them with one unknown attribute, as
    far as ``answers`` has what they got in a process that all share. If a caller gets less alone,
    the call is repeated both alone and after a caller who gets more. Servers that are not started
    by the probe, or whose callers do not share a process, are left out.
    """
    server = prober.plan.server
    shares = (
        with_shared_process(server).isolation == "none" and server.transport.command is not None
    )
    calls = prober.reads if shares else []
    # A single caller cannot be taken for another one.
    if not calls or len(prober.plan.callers) == 1:
        return []
    alone = _IsolatedCalls(prober, answers)
    # The process that all have shared must not serve the comparisons below.
    await prober.pool.end_idle()
    for caller in alone.callers:
        await alone.screen_calls(caller, calls)
    confirmed: set[str] = set()
    for suspect, call, other in alone.find_suspects(calls):
        if suspect.name in confirmed or len(confirmed) == _MOST_CONFIRMED:
            continue
        for number in range(1, ROUNDS + 1):
            if not await alone.is_confirmed(suspect, call, other, number):
                break
        else:
            confirmed.add(suspect.name)
    return alone.lines


def is_unknown(caller: ProbeCaller) -> bool:
    """Whether a damaged identity has an unknown value: it is alike but for one attribute."""
    return bool(caller.bases) and (caller.damage or "").endswith(" is unknown")


@dataclass(slots=True)
class _IsolatedCalls:
    """The calls in separate processes, and their results by caller and call."""

    prober: Prober
    answers: Sequence[CallerAnswer]
    lines: Lines = field(default_factory=list)
    results: dict[tuple[str, str], Result] = field(default_factory=dict)
    """What later rounds must equal: the first answer to each repeated call alone."""
    own: dict[tuple[str, str], Result] = field(default_factory=dict)
    """What each caller got in the process that it had for itself."""

    @property
    def callers(self) -> Sequence[ProbeCaller]:
        """The callers that ask alone."""
        heard = {answer.name for answer in self.answers}
        every = filter(is_unknown, self.prober.list_callers())
        unknown = (caller for caller in every if caller.name in heard)
        return (*self.prober.plan.callers, *islice(unknown, MOST_UNKNOWN))

    async def screen_calls(self, caller: ProbeCaller, calls: Sequence[ProbeCall]) -> None:
        """Make ``calls`` as ``caller`` in one process; those that give less than before, twice."""
        # If the session does not open, no call has a line: the first one stands for all.
        trial = self._build_trial(caller, calls[0], 1, "first of all alone")
        try:
            async with self.prober.open_own_session(caller) as session:
                for call in calls:
                    # A first answer may leave out what the next one has, so only a second one
                    # counts as less.
                    for words in ("first of all alone", "first of all alone, again"):
                        trial = self._build_trial(caller, call, 1, words)
                        made = await self._make_call(session, call, trial)
                        if made is None:
                            break
                        self.own[caller.name, call.label] = made
                        if not self._has_gained_more(caller, call, made):
                            break
        except HarnessError as error:
            self.lines.append((self.prober.build_failed_line(error, trial), None))

    def _has_gained_more(self, caller: ProbeCaller, call: ProbeCall, own: Result) -> bool:
        """Whether the caller got more by the same call in the process that all share."""
        return any(
            gives_more(answer.result, own)
            for answer in self.answers
            if (answer.name, answer.call) == (caller.name, call.label) and answer.result is not None
        )

    async def _call_alone(self, caller: ProbeCaller, call: ProbeCall, number: int) -> Result | None:
        """Make ``call`` as ``caller`` in a separate process; return its result.

        It is made twice and the second answer counts, so that the process has answered the call
        once before, as it has in the comparison after another caller.
        """
        first = self._build_trial(caller, call, number, "first in a process of its own")
        trial = self._build_trial(caller, call, number, "again in a process of its own")
        try:
            async with self.prober.open_own_session(caller) as session:
                await self._make_call(session, call, first)
                return await self._make_call(session, call, trial)
        except HarnessError as error:
            self.lines.append((self.prober.build_failed_line(error, trial), None))
            return None

    def find_suspects(
        self, calls: Sequence[ProbeCall]
    ) -> Iterator[tuple[ProbeCaller, ProbeCall, ProbeCaller]]:
        """Yield a caller who gets less alone, the call, and a caller who gets more alone."""
        named = {caller.name: caller for caller in self.prober.plan.callers}
        seen: Counter[str] = Counter()
        for call in calls:
            for caller in self.callers:
                result = self.own.get((caller.name, call.label))
                if result is None or not self._has_gained_more(caller, call, result):
                    continue
                # A damaged identity may be taken for the one that it was made from.
                others = [
                    (name, own)
                    for name in caller.bases or named
                    if name in named and (own := self.own.get((name, call.label))) is not None
                ]
                good = [(name, own) for name, own in others if gives_more(own, result)]
                if good and seen[caller.name] < _MOST_SUSPECTS:
                    seen[caller.name] += 1
                    most = max(good, key=lambda one: len(one[1].leaves))
                    yield caller, call, named[most[0]]

    async def is_confirmed(
        self, suspect: ProbeCaller, call: ProbeCall, other: ProbeCaller, number: int
    ) -> bool:
        """Repeat the call after ``other`` in one process, and alone; return if it gives more."""
        after = await self._call_after(suspect, call, other, number)
        alone = await self._call_alone(suspect, call, number)
        if after is None or alone is None:
            return False
        first = self.results.setdefault((suspect.name, call.label), alone)
        # If the answer alone differs between rounds, the server is random, and mixes up nobody.
        return extract_traits(alone) == extract_traits(first) and gives_more(after, alone)

    async def _call_after(
        self, suspect: ProbeCaller, call: ProbeCall, other: ProbeCaller, number: int
    ) -> Result | None:
        before, after = f"before {suspect.name}", f"after {other.name}"
        trials = [
            self._build_trial(other, call, number, f"{before}, in a new process"),
            self._build_trial(suspect, call, number, f"{after}, in a new process", other.name),
        ]
        one = self.prober.plan.server.with_isolation("none")
        pool, made = self.prober.pool, None
        try:
            # Both are open before either calls: a server may remember whoever opened one last.
            async with (
                pool.lend_session(one, other.user_context) as first,
                pool.lend_session(one, suspect.user_context) as second,
            ):
                for session, trial in zip((first, second), trials, strict=True):
                    made = await self._make_call(session, call, trial)
        except HarnessError as error:
            self.lines.append((self.prober.build_failed_line(error, trials[-1]), None))
        # The next comparison needs a new process again.
        await pool.end_idle()
        return made

    async def _make_call(self, session: Session, call: ProbeCall, trial: Trial) -> Result | None:
        line = await self.prober.make_call(session, call, trial)
        self.lines.append((line, session.tools))
        return get_result(line)

    def _build_trial(
        self,
        caller: ProbeCaller,
        call: ProbeCall,
        number: int,
        words: str,
        after: str | None = None,
    ) -> Trial:
        is_first = words.startswith(("before", "first"))
        facts = {"alone": {"of": call.label, "after": after, "is_first": is_first}}
        return self.prober.build_trial(caller, call, number, RepeatReason(words, after), facts)
