"""Makes every call of every caller, each caller in its own session, and logs each call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field

import anyio

from harness.base import (
    HarnessError,
    NotAdmitted,
    NothingToRun,
    RequestRejected,
    ServerError,
    digest_json,
    utc_now,
)
from harness.judging import judge_trial, not_started
from harness.probing.call_facts import add_fact, find_error, get_result, judge_call
from harness.probing.callers import (
    MAX_DAMAGED,
    MAX_PROCESSES,
    ProbeCaller,
    build_damaged_callers,
    build_flawed_callers,
    find_unsent_tokens,
)
from harness.probing.evidence.payloads import add_token_payloads
from harness.probing.expectations import Expectations
from harness.probing.interference.declarations import declare_alteration
from harness.probing.lookalikes import build_lookalike_callers
from harness.probing.planned_calls import ProbeCall, SkippedTool, check_names, choose_calls
from harness.probing.repeated_calls import RepeatReason, Suspicion
from harness.probing.replay import ProbeOptions
from harness.probing.stability import depends_on_previous, extract_traits
from harness.runlog import TrialLine
from harness.runner import get_leave, trial_error
from harness.sessions import (
    Pool,
    Session,
    build_unanswered_call,
    delivery_of,
    find_meta_key,
    limit_side_channels,
    read_operator_log,
    with_shared_process,
)
from harness.types import (
    Alteration,
    Caller,
    Case,
    Check,
    JsonObject,
    ModelSpec,
    ServerSpec,
    SideContent,
    Tool,
    ToolList,
    ToolRequest,
    Transcript,
    Trial,
)

SUITE = "probe"
NO_MODEL = ModelSpec(name="none", provider="probe", model_id="none")
"""Placeholder: a probe calls tools without a model."""
ROUNDS = 2
"""How often the suite's own identities make each call. In the second round they take turns in
reverse order: a server that remembers the previous caller's identity then answers differently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbePlan:
    """The configuration of a probe."""

    server: ServerSpec
    """The server under test."""
    callers: tuple[ProbeCaller, ...]
    """The suite's own identities."""
    cases: tuple[Case, ...]
    """The suites' cases, which the calls are taken from."""
    destructive: bool = False
    """Whether calls that may change data are made."""
    damaged: bool = True
    """Whether damaged identities call as well."""
    min_coverage: float | None = None
    """The minimum coverage in percent (`harness.probing.coverage`)."""
    origin: ProbeOptions = field(default_factory=ProbeOptions)
    """The source of server and identities, for commands that repeat a call."""
    alterations: tuple[Alteration, ...] = ()
    """Withheld values that are altered (`harness.probing.interference`)."""


@dataclass(slots=True)
class Prober:
    """A probe in progress: makes its calls and returns their log lines."""

    plan: ProbePlan
    pool: Pool
    calls: list[ProbeCall] = field(default_factory=list)
    skipped: list[SkippedTool] = field(default_factory=list)
    lists: dict[str, ToolList] = field(default_factory=dict)
    expected: Expectations = field(default_factory=lambda: Expectations((), {}))

    async def list_tools(self) -> None:
        """List the tools as the suite's own identities see them, and choose the calls."""
        failure: HarnessError | None = None
        for caller in self.plan.callers:
            try:
                async with self.open_session(caller) as session:
                    self.lists[caller.name] = session.tools
            except NotAdmitted:
                # That a server does not let somebody in is a decision, and no failure.
                continue
            except ServerError as error:
                # Not raised yet: it is no failure of the probe as long as another caller gets a
                # list.
                failure = error
        if not self.lists and failure is not None:
            raise failure
        if failure is None:  # who could not be asked may be offered what the others are not
            check_names(self.plan.server, self.lists.values(), self.plan.cases)
        tools: dict[str, Tool] = {}
        for listed in self.lists.values():
            tools |= {tool.name: tool for tool in listed.tools if tool.name not in tools}
        self.expected = Expectations(self.plan.cases, tools)
        server = self.plan.server
        self.calls, self.skipped = choose_calls(
            self.plan.cases,
            tools,
            destructive=self.plan.destructive,
            block=server.guard.block,
            read_only=server.guard.read_only,
            leave=get_leave(server.guard),
        )
        if not self.calls:
            reasons = "; ".join(f"{each.tool}: {each.reason}" for each in self.skipped)
            raise NothingToRun(f"there is no call to make: {reasons or 'the server has no tools'}")

    def list_callers(self) -> tuple[ProbeCaller, ...]:
        """Return all callers: the suite's own identities, damaged ones, and flawed tokens."""
        own = self.plan.callers
        flawed = (
            build_flawed_callers(own) if delivery_of(self.plan.server.identity).is_signed else ()
        )
        return (*own, *self._damage_callers()[0], *flawed)

    def _damage_callers(self) -> tuple[tuple[ProbeCaller, ...], int]:
        """Return the damaged identities that call, and the number of those left out."""
        if not self.plan.damaged:
            return (), 0
        own, delivery = self.plan.callers, delivery_of(self.plan.server.identity)
        # With a process for each identity, each costs a start of the server.
        most = MAX_PROCESSES if delivery.has_process_per_user else MAX_DAMAGED
        every = (
            *build_damaged_callers(own, by_token=delivery.takes_tokens),
            *build_lookalike_callers(own),
        )
        return every[:most], max(0, len(every) - most)

    def build_settings(self) -> JsonObject:
        """Return the settings of the probe for the log's header."""
        return {
            "probe": True,
            "min_coverage": self.plan.min_coverage,
            "not_asked": self._damage_callers()[1],
            "unsent_tokens": find_unsent_tokens(self.plan.server),
            "meta_key": find_meta_key(delivery_of(self.plan.server.identity)),
            "expected_hidden": {
                caller.name: tools
                for caller in self.plan.callers
                if (tools := self.expected.list_hidden_tools(caller.user_context))
            },
            "alterations": [
                declare_alteration(alteration, self.plan.callers, self.calls, self.expected)
                for alteration in self.plan.alterations
            ],
        }

    def open_session(self, caller: ProbeCaller) -> AbstractAsyncContextManager[Session]:
        """Open a session of ``caller``."""
        return self.pool.lend_session(
            with_shared_process(self.plan.server), caller.user_context, caller.credential
        )

    async def make_calls(
        self, caller: ProbeCaller, calls: Iterable[ProbeCall], index: int
    ) -> list[tuple[TrialLine, ToolList | None]]:
        """Make read-only ``calls`` as ``caller``, one after the other; return a line for each."""
        trials = [(call, self.build_trial(caller, call, index)) for call in calls]
        return await self.run_trials(
            trials,
            lambda: self.open_session(caller),
            # Damaged identities are not searched for leaks: they must get no more.
            watched=not caller.bases,
        )

    async def make_changing_calls(
        self, caller: ProbeCaller, calls: Iterable[ProbeCall]
    ) -> list[tuple[TrialLine, ToolList | None]]:
        """Make ``calls`` that may change data as ``caller``, in a separate process.

        The changes of one caller must not affect the next one.
        """
        trials = [(call, self.build_trial(caller, call, 0)) for call in calls]
        return await self.run_trials(
            trials, lambda: self.open_own_session(caller), watched=not caller.bases
        )

    async def confirm_suspicion(
        self, suspicion: Suspicion
    ) -> tuple[bool, list[tuple[TrialLine, ToolList | None]]]:
        """Repeat a suspicious call right after other callers' calls.

        Return whether its answer depended on the previous caller in every round, and the lines.
        All sessions are opened beforehand: a server may remember whoever opened one last.
        """
        callers = {caller.name: caller for caller in self.plan.callers}
        call = next(call for call in self.calls if call.label == suspicion.call)
        lines: list[tuple[TrialLine, ToolList | None]] = []
        after: dict[str, list[frozenset[str]]] = {}
        async with AsyncExitStack() as stack:
            sessions: dict[str, Session] = {}
            for name in dict.fromkeys((*suspicion.preceding_callers, suspicion.name)):
                try:
                    sessions[name] = await stack.enter_async_context(
                        self.open_session(callers[name])
                    )
                except HarnessError as error:
                    trial = self.build_trial(
                        callers[name], call, 0, RepeatReason(f"to confirm {suspicion.name}")
                    )
                    return False, [(self.build_failed_line(error, trial), None)]
            for index, order in enumerate(suspicion.iterate_orders()):
                for before in order:
                    for name, again in suspicion.list_steps(before):
                        trial = self.build_trial(callers[name], call, index, again)
                        line = await self.make_call(sessions[name], call, trial)
                        lines.append((line, sessions[name].tools))
                        # A missing answer neither confirms nor refutes, so there is no finding.
                        if line.run.error is not None:
                            return False, lines
                    after.setdefault(before, []).append(extract_traits(get_result(line)))
                # One round without the difference is enough, and spares the others.
                if not depends_on_previous(after):
                    return False, lines
        return True, lines

    def open_own_session(self, caller: ProbeCaller) -> AbstractAsyncContextManager[Session]:
        """Open a session of ``caller`` in a separate process."""
        own = self.plan.server.with_isolation("case")
        return self.pool.lend_session(own, caller.user_context, caller.credential)

    async def run_trials(
        self,
        trials: Sequence[tuple[ProbeCall, Trial]],
        open_session: Callable[[], AbstractAsyncContextManager[Session]],
        *,
        watched: bool,
    ) -> list[tuple[TrialLine, ToolList | None]]:
        """Make the calls of ``trials``, one after the other; return a line for each.

        ``watched``: also log what the server sends outside of results.
        """
        lines: list[tuple[TrialLine, ToolList | None]] = []
        while rest := trials[len(lines) :]:
            try:
                async with open_session() as session:
                    beside = await session.watch() if watched else ()
                    for call, trial in rest:
                        # It belongs to the session and not to a call, so it is logged with the
                        # first one alone.
                        shown = beside if not lines and trial.number == 1 else ()
                        is_last = watched and trial.number == 1 and trial is rest[-1][1]
                        line = await self.make_call(session, call, trial, shown, is_last=is_last)
                        lines.append((line, session.tools))
                        if session.loss_reason is not None:
                            break  # what comes next is asked of a new one
            except NotAdmitted as error:
                refused = Transcript(
                    stop="not_admitted", refused_status=error.status, started_at=utc_now()
                )
                unasked = [trial for _, trial in rest]
                # The refusal itself may quote the token that it refuses.
                if self.pool.has_sent_token(str(error)):
                    unasked = [add_fact(trial, "echoed", value=True) for trial in unasked]
                lines += [
                    (await judge_call(trial, refused, ToolList(tools=())), None)
                    for trial in unasked
                ]
            except HarnessError as error:
                # Calls that were made keep their lines; the others fail with the session.
                rest = trials[len(lines) :]
                lines += [(self.build_failed_line(error, trial), None) for _, trial in rest]
        return lines

    def build_failed_line(self, error: HarnessError, trial: Trial) -> TrialLine:
        """Return the line of a call whose session did not open.

        The line has a transcript if the server had received the damaged identity. With
        a process per user, the identity may keep the process from starting, so it has none.
        """
        fault = trial_error(error)
        if (
            trial.case.metadata["probe"]["bases"]
            and isinstance(error, ServerError)
            and error.gone
            and not delivery_of(self.plan.server.identity).has_process_per_user
        ):
            silent = Transcript(stop="error", error=fault, started_at=utc_now())
            return TrialLine(run=judge_trial(trial, silent, ()), transcript=silent)
        return TrialLine(run=not_started(trial, "error", error=fault))

    async def make_call(
        self,
        session: Session,
        call: ProbeCall,
        trial: Trial,
        beside: tuple[SideContent, ...] = (),
        *,
        is_last: bool = False,
        meta: JsonObject | None = None,
    ) -> TrialLine:
        """Make ``call``, with ``meta`` added to ``_meta`` of the request, and return its line."""
        started_at, epoch = utc_now(), anyio.current_time()
        request = ToolRequest(
            id="probe", tool=call.tool, arguments=call.arguments, meta=dict(meta or {})
        )
        try:
            made = add_token_payloads(await session.call(request, reply=1, epoch=epoch))
            error = find_error(made)
        except RequestRejected as rejected:
            error = trial_error(rejected)
            made = build_unanswered_call(
                request, "server_lost", error.message, reply=1, epoch=epoch
            )
        # stderr belongs to no single call: what it has by then is logged with the last one.
        if is_last:
            beside = limit_side_channels((*beside, *read_operator_log(session)))
        transcript = Transcript(
            tool_calls=(made,),
            replies=1,
            started_at=started_at,
            latency_s=round(anyio.current_time() - epoch, 6),
            tools=tuple(tool.name for tool in session.tools.tools),
            tools_digest=session.tools.digest,
            beside=beside,
            error=error,
            stop="answer" if error is None else "error",
        )
        return await judge_call(trial, transcript, session.tools)

    def _find_checks(self, caller: ProbeCaller, call: ProbeCall) -> tuple[Check, ...]:
        if caller.bases:
            return ()
        return self.expected.find_checks(caller.user_context, call.tool, call.arguments)

    def build_trial(
        self, caller: ProbeCaller, call: ProbeCall, index: int, again: RepeatReason | None = None
    ) -> Trial:
        """Return the trial of one call by one caller; ``again`` marks a repetition."""
        name = f"{call.label} [{caller.name}]"
        case = Case(
            name=name if again is None else f"{name} {again.words}",
            prompt=call.label,
            # A repetition is not judged: one wrong decision would be reported several times.
            checks=self._find_checks(caller, call) if again is None else (),
            caller=Caller(
                user_context=caller.user_context,
                credential=caller.credential,
                identity=caller.name,
                group=call.label if not caller.bases and again is None else None,
            ),
            # Only for the suite's own identities it is known what they may see.
            metadata={
                "probe": {
                    "tool": call.tool,
                    "arguments": dict(call.arguments),
                    "bases": list(caller.bases),
                    "damage": caller.damage,
                    "credential": caller.credential,
                    **self.plan.origin.build_fact(
                        caller, call, after=None if again is None else again.after
                    ),
                    **({} if again is None else {"call": call.label, "after": again.after}),
                }
            },
        )
        facts = [self.plan.server.name, case.name, call.tool, call.arguments]
        key = digest_json([*facts, caller.user_context, index])
        repeats = ROUNDS if not caller.bases and not call.changes and again is None else 1
        return Trial(
            suite=SUITE, case=case, model=NO_MODEL.name, number=index + 1, key=key, repeats=repeats
        )
