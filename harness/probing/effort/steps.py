"""The steps of a probe in their order, each of which the log, a budget and a watcher know.

The server warms up, all callers call concurrently, then in turns, then suspects again; what
follows is chosen by the answers so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from harness.probing.arguments.shared_calls import try_shared_values
from harness.probing.call_facts import Lines, get_result
from harness.probing.caller_sessions import Prober
from harness.probing.caller_views import ProbedTrials, get_caller_name, get_label
from harness.probing.callers import ProbeCaller
from harness.probing.consent.gate_calls import GateCalls
from harness.probing.control_calls import (
    add_verdicts,
    confirm_suspicion,
    is_unknown,
    make_isolated_calls,
    read_own_records,
    warm_up,
)
from harness.probing.cursors import cross_cursors, find_pairs
from harness.probing.effort.concurrency import run_at_once
from harness.probing.findings import find_findings_so_far
from harness.probing.forged_calls import ForgedCall, group_by_caller
from harness.probing.forging import CallForger
from harness.probing.interference.run import Interference
from harness.probing.planned_calls import ProbeCall
from harness.probing.requests import choose_requests
from harness.probing.roads.road_calls import make_road_calls
from harness.probing.roads.shared_state import make_shared_calls
from harness.probing.roads.write_roads import make_write_calls
from harness.probing.smuggling import smuggle_beside_tokens
from harness.probing.stability import MOST_CONFIRMED, CallerAnswer, find_suspicions
from harness.probing.token_calls import (
    aging_call,
    find_swaps,
    measure_ages,
    measure_member_ages,
    try_swap,
)
from harness.reports import build_report
from harness.runlog import LogWriter, RunLog, ToolsLine
from harness.sessions import delivery_of

_HALF, _THIRD = 1 / 2, 1 / 3
"""What a step may take of the budget that is left."""

ProbeRound: TypeAlias = tuple[ProbeCaller, Sequence[ProbeCall], int]
"""A caller, its calls, and the number of the round from 1."""


@dataclass(slots=True)
class ProbeSteps:
    """The execution of a probe: its order of calls, and the answers so far."""

    prober: Prober
    log: LogWriter
    so_far: RunLog
    """What is logged, as far as it was read."""
    listed: set[str] = field(default_factory=set)
    answers: list[CallerAnswer] = field(default_factory=list)
    """The answers to the suite's own identities."""
    answers_of_unknown: list[CallerAnswer] = field(default_factory=list)
    """The answers to those made from them with an unknown attribute."""
    forging: CallForger | None = None
    """The forged calls, once they are chosen."""

    async def make_reading_calls(
        self, side_by_side: Sequence[ProbeRound], in_turn: Sequence[ProbeRound]
    ) -> None:
        """Make all calls that change nothing.

        With a budget, the likeliest holes come first: what the suite's identities are given.
        """
        has_kind, effort = self.prober.plan.narrowing.has_kind, self.prober.effort
        own = [one for one in side_by_side if not one[0].bases]
        others = [one for one in side_by_side if one[0].bases]
        effort.begin_step("each call twice, to warm up")
        first = await warm_up(self.prober)
        effort.begin_step("each call as each of the suite's identities")
        await run_at_once(self._make_round, own)
        self.find_so_far()
        if effort.is_limited:
            await self._make_in_turn(in_turn, first)
            await self._try_known_values()
            await self.make_attacks()
            await self._make_others_calls(others)
        else:
            await self._make_others_calls(others)
            await self._make_in_turn(in_turn, first)
        if has_kind("processes"):
            effort.begin_step("each call in processes of their own", _HALF)
            answers = [*self.answers, *self.answers_of_unknown]
            self.log_lines(await make_isolated_calls(self.prober, answers))
        if not effort.is_limited:
            await self._try_known_values()
            await self.make_attacks()
        if effort.is_limited:
            await self._measure_ages(self._read_answers())
        if self.forging is not None:
            # Nobody needs the processes of the calls above any more.
            await self.prober.pool.end_idle()
            effort.begin_step("calls on which a simple server may end", _HALF)
            await self._make_risky_calls(self.forging, self.forging.risky)

    async def _make_others_calls(self, others: Sequence[ProbeRound]) -> None:
        if others:
            self.prober.effort.begin_step("the same as altered identities", _HALF)
            await run_at_once(self._make_round, others)

    async def _make_in_turn(self, in_turn: Sequence[ProbeRound], first: Lines) -> None:
        effort = self.prober.effort
        effort.begin_step("each call again, the identities in turn")
        for one in in_turn:
            await self._make_round(*one)
        self.log_lines(await add_verdicts(self.prober, first, self.answers))
        effort.begin_step("suspicious calls again")
        await self._confirm_suspicions()

    async def _make_round(
        self, caller: ProbeCaller, calls: Sequence[ProbeCall], number: int
    ) -> None:
        lines = await self.prober.make_calls(caller, calls, number)
        self.log_lines(lines)
        if not caller.bases or is_unknown(caller):
            answers = self.answers_of_unknown if caller.bases else self.answers
            answers += (
                CallerAnswer(get_caller_name(line.run), get_label(line.run), get_result(line))
                for line, _ in lines
            )

    async def _try_known_values(self) -> None:
        if self.prober.plan.narrowing.has_kind("values"):
            self.prober.effort.begin_step("values known from elsewhere", _THIRD)
            self.log_lines(await read_own_records(self.prober))
            self.log_lines(await try_shared_values(self.prober, self.answers))

    def find_so_far(self) -> ProbedTrials:
        """Tell the findings so far, and return what they are derived from."""
        probed = self._read_answers()
        if self.prober.effort.tell is not None:
            self.prober.effort.add_found(find_findings_so_far(probed))
        return probed

    def _read_answers(self) -> ProbedTrials:
        # As every later reader of the log sees them.
        self.so_far = self.so_far.read_further()
        return ProbedTrials(build_report(self.so_far), self.so_far)

    async def make_attacks(self) -> None:
        """Make the calls that are chosen by the answers so far: aged, forged, swapped, crossed.

        With the suite's identities alone, it is those with expired tokens.
        """
        probed = self.find_so_far()
        # With a budget they come later, since they are chosen by what flawed tokens have opened.
        if not self.prober.effort.is_limited:
            await self._measure_ages(probed)
        has_kind, effort = self.prober.plan.narrowing.has_kind, self.prober.effort
        await self._take_other_roads(probed)
        if not self.prober.plan.damaged:
            return
        if has_kind("arguments"):
            await self._make_forged_calls(CallForger(self.prober, probed))
        if has_kind("tokens"):
            effort.begin_step("swapped tokens", _HALF)
            for swap in find_swaps(self.prober, probed):
                if effort.is_spent():
                    effort.leave_out(1)
                else:
                    self.log_lines(await try_swap(self.prober, swap))
        if has_kind("cursors"):
            effort.begin_step("cursors of other callers", _HALF)
            for pair in () if effort.is_spent() else await find_pairs(self.prober, probed):
                if effort.is_spent():
                    effort.leave_out(1)
                else:
                    self.log_lines(await cross_cursors(self.prober, pair))

    async def _take_other_roads(self, probed: ProbedTrials) -> None:
        """Look for what suites say to be kept on other roads, and for what callers share."""
        has_kind, effort = self.prober.plan.narrowing.has_kind, self.prober.effort
        if has_kind("values"):
            effort.begin_step("other roads to what is kept", _HALF)
            self.log_lines(await make_road_calls(self.prober, probed))
        if has_kind("processes"):
            effort.begin_step("two callers side by side", _THIRD)
            self.log_lines(await make_shared_calls(self.prober, probed))

    async def _measure_ages(self, probed: ProbedTrials) -> None:
        """Measure how long after its expiry a token is accepted."""
        takers = (self.prober.plan.server, *self.prober.plan.server.members)
        if not any(delivery_of(one.identity).is_signed for one in takers):
            return
        effort = self.prober.effort
        effort.begin_step("tokens of other ages", whole=True)
        if effort.is_spent() or not self.prober.plan.narrowing.has_kind("tokens"):
            return
        aging = aging_call(self.prober, probed)
        if aging is not None:
            self.log_lines(await measure_ages(self.prober, aging))
        self.log_lines(await measure_member_ages(self.prober, probed))

    async def alter_values(self, learn: Callable[[str], None]) -> None:
        """Make the calls on altered data, for each altered value."""
        effort, plan = self.prober.effort, self.prober.plan
        for number, altered in enumerate(plan.alterations):
            effort.begin_step(f"altered value: {altered.name}", whole=True)
            if effort.is_spent():
                effort.leave_step_out()
            else:
                await Interference(self.prober, number, learn, self.log_lines).run()

    async def _make_forged_calls(self, forging: CallForger) -> None:
        """Make the forged calls, all callers concurrently."""
        self.forging = forging
        self.prober.effort.begin_step("forged calls", _HALF)
        further = [
            *await choose_requests(self.prober, forging.withheld),
            *await smuggle_beside_tokens(self.prober, forging.withheld),
        ]

        async def make_caller_calls(caller: ProbeCaller, calls: Sequence[ForgedCall]) -> None:
            self.log_lines(await forging.make_calls(caller, calls))

        each = group_by_caller([*forging.calls, *further]).values()
        await run_at_once(make_caller_calls, [(calls[0].caller, calls) for calls in each])

    async def _make_risky_calls(self, forging: CallForger, chosen: Sequence[ForgedCall]) -> None:
        async def make_caller_calls(caller: ProbeCaller, calls: Sequence[ForgedCall]) -> None:
            self.log_lines(await forging.make_risky_calls(caller, calls))
            # Otherwise a process of each caller would run at the same time.
            await self.prober.pool.end_idle()

        each = group_by_caller(chosen).values()
        rounds = [(calls[0].caller, calls) for calls in each]
        await run_at_once(make_caller_calls, rounds, self.prober.most_processes)

    async def make_changing_calls(self, rounds: Sequence[ProbeRound]) -> None:
        """Make the calls that change data, after all other calls; last, with nothing to change.

        With ``isolation: none`` only one process of the server runs at a time.
        """
        gates = GateCalls(self.prober)
        if gates.come_first:
            await self._try_gates(gates)
        self.prober.effort.begin_step("calls that change something")
        await self.prober.pool.end_idle()
        most = self.prober.most_processes

        async def make_round(caller: ProbeCaller, calls: Sequence[ProbeCall], _: int) -> None:
            self.log_lines(await self.prober.make_calls(caller, calls, apart=True))
            if most == 1:
                await self.prober.pool.end_idle()

        await run_at_once(make_round, rounds, most)
        if self.forging is not None:
            await self._make_risky_calls(self.forging, self.forging.changing)
        if not gates.come_first:
            await self._try_gates(gates)
        if self.prober.plan.narrowing.has_kind("values"):
            self.prober.effort.begin_step("changes of refused records")
            self.log_lines(await make_write_calls(self.prober, self._read_answers()))

    async def _try_gates(self, gates: GateCalls) -> None:
        if self.prober.plan.narrowing.has_kind("consent"):
            self.prober.effort.begin_step("consent gates")
            self.log_lines(await gates.make_calls())
            await self.prober.pool.end_idle()

    async def _confirm_suspicions(self) -> None:
        """Repeat suspicious calls until each is confirmed or cleared."""
        guilty: Counter[str] = Counter()
        # Not as they happened to come.
        in_order = sorted(self.answers, key=lambda answer: (answer.call, answer.name))
        for suspicion in find_suspicions(in_order):
            if self.prober.effort.is_spent():
                self.prober.effort.leave_out(1)
            elif guilty[suspicion.name] < MOST_CONFIRMED:
                followed, lines = await confirm_suspicion(self.prober, suspicion)
                self.log_lines(lines)
                guilty[suspicion.name] += followed

    def log_lines(self, lines: Lines) -> None:
        """Log ``lines``, with new tool lists."""
        server = self.prober.plan.server.name
        for line, tools in lines:
            if tools is not None and tools.digest not in self.listed:
                self.listed.add(tools.digest)
                context = line.run.case.user_context
                self.log.append(ToolsLine(server=server, tools=tools, user_context=context))
            self.log.append(line)
