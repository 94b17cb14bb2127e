"""Make the calls behind consent gates, as each identity, with each answer of a user.

A tool that changes something is called once by a client that can be asked, and declines. If it asks
nothing, it has no gate, and nothing else is tried. The state is read before and after each call by
what the suite reads states with, and by its regular calls. Where the probe can start the server,
each call has a process of its own; elsewhere those that must change nothing come first.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

import anyio

from harness.base import HarnessError, NotAdmitted, canonical_json, is_valid
from harness.judging import WantedState, check_traits, wanted_states
from harness.probing.call_facts import Lines, add_facts, get_result
from harness.probing.caller_sessions import Prober
from harness.probing.callers import ProbeCaller
from harness.probing.consent.gate_answers import WORDS, GateAnswer, GateUser
from harness.probing.planned_calls import ProbeCall, find_declared_gates
from harness.probing.roads.road_choice import get_shape
from harness.runlog import TrialLine
from harness.runner import read_state
from harness.sessions import AskableSession, Session, UserQuestions, with_shared_process
from harness.types import (
    Case,
    ElicitRule,
    JsonObject,
    ServerSpec,
    StateReading,
    Trial,
    attach_questions,
)

MOST_GATES = 8
"""Maximum number of gates that are tried with all answers."""
_MOST_SOURCES = 6
_WATCH_S = 5.0  # a server that waits for the answer may answer nobody else
_HARMLESS: tuple[GateAnswer, ...] = ("decline", "cancel", "unable", "empty", "misfit", "unticked")
_SPEAKS_OF_CONSENT = re.compile(
    r"elicit|consent|confirm|approv|capabilit|ask (?:the|its|your) user"
)


@dataclass(slots=True)
class GateCalls:
    """The calls behind the gates of one server."""

    prober: Prober
    lines: Lines = field(default_factory=list)
    _able: ServerSpec = field(init=False)
    _plain: ServerSpec = field(init=False)
    _is_shared: bool = field(init=False)

    def __post_init__(self) -> None:
        """Choose how the server is started."""
        server = self.prober.plan.server
        # Whoever shares a server that is reset for each loan would have it reset under the other.
        may_share = server.transport.command is not None or server.reset is None
        self._is_shared = may_share and with_shared_process(server).isolation == "none"
        self._plain = server.with_isolation("none" if self._is_shared else "case")
        self._able = self._plain.with_abilities()

    @property
    def come_first(self) -> bool:
        """Whether the regular changes would take away what the gates are tried on."""
        server = self.prober.plan.server
        stays = server.transport.command is None and server.reset is None
        return stays and bool(find_declared_gates(self.prober.plan.cases))

    async def make_calls(self) -> Lines:
        """Look for gates, and try each one."""
        by_tool: dict[str, list[ProbeCall]] = {}
        for call in self.prober.calls:
            if call.changes:
                by_tool.setdefault(call.tool, []).append(call)
        found = 0
        for calls in by_tool.values():
            if self.prober.effort.is_spent():
                self.prober.effort.leave_out(1)
                continue
            first = await self._look(calls[0])
            if first is not None and found < MOST_GATES:
                found += 1
                await self._try_gate(calls, first)
        return self.lines

    async def _look(self, call: ProbeCall) -> ProbeCaller | None:
        """Return an identity of whom the tool asks something; ``None`` if it asks nobody."""
        declared = call.tool in find_declared_gates(self.prober.plan.cases)
        for caller in self._order_callers(call):
            line = await self._make_call(caller, call, "decline")
            if line is None:
                continue
            if line.transcript is not None and line.transcript.elicitations:
                return caller
            result = get_result(line)
            # Who may not make it, or gets it done unasked, does not show what others are asked.
            if result is None or not (
                declared or _SPEAKS_OF_CONSENT.search(result.call.text.casefold())
            ):
                return None
        return None

    def _order_callers(self, call: ProbeCall) -> list[ProbeCaller]:
        """Return the identities that may make the call, those first whom a suite lets approve."""
        chosen = [one for one in self.prober.suspects if self._may_approve(one, call)]
        approving = [
            canonical_json(case.caller.user_context)
            for case, _ in self._list_consents(call.tool)
            if any(rule.answer == "accept" for rule in case.caller.elicit or ())
        ]
        return sorted(
            chosen,
            key=lambda one: (
                canonical_json(one.user_context) not in approving,
                one.user_context is None,
            ),
        )

    def _list_consents(self, tool: str) -> Iterator[tuple[Case, JsonObject]]:
        for case in self.prober.plan.cases:
            for check in case.every_check:
                # Those with arguments speak of the gate, the others of its question alone.
                is_gate = "says_tool_asks" in check_traits(check) and "args" in check.params
                if is_gate and check.params["tool"] == tool:
                    yield case, check.params

    def _may_approve(self, caller: ProbeCaller, call: ProbeCall) -> bool:
        """Whether nothing says that the identity may not have the call made."""
        listed = self.prober.lists.get(caller.name)
        if listed is None or listed.get(call.tool) is None:
            return False
        own = canonical_json(caller.user_context)
        effects = {
            params.get("effect")
            for case, params in self._list_consents(call.tool)
            if canonical_json(case.caller.user_context) == own
        }
        if effects == {"none"}:
            return False
        checks = self.prober.expected.find_checks(caller.user_context, call.tool, call.arguments)
        whole = (*checks, *self.prober.expected.list_checks(caller.user_context))
        said = (
            set(check.params.get("is", ())) - {"not_attempted"}
            for check in whole
            if check.params["tool"] == call.tool
            and (check in checks or not check.params.get("args"))
        )
        return not any(one and one <= {"denied", "hidden"} for one in said)

    async def _try_gate(self, calls: Sequence[ProbeCall], first: ProbeCaller) -> None:
        """Make the call with each answer, those first that must change nothing."""
        call = calls[0]
        callers = [one for one in self.prober.suspects if one is not first]
        may = {one.name: self._may_approve(one, call) for one in callers}
        # With a state that stays, who may not approve is tried before somebody who may.
        callers.sort(key=lambda one: may[one.name])
        asked: list[ProbeCaller] = []
        for caller in (first, *callers):
            for answer in _HARMLESS:
                # The look was the first of them; the rest of what a form allows is tried once.
                if caller is first and answer == "decline":
                    continue
                if caller is not first and answer in ("empty", "misfit", "unticked"):
                    continue
                if answer == "cancel" and caller is not first and caller not in asked:
                    continue
                line = await self._make_call(caller, call, answer)
                if line is not None and line.transcript and line.transcript.elicitations:
                    asked += [] if caller in asked else [caller]
        for caller in (*(one for one in callers if one in asked), first):
            others = calls[1:] if caller is first else None
            await self._make_call(caller, call, "accept", others)

    @asynccontextmanager
    async def _open_sessions(
        self, caller: ProbeCaller, server: ServerSpec
    ) -> AsyncGenerator[tuple[Session, Session]]:
        """Open the session of ``caller``, and one that reads the state."""
        pool = self.prober.pool
        await pool.end_idle()
        async with AsyncExitStack() as stack:
            lend = pool.lend_session
            own = await stack.enter_async_context(
                lend(server, caller.user_context, caller.credential)
            )
            reader = own
            if self._is_shared:
                by = self._choose_reader()
                reader = await stack.enter_async_context(
                    lend(server, by.user_context, by.credential)
                )
            yield own, reader

    def _choose_reader(self) -> ProbeCaller:
        """Return the identity with the most tools: it sees the most of what changes."""
        lists = self.prober.lists
        return max(
            self.prober.plan.callers,
            key=lambda one: len(lists[one.name].tools) if one.name in lists else -1,
        )

    async def _make_call(
        self,
        caller: ProbeCaller,
        call: ProbeCall,
        answer: GateAnswer,
        others: Sequence[ProbeCall] | None = None,
    ) -> TrialLine | None:
        """Make one call and keep its line; ``others``: then one for another record, too."""
        server = self._plain if answer == "unable" else self._able
        trial = self._build_trial(caller, call, answer)
        try:
            async with self._open_sessions(caller, server) as (own, reader):
                line, before = await self._ask(own, reader, caller, call, answer)
                again = None if others is None else _choose_other(call, others, own, before)
                if again is not None:
                    await self._ask(own, reader, caller, again, "again")
                return line
        except NotAdmitted:
            return None  # the regular calls tell who is not let in
        except HarnessError as error:
            self.lines.append((self.prober.build_failed_line(error, trial), None))
            return None

    async def _ask(
        self,
        own: Session,
        reader: Session,
        caller: ProbeCaller,
        call: ProbeCall,
        answer: GateAnswer,
    ) -> tuple[TrialLine, Sequence[StateReading]]:
        sources = [*self._list_sources(call)]
        states = [await self._read(one, reader, "before") for one in sources]
        before = tuple(states)

        async def watch() -> None:
            with anyio.move_on_after(_WATCH_S):
                states.extend([await self._read(one, reader, "asked") for one in sources])

        # Once is enough, and harmless only where the question may be left.
        watches = watch if answer == "cancel" else None
        rules = [rule for case in self.prober.plan.cases for rule in _list_rules(case, call.tool)]
        user = GateUser(call=call, answer=answer, rules=rules, watch=watches)
        questions = UserQuestions(user.decide)
        trial = self._build_trial(caller, call, answer)
        if answer == "unable":
            line = await self.prober.make_call(own, call, trial)
        else:
            session = AskableSession(own, questions)
            async with session.listen():
                line = await self.prober.make_call(session, call, trial)
                states += [await self._read(one, reader, "after") for one in sources]
        if answer == "unable":
            states += [await self._read(one, reader, "after") for one in sources]
        transcript = line.transcript
        if transcript is not None:
            said = attach_questions((), questions.asked)
            transcript = replace(transcript, messages=said, states=tuple(states))
        run = line.run if user.is_possible else add_facts(line.run, impossible=True)
        line = TrialLine(run=run, transcript=transcript)
        self.lines.append((line, own.tools))
        return line, before

    def _list_sources(self, call: ProbeCall) -> Iterator[tuple[WantedState, bool]]:
        """Yield where the state is read, and whether the suite says that this gate keeps it."""
        guarded = [
            params["state"] for _, params in self._list_consents(call.tool) if "state" in params
        ]
        stated = [
            state.source
            for case in self.prober.plan.cases
            for state in wanted_states(case.every_check)
        ]
        values = {str(value) for value in call.arguments.values()}
        regular = sorted(
            self.prober.reads, key=lambda one: values.isdisjoint(map(str, one.arguments.values()))
        )
        every: list[JsonObject] = [*guarded, *stated]
        every += [{"tool": one.tool, "args": one.arguments} for one in regular]
        distinct = {canonical_json(source): source for source in reversed(every)}
        for source in [*reversed(distinct.values())][:_MOST_SOURCES]:
            yield WantedState(source, None), source in guarded

    async def _read(
        self, source: tuple[WantedState, bool], reader: Session, when: str
    ) -> StateReading:
        wanted, is_kept = source
        self.prober.effort.count_call()
        reading = await read_state(wanted, self.prober.plan.server, reader)
        return replace(reading, source={**reading.source, "when": when, "kept": is_kept})

    def _build_trial(self, caller: ProbeCaller, call: ProbeCall, answer: GateAnswer) -> Trial:
        named = [
            name
            for _, params in self._list_consents(call.tool)
            if params["args"].items() <= call.arguments.items()
            for name in params.get("names", ())
        ]
        facts = {
            "call": call.label,
            "answer": answer,
            "may": self._may_approve(caller, call),
            "names": named,
        }
        name = f"{call.label} [{caller.name}] {WORDS[answer]}"
        # No command makes it again: `harness call` answers no questions.
        return self.prober.build_named_trial(caller, call, name, call.label, None, gate=facts)


def _list_rules(case: Case, tool: str) -> Sequence[ElicitRule]:
    return [rule for rule in case.caller.elicit or () if rule.tool in (None, tool)]


def _choose_other(
    call: ProbeCall, others: Sequence[ProbeCall], session: Session, before: Sequence[StateReading]
) -> ProbeCall | None:
    """Return the same call for another record; ``None`` if none is known."""
    tool = session.tools.get(call.tool)
    known = " ".join(canonical_json(one.value) for one in before)
    for name, value in call.arguments.items():
        is_record = isinstance(value, str) and re.search(r"\d", value) is not None
        for word in re.findall(r"[\w.-]+", known) if is_record and tool is not None else ():
            arguments = {**call.arguments, name: word}
            is_alike = get_shape(word) == get_shape(value) and word != value
            if is_alike and tool is not None and is_valid(arguments, tool.input_schema):
                return replace(call, arguments=arguments)
    return next((other for other in others if other.arguments != call.arguments), None)
