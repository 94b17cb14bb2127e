"""Make the calls with both sets of data, and confirm differences.

The order is A, B, A: a part that differs between the two passes with A varies by chance or with
time, so it is no evidence. In each pass the server is a new process, or its data is set up anew,
and it gets the same calls in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import anyio

from harness.base import HarnessError, ServerError
from harness.judging import not_started
from harness.probing.call_facts import Lines
from harness.probing.caller_sessions import Prober
from harness.probing.callers import ProbeCaller
from harness.probing.interference.answer_locations import SHOWN, Record, Stage, build_records
from harness.probing.interference.comparison import AlterationComparison
from harness.probing.interference.data_sets import (
    Which,
    data_set,
    iterate_declarations,
    set_server_data,
    set_up_data,
    setup_caller,
)
from harness.probing.interference.further_calls import (
    AlteredValue,
    is_paging_name,
    propose_further_calls,
)
from harness.probing.planned_calls import ProbeCall
from harness.runlog import TrialLine
from harness.sessions import Pool, open_sessions
from harness.types import Alteration, ErrorKind, ToolList, Trial, TrialError

MOST_PAIRS = 6
"""How often a suspicious call is repeated with each set of data."""
Asks = Sequence[tuple[ProbeCaller, Sequence[ProbeCall]]]
"""Callers and their calls, in order."""


@dataclass(slots=True)
class Interference:
    """All calls for one altered value."""

    prober: Prober
    """The probe, which has the callers and calls."""
    number: int
    """Index of the alteration, from 0."""
    learn: Callable[[str], None]
    """Called with every new secret before it is used."""
    keep: Callable[[Lines], None]
    """Logs lines."""
    _records: list[Record] = field(default_factory=list)
    _visits: int = 0
    _holds: Which = "A"
    """The set of data that an already running server has now."""
    _left_out: int = 0
    _failed: bool = False

    async def run(self) -> None:
        """Make all calls; failures are logged."""
        try:
            await self._make_calls()
        # After a failure and an interruption, too: nobody wants a server with altered data.
        finally:
            if self._holds == "B":
                await self._restore_data()

    async def _make_calls(self) -> None:
        callers = self.prober.plan.callers
        own = self.prober.reads
        await self._compare_stage("own", [(caller, own) for caller in callers])
        found = self._build_comparison()
        if self._failed or found.failure is not None:
            return
        shut = [caller for caller in callers if caller.name in found.must_not_see]
        alike = found.number_structures()
        # The first caller of each structure, since later entries replace earlier ones.
        first = list({alike[caller.name]: caller for caller in reversed(shut)}.values())
        ranks = first, [caller for caller in shut if caller not in first]
        altered = AlteredValue(self.alteration.field, *found.collect_altered_fields())
        further, self._left_out = propose_further_calls(
            ranks, self.prober.pair_with_tools(), altered, found.collect_page_texts(is_paging_name)
        )
        asks = [(caller, further.get(caller.name, [])) for caller in shut]
        await self._compare_stage("further", [(caller, calls) for caller, calls in asks if calls])
        await self._confirm_suspicions(further, own)

    @property
    def alteration(self) -> Alteration:
        """The altered value."""
        return self.prober.plan.alterations[self.number]

    def _build_comparison(self) -> AlterationComparison:
        declared = list(iterate_declarations(self.prober.build_settings()))[self.number]
        return AlterationComparison(declared, self._records)

    async def _compare_stage(self, stage: Stage, asks: Asks) -> None:
        for which in ("A", "B", "A"):
            if not self._failed:
                await self._run_data_set(which, stage, asks)

    async def _confirm_suspicions(
        self, further: Mapping[str, Sequence[ProbeCall]], own: Sequence[ProbeCall]
    ) -> None:
        """Repeat suspicious calls with B and A in turns, as long as they differ."""
        suspects = self._build_comparison().list_suspects()
        for _ in range(MOST_PAIRS):
            if not suspects or self._failed:
                return
            by_caller: dict[str, list[ProbeCall]] = {}
            for name, label in suspects:
                known = {call.label: call for call in (*further.get(name, ()), *own)}
                # The list of tools is recorded with the first call of a session.
                call = own[0] if label == SHOWN else known[label]
                by_caller.setdefault(name, []).append(call)
            callers = (one for one in self.prober.plan.callers if one.name in by_caller)
            asks = [(caller, by_caller[caller.name]) for caller in callers]
            # B comes first, since the stage before ended with A.
            for which in ("B", "A"):
                await self._run_data_set(which, "again", asks)
            suspects = self._build_comparison().list_confirmed_calls()

    # ── One visit ────────────────────────────────────────────────────────────────────────────

    async def _run_data_set(self, which: Which, stage: Stage, asks: Asks) -> None:
        """Set up one set of data, and make the calls."""
        self._visits += 1
        server = set_server_data(self.prober.plan.server, data_set(self.alteration, which))
        try:
            async with open_sessions(self.learn) as pool:
                # Before the setup, so that data which it altered only in part are restored as well.
                self._holds = which
                await self._set_up(pool, which)
                plan = replace(self.prober.plan, server=server)
                here = replace(self.prober, plan=plan, pool=pool)
                for caller, calls in asks:
                    trials = [
                        (call, self._build_trial(which, stage, caller, call, first=place == 0))
                        for place, call in enumerate(calls)
                    ]
                    opens = partial(here.open_session, caller)
                    self._log_lines(await here.run_trials(trials, opens, watched=True))
        # Sessions run in a task group, which raises its errors as a group.
        except* HarnessError as errors:
            self._log_failure(which, stage, asks[0][0], errors)

    async def _set_up(self, pool: Pool, which: Which) -> None:
        plan = self.prober.plan
        await set_up_data(pool, plan.server, self.alteration, which, plan.callers)

    async def _restore_data(self) -> None:
        """Restore data set A on a server that was running before."""
        # What harness has started is gone by now, and its data with it.
        if self.prober.plan.server.transport.command is not None:
            return
        caller = setup_caller(self.alteration, self.prober.plan.callers)
        # Even if the probe is cancelled, since the server outlives it.
        with anyio.CancelScope(shield=True):
            try:
                async with open_sessions(self.learn) as pool:
                    await self._set_up(pool, "A")
            except* HarnessError as errors:
                self._log_failure("A", "again", caller, errors)

    def _log_lines(self, lines: Lines) -> None:
        self.keep(lines)
        for line, tools in lines:
            self._records += build_records(line.run, line.transcript, tools or ToolList(tools=()))
        if lines and all(line.run.error is not None for line, _ in lines):
            self._failed = True  # and no further call will do better

    def _log_failure(
        self,
        which: Which,
        stage: Stage,
        caller: ProbeCaller,
        errors: BaseExceptionGroup[HarnessError],
    ) -> None:
        """Log that a set of data could not be set up."""
        self._failed = True
        error: BaseException = errors
        # An entry of the log has room for one cause.
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        kind: ErrorKind = "server" if isinstance(error, ServerError) else "harness"
        trial = self._build_trial(which, stage, caller, None, first=False)
        fault = TrialError(kind=kind, message=str(error))
        self.keep([(TrialLine(run=not_started(trial, "error", error=fault)), None)])

    def _build_trial(
        self,
        which: Which,
        stage: Stage,
        caller: ProbeCaller,
        call: ProbeCall | None,
        *,
        first: bool,
    ) -> Trial:
        label = "the data" if call is None else call.label
        again = "" if self._visits <= 1 else f", visit {self._visits}"
        data = {
            "number": self.number,
            "which": which,
            "stage": stage,
            "call": None if call is None else call.label,
            "first": first,
            "left_out": self._left_out,
        }
        return self.prober.build_named_trial(
            caller,
            call or ProbeCall(tool="", arguments={}, changes=False),
            f"{label} with {which} of {self.alteration.name}{again} [{caller.name}]",
            label,
            None if call is None else {"altered": self.alteration.name},
            data=data,
        )
