"""Calls besides the regular ones that tell what a difference between answers comes from.

- Each call is made twice before anything is compared. A server that has just started, has an index
  to build or fills a cache leaves out what its next answer has, or gives an error, and that would
  be taken for a policy. So what a first answer leaves out is no evidence; nor is what a second one
  leaves out, for a server may need two calls of each identity. What they give is: an answer that
  gives its caller more than the next one is judged like any other (a policy that is loaded late
  opens the first answers).
- Suspicious calls are repeated right after other callers.
- Each identity reads the records of the identities themselves, by tools that take an argument with
  the name of an attribute (``employee_id``): what leaks is often theirs. A server that shows the
  first employee to everybody, or names whom to ask with address and salary, is found only if
  somebody has asked for that record.
- Calls are made in separate processes: what a caller gets only after others is not theirs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, product

from harness.base import HarnessError, canonical_json, is_valid
from harness.judging import Result, fold_text
from harness.probing.arguments.argument_names import names_id
from harness.probing.call_facts import Lines, get_result, judge_call
from harness.probing.caller_sessions import ROUNDS, Prober
from harness.probing.caller_views import get_caller_name, get_facts, group_by
from harness.probing.callers import ProbeCaller
from harness.probing.effort.concurrency import run_at_once
from harness.probing.planned_calls import ProbeCall
from harness.probing.stability import (
    ROUNDS_ALONE,
    CallerAnswer,
    RepeatReason,
    Suspicion,
    depends_on_previous,
    extract_traits,
    gives_more,
)
from harness.sessions import Session, with_shared_process
from harness.types import ToolList, Trial

_TURNS = ("to warm up", "to warm up again")
"""What stands behind the name of each call."""


async def warm_up(prober: Prober) -> Lines:
    """Make each call that changes nothing, as one identity of the suite after the other."""
    lines: Lines = []
    for turn, caller in product(_TURNS, prober.plan.callers):
        trials = [
            (call, prober.build_trial(caller, call, 1, RepeatReason(turn), {"warm_up": call.label}))
            for call in prober.reads
        ]
        lines += await prober.run_trials(trials, partial(prober.open_session, caller))
    return lines


async def add_verdicts(prober: Prober, first: Lines, answers: Iterable[CallerAnswer]) -> Lines:
    """Return the lines of ``first``, of which those are judged that gave more than ``answers``.

    ``answers`` are what the suite's identities were told since then.
    """
    later = group_by(lambda one: (one.name, one.call), answers)
    calls = {call.label: call for call in prober.calls}
    callers = {caller.name: caller for caller in prober.plan.callers}
    lines: Lines = []
    for place, (line, tools) in enumerate(first):
        name, label = get_caller_name(line.run), get_facts(line.run)["warm_up"]
        gave, answered = get_result(line), later.get((name, label), [])
        since = [one.result for one in answered if one.result is not None]
        gave_more = since and gave and all(gives_more(gave, one) for one in since)
        if gave_more and line.transcript is not None:
            # A number beyond the rounds: with an equal one it would be the same trial in the log.
            trial = prober.build_trial(callers[name], calls[label], ROUNDS + 1 + place)
            line = await judge_call(trial, line.transcript, tools or ToolList(tools=()))  # noqa: PLW2901
        lines.append((line, tools))
    return lines


async def confirm_suspicion(prober: Prober, suspicion: Suspicion) -> tuple[bool, Lines]:
    """Repeat a suspicious call right after other callers' calls.

    Return whether its answer depended on the previous caller in every round, and the lines.
    All sessions are opened beforehand: a server may remember whoever opened one last.
    """
    callers = {caller.name: caller for caller in prober.plan.callers}
    call = next(call for call in prober.calls if call.label == suspicion.call)
    lines: Lines = []
    after: dict[str, list[frozenset[str]]] = {}
    async with AsyncExitStack() as stack:
        sessions: dict[str, Session] = {}
        for name in dict.fromkeys((*suspicion.preceding_callers, suspicion.name)):
            try:
                opened = prober.open_session(callers[name])
                sessions[name] = await stack.enter_async_context(opened)
            except HarnessError as error:
                again = RepeatReason(f"to confirm {suspicion.name}")
                trial = prober.build_trial(callers[name], call, 1, again)
                return False, [(prober.build_failed_line(error, trial), None)]
        for number, order in enumerate(suspicion.iterate_orders(), start=1):
            for before in order:
                for name, again in suspicion.list_steps(before):
                    trial = prober.build_trial(callers[name], call, number, again)
                    line = await prober.make_call(sessions[name], call, trial)
                    lines.append((line, sessions[name].tools))
                    # A missing answer neither confirms nor refutes, so there is no finding.
                    if line.run.error is not None:
                        return False, lines
                after.setdefault(before, []).append(extract_traits(get_result(line)))
            # One round without the difference is enough, and spares the others.
            if not depends_on_previous(after):
                return False, lines
    return True, lines


MOST_RECORDS = 12
"""Maximum number of calls of one probe, which every identity makes."""


async def read_own_records(prober: Prober) -> Lines:
    """Make the calls as each of the suite's identities, and return their lines."""
    calls = [*_choose_calls(prober)][:MOST_RECORDS]
    lines: Lines = []
    again = RepeatReason("for the identities' own records")
    for caller in prober.plan.callers if calls else ():
        facts = [(call, {"record": call.label}) for call in calls]
        trials = [(call, prober.build_trial(caller, call, 1, again, fact)) for call, fact in facts]
        lines += await prober.run_trials(trials, partial(prober.open_session, caller))
    return lines


def _choose_calls(prober: Prober) -> Iterator[ProbeCall]:
    known = {(call.tool, canonical_json(call.arguments)) for call in prober.calls}
    # The argument is our own, so only the mark of a tool shows that a call changes nothing.
    readable = {call.tool for call, _ in prober.pair_with_tools()}
    for tool in prober.tools.values():
        needed = tool.input_schema.get("required")
        if tool.name not in readable or not isinstance(needed, list):
            continue
        # Further required arguments would have to be made up.
        if len(needed) != 1 or not names_id(needed[0]):
            continue
        for caller in prober.plan.callers:
            for name, value in (caller.user_context or {}).items():
                arguments = {needed[0]: value}
                key = tool.name, canonical_json(arguments)
                if (
                    fold_text(name) == fold_text(needed[0])
                    and key not in known
                    and is_valid(arguments, tool.input_schema)
                ):
                    known.add(key)
                    yield ProbeCall(tool=tool.name, arguments=arguments, changes=False)


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
    share = with_shared_process(server).isolation == "none" and server.transport.command is not None
    calls = prober.reads if share else []
    # A single caller cannot be taken for another one.
    if not calls or len(prober.plan.callers) == 1:
        return []
    alone = _IsolatedCalls(prober, answers)
    # The process that all have shared must not serve the comparisons below.
    await prober.pool.end_idle()
    # Whoever was given nothing by the process that all share cannot have been given too much.
    asked = {
        caller.name: (caller, kept)
        for caller in alone.callers
        if (kept := [call for call in calls if alone.has_answer(caller, call)])
    }
    made: dict[str, Lines] = {}

    async def screen_caller(caller: ProbeCaller, kept: Sequence[ProbeCall]) -> None:
        if prober.effort.is_spent():
            prober.effort.leave_out(len(kept))
        else:
            made[caller.name] = await alone.screen_calls(caller, kept)

    await run_at_once(screen_caller, asked.values(), prober.most_processes)
    # In the order of the callers, however long each of them took.
    for name in asked:
        alone.lines += made.get(name, ())
    confirmed: set[str] = set()
    for suspect, call, other in alone.find_suspects(calls):
        if suspect.name in confirmed or len(confirmed) == _MOST_CONFIRMED:
            continue
        if prober.effort.is_spent():
            prober.effort.leave_out(1)
            continue
        for number in range(1, ROUNDS_ALONE + 1):
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

    def has_answer(self, caller: ProbeCaller, call: ProbeCall) -> bool:
        """Whether the process that all share has given anything to the caller by this call."""
        asked = caller.name, call.label
        return any(
            answer.result is not None and answer.result.call.outcome == "ok"
            for answer in self.answers
            if (answer.name, answer.call) == asked
        )

    async def screen_calls(self, caller: ProbeCaller, calls: Sequence[ProbeCall]) -> Lines:
        """Make ``calls`` as ``caller`` in one process; those that give less than before, twice.

        Return their lines.
        """
        lines: Lines = []
        # If the session does not open, no call has a line: the first one stands for all.
        trial = self._build_trial(caller, calls[0], 1, "first of all alone")
        try:
            async with self.prober.open_own_session(caller) as session:
                for call in calls:
                    # A first answer may leave out what the next one has, so only a second one
                    # counts as less.
                    for words in ("first of all alone", "first of all alone, again"):
                        trial = self._build_trial(caller, call, 1, words)
                        line = await self.prober.make_call(session, call, trial)
                        lines.append((line, session.tools))
                        made = get_result(line)
                        if made is None:
                            break
                        self.own[caller.name, call.label] = made
                        if not self._has_gained_more(caller, call, made):
                            break
        except HarnessError as error:
            lines.append((self.prober.build_failed_line(error, trial), None))
        return lines

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
