"""Makes every call of every caller, each caller in its own session, and logs each call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from functools import partial

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
from harness.models import may_call
from harness.probing.call_facts import Lines, add_facts, add_token_payloads, judge_call, record_call
from harness.probing.callers import (
    MAX_DAMAGED,
    MAX_PROCESSES,
    ProbeCaller,
    build_damaged_callers,
    build_flawed_callers,
    build_lookalike_callers,
    find_unsent_tokens,
)
from harness.probing.effort.budget import Effort
from harness.probing.effort.concurrency import AT_ONCE
from harness.probing.interference.data_sets import declare_alteration
from harness.probing.planned_calls import (
    Expectations,
    ProbeCall,
    SkippedTool,
    check_names,
    choose_calls,
    find_declared_gates,
)
from harness.probing.probe_plan import ProbePlan
from harness.probing.roads.statements import collect_statements
from harness.probing.stability import RepeatReason
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
    Caller,
    Case,
    JsonObject,
    ModelSpec,
    SideContent,
    Tool,
    ToolList,
    ToolRequest,
    Transcript,
    Trial,
    TrialError,
)

SUITE = "probe"
NO_MODEL = ModelSpec(name="none", provider="probe", model_id="none")
"""Placeholder: a probe calls tools without a model."""
ROUNDS = 2
"""How often the suite's own identities make each call. In the second round they take turns in
reverse order: a server that remembers the previous caller's identity then answers differently."""


@dataclass(slots=True)
class Prober:
    """A probe in progress: makes its calls and returns their log lines."""

    plan: ProbePlan
    pool: Pool
    calls: list[ProbeCall] = field(default_factory=list)
    skipped: list[SkippedTool] = field(default_factory=list)
    lists: dict[str, ToolList] = field(default_factory=dict)
    expected: Expectations = field(default_factory=lambda: Expectations((), {}))
    effort: Effort = field(default_factory=Effort)

    @property
    def reads(self) -> list[ProbeCall]:
        """The calls that change nothing."""
        return [call for call in self.calls if not call.changes]

    @property
    def tools(self) -> dict[str, Tool]:
        """Every listed tool that the probe may call, by name."""
        listed = (tool for tools in self.lists.values() for tool in tools.tools)
        return {tool.name: tool for tool in listed if self.plan.narrowing.has_tool(tool.name)}

    @property
    def suspects(self) -> tuple[ProbeCaller, ...]:
        """The suite's identities that try to get more than they should."""
        chosen = self.plan.narrowing
        return tuple(caller for caller in self.plan.callers if chosen.has_identity(caller.name))

    @property
    def most_processes(self) -> int:
        """How many callers may have a process of their own at the same time."""
        # With `isolation: none`, there may be a server that can run only once.
        return 1 if self.plan.server.isolation == "none" else AT_ONCE

    def pair_with_tools(self, *, destructive: bool = False) -> list[tuple[ProbeCall, Tool]]:
        """Return the calls that change nothing, with any arguments, and their tools."""
        tools = self.tools
        # With other arguments, the words of a tool are no proof that such a call only reads.
        return [
            (call, tools[call.tool])
            for call in self.reads
            if call.tool in tools and (destructive or may_call(tools[call.tool], invented=True))
        ]

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
        server = self.plan.server
        if failure is None:  # who could not be asked may be offered what the others are not
            check_names(server, self.lists.values(), self.plan.cases)
        tools: dict[str, Tool] = {}
        for listed in self.lists.values():
            tools |= {tool.name: tool for tool in listed.tools if tool.name not in tools}
        narrowing = self.plan.narrowing
        narrowing.check_tools(tools)
        self.expected = Expectations(self.plan.cases, tools)
        self.calls, self.skipped = choose_calls(
            self.plan.cases,
            tools,
            destructive=self.plan.destructive,
            block=server.guard.block,
            read_only=server.guard.read_only,
            leave=get_leave(server.guard),
        )
        self.calls = [call for call in self.calls if narrowing.has_tool(call.tool)]
        self.skipped = [one for one in self.skipped if narrowing.has_tool(one.tool)]
        if not self.calls:
            reasons = "; ".join(f"{each.tool}: {each.reason}" for each in self.skipped)
            raise NothingToRun(f"there is no call to make: {reasons or 'the server has no tools'}")

    def list_callers(self) -> tuple[ProbeCaller, ...]:
        """Return all callers: the suite's own identities, damaged ones, and flawed tokens."""
        own, delivery = self.plan.callers, delivery_of(self.plan.server.identity)
        is_tried = delivery.is_signed and self.plan.narrowing.has_kind("tokens")
        flawed = build_flawed_callers(self.suspects) if is_tried else ()
        return (*own, *self._damage_callers()[0], *flawed)

    def _damage_callers(self) -> tuple[tuple[ProbeCaller, ...], int]:
        """Return the damaged identities that call, and the number of those left out."""
        if not (self.plan.damaged and self.plan.narrowing.has_kind("identities")):
            return (), 0
        own, delivery = self.plan.callers, delivery_of(self.plan.server.identity)
        # With a process for each identity, each costs a start of the server.
        most = MAX_PROCESSES if delivery.has_process_per_user else MAX_DAMAGED
        damaged = build_damaged_callers(own, by_token=delivery.takes_tokens)
        tried = {caller.name for caller in self.suspects}
        damaged = tuple(one for one in damaged if tried.intersection(one.bases))
        tried |= {one.name for one in damaged}
        alike = (one for one in build_lookalike_callers(own) if tried.intersection(one.bases))
        every = (*damaged, *alike)
        return every[:most], max(0, len(every) - most)

    def build_settings(self) -> JsonObject:
        """Return the settings of the probe for the log's header."""
        return {
            "probe": True,
            "min_coverage": self.plan.min_coverage,
            "effort": self.plan.budget.options,
            "narrowed": self.plan.narrowing.options,
            "not_asked": self._damage_callers()[1],
            "unsent_tokens": find_unsent_tokens(self.plan.server),
            "gates": [*filter(self.plan.narrowing.has_tool, find_declared_gates(self.plan.cases))],
            "meta_key": find_meta_key(delivery_of(self.plan.server.identity)),
            "expected_hidden": {
                caller.name: tools
                for caller in self.plan.callers
                if (tools := self.expected.list_hidden_tools(caller.user_context))
            },
            "statements": collect_statements(self.expected, self.plan.callers),
            "alterations": [
                declare_alteration(alteration, self.plan.callers, self.calls, self.expected)
                for alteration in self.plan.alterations
            ],
        }

    def open_session(self, caller: ProbeCaller) -> AbstractAsyncContextManager[Session]:
        """Open a session of ``caller``."""
        server = with_shared_process(self.plan.server)
        return self.pool.lend_session(server, caller.user_context, caller.credential)

    async def make_calls(
        self,
        caller: ProbeCaller,
        calls: Iterable[ProbeCall],
        number: int = 1,
        *,
        apart: bool = False,
    ) -> Lines:
        """Make ``calls`` as ``caller``, one after the other; return a line for each.

        ``apart``: in a separate process, since the changes of one caller must not affect the next.
        """
        trials = [(call, self.build_trial(caller, call, number)) for call in calls]
        opens = partial(self.open_own_session if apart else self.open_session, caller)
        # Damaged identities are not searched for leaks: they must get no more.
        return await self.run_trials(trials, opens, watched=not caller.bases)

    def open_own_session(self, caller: ProbeCaller) -> AbstractAsyncContextManager[Session]:
        """Open a session of ``caller`` in a separate process."""
        own = self.plan.server.with_isolation("case")
        return self.pool.lend_session(own, caller.user_context, caller.credential)

    async def run_trials(
        self,
        trials: Sequence[tuple[ProbeCall, Trial]],
        open_session: Callable[[], AbstractAsyncContextManager[Session]],
        *,
        watched: bool = False,
    ) -> Lines:
        """Make the calls of ``trials``, one after the other; return a line for each.

        ``watched``: also log what the server sends outside of results. A spent budget ends it.
        """
        lines: Lines = []
        while (rest := trials[len(lines) :]) and not self.effort.is_spent():
            try:
                async with open_session() as session:
                    beside = await session.watch() if watched else ()
                    for call, trial in rest:
                        if self.effort.is_spent():
                            break
                        # It belongs to the session and not to a call, so it is logged with the
                        # first one alone.
                        shown = beside if not lines and trial.number == 1 else ()
                        is_last = watched and trial.number == 1 and trial is rest[-1][1]
                        line = await self.make_call(session, call, trial, shown, is_last=is_last)
                        lines.append((line, session.tools))
                        if session.loss_reason is not None:
                            break  # what comes next is asked of a new one
            except NotAdmitted as error:
                status, now = error.status, utc_now()
                refused = Transcript(stop="not_admitted", refused_status=status, started_at=now)
                unasked = [trial for _, trial in rest]
                # The refusal itself may quote the token that it refuses.
                if self.pool.has_sent_token(str(error)):
                    unasked = [add_facts(trial, echoed=True) for trial in unasked]
                none = ToolList(tools=())
                lines += [(await judge_call(trial, refused, none), None) for trial in unasked]
            except HarnessError as error:
                # Calls that were made keep their lines; the others fail with the session.
                rest = trials[len(lines) :]
                lines += [(self.build_failed_line(error, trial), None) for _, trial in rest]
        self.effort.leave_out(len(trials) - len(lines))
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
        self.effort.count_call()
        started_at, epoch = utc_now(), anyio.current_time()
        request = ToolRequest(
            id="probe", tool=call.tool, arguments=call.arguments, meta=dict(meta or {})
        )
        try:
            made = add_token_payloads(await session.call(request, reply=1, epoch=epoch))
            # An error that the server returns is an answer, and judged as one.
            fault = TrialError(kind="server", message=f"{made.tool}: {made.text}")
            error = fault if made.is_unanswered else None
        except RequestRejected as rejected:
            error = trial_error(rejected)
            made = build_unanswered_call(
                request, "server_lost", error.message, reply=1, epoch=epoch
            )
        # stderr belongs to no single call: what it has by then is logged with the last one.
        if is_last:
            beside = limit_side_channels((*beside, *read_operator_log(session)))
        return await record_call(
            trial,
            session,
            made,
            error,
            started_at=started_at,
            latency_s=round(anyio.current_time() - epoch, 6),
            beside=beside,
        )

    def build_trial(
        self,
        caller: ProbeCaller,
        call: ProbeCall,
        number: int = 1,
        again: RepeatReason | None = None,
        facts: JsonObject | None = None,
    ) -> Trial:
        """Return the trial of one call by one caller; ``again`` marks a repetition.

        ``facts`` stand in the place of those by which the log counts a repetition among the calls
        that confirm a suspicion.
        """
        name, after = f"{call.label} [{caller.name}]", None
        if again is not None:
            name, after = f"{name} {again.words}", again.after
            facts = {"call": call.label, "after": after} if facts is None else facts
        how: JsonObject = {"after": after}
        trial = self.build_named_trial(caller, call, name, call.label, how, number, **(facts or {}))
        # Only for the suite's own identities it is known what they may see. A repetition is not
        # judged: one wrong decision would be reported several times.
        if caller.bases or again is not None:
            return trial
        checks = self.expected.find_checks(caller.user_context, call.tool, call.arguments)
        grouped = replace(trial.case.caller, group=call.label)
        case = replace(trial.case, checks=checks, caller=grouped)
        return replace(trial, case=case, repeats=1 if call.changes else ROUNDS)

    def build_named_trial(
        self,
        caller: ProbeCaller,
        call: ProbeCall,
        name: str,
        label: str,
        how: JsonObject | None,
        number: int = 1,
        words: str = "",
        /,
        **facts: object,
    ) -> Trial:
        """Return the trial ``name`` of one call, which tables call ``label``, with further facts.

        ``how`` are the options of the command that makes the call again; ``None``: none does.
        ``words`` tell the trial from others of this name.
        """
        probe = {
            "tool": call.tool,
            "arguments": dict(call.arguments),
            "bases": list(caller.bases),
            "damage": caller.damage,
            "credential": caller.credential,
            **({} if how is None else self.plan.origin.build_fact(caller, call, **how)),
            **facts,
        }
        context, credential = caller.user_context, caller.credential
        asks = Caller(user_context=context, credential=credential, identity=caller.name)
        case = Case(name=name, prompt=label, checks=(), caller=asks, metadata={"probe": probe})
        said = [self.plan.server.name, name, call.arguments, caller.user_context, number, words]
        key, model = digest_json(said), NO_MODEL.name
        return Trial(suite=SUITE, case=case, model=model, number=number, key=key)
