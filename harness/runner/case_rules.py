"""What a case and its suite bring to a trial: calls, answers, leave to write, costs."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, get_args

import anyio

from harness.base import HarnessError, call_user_code, canonical_json, format_error
from harness.judging import expected_tools
from harness.models import CautiousModel, Leave, Model, is_read_only
from harness.runner.planning.plan import Job
from harness.runner.users import Speaker
from harness.runner.variants.shown_tools import ShownTools
from harness.sessions import AskableSession, ElicitReply, Session, UserQuestions
from harness.types import (
    Case,
    ElicitAction,
    Elicitation,
    ElicitRule,
    GuardRails,
    ScriptedCall,
    Suite,
    ToolCall,
    ToolRequest,
    Transcript,
    TrialError,
    Usage,
    attach_questions,
)


def get_leave(guard: GuardRails) -> Leave:
    """Return the leave that ``allow_writes`` of a suite gives."""
    return Leave(
        everything=guard.allow_writes, tools=frozenset(named.tool for named in guard.allowed)
    )


def grant_leave(model: Model, job: Job, shown: Sequence[ShownTools] = ()) -> Model:
    """Return ``model`` with the leave of this trial, if it needs one.

    The tools of a leaderboard are simulated in memory, so there is nothing to protect. ``shown``:
    the lists that the model sees under a variant, whose words decide nothing here.
    """
    if not isinstance(model, CautiousModel):
        return model
    leave = get_leave(job.server.guard)
    leave = replace(
        leave,
        everything=leave.everything or job.suite.leaderboard is not None,
        tools=leave.tools | expected_tools(job.trial.case),
    )
    # The model asks by the variant's names; what only reads is known by the server's words.
    if shown:
        leave = replace(
            leave,
            tools=leave.tools
            | {each.map_to_model(tool, {})[0] for each in shown for tool in leave.tools},
            reading=frozenset(
                each.map_to_model(tool.name, {})[0]
                for each in shown
                for tool in each.offered.tools
                if is_read_only(tool)
            ),
        )
    return model.with_leave(leave)


def own_costs(suite: Suite, model: str) -> Callable[[Usage], Usage] | None:
    """Return a function that sets a usage's cost by the suite's estimate; ``None`` without one."""
    estimate = suite.estimate_cost
    if estimate is None:
        return None

    def price_usage(usage: Usage) -> Usage:
        # Half of the tokens would have a price that looks like that of the whole.
        if usage.input_tokens is None or usage.output_tokens is None:
            return replace(usage, cost_usd=None)
        try:
            cost = estimate(model, usage.input_tokens, usage.output_tokens)
            cost = None if cost is None else float(cost)
        except Exception as error:  # a suite's own code may raise anything
            raise HarnessError(
                f"cost_estimator of suite {suite.name} raised an error: {format_error(error)}"
            ) from error
        # NaN would pass every budget, since no comparison with it holds.
        if cost is not None and not (math.isfinite(cost) and cost >= 0):
            raise HarnessError(
                f"cost_estimator of suite {suite.name} returned {cost:g}, which is not a cost in "
                "US dollars"
            )
        return replace(usage, cost_usd=cost)

    return price_usage


INSTRUCTIONS = "# Instructions of the MCP servers"
"""Heads the instructions in the system prompt, as the common hosts have a heading there."""


def add_instructions(system: str | None, instructions: Mapping[str, str]) -> str | None:
    """Return the system prompt with the ``instructions`` of each server, as hosts add them."""
    if not instructions:
        return system
    sections = [f"## {server}\n\n{said}" for server, said in instructions.items()]
    return "\n\n".join(filter(None, (system, INSTRUCTIONS, *sections)))


TEARDOWN_S = 10.0
"""Seconds for all teardown calls of a trial together; no interrupt cuts them short."""

_ARGUMENT_CHARS = 200
_TEXT_CHARS = 500


class ScriptedCalls:
    """The setup and teardown of one trial, made through the session of its conversation."""

    def __init__(self, case: Case, session: Session) -> None:
        """Prepare; nothing is sent before `set_up`."""
        self._case = case
        self._session = session
        self._setup: list[ToolCall] = []
        self._teardown: list[ToolCall] = []

    async def set_up(self) -> bool:
        """Make the setup calls in order up to the first failure; return whether all succeeded."""
        epoch = anyio.current_time()
        for number, call in enumerate(self._case.setup, start=1):
            self._setup.append(await self._make_call(call, f"setup_{number}", epoch))
            # What follows would be asked of another state than the case describes.
            if self._setup[-1].is_error:
                return False
        return True

    async def tear_down(self) -> None:
        """Make all teardown calls within `TEARDOWN_S`, even if the trial was interrupted."""
        calls, epoch = self._case.teardown, anyio.current_time()
        # Shielded, since data that stays behind would be found by the next trial.
        with anyio.move_on_after(TEARDOWN_S, shield=True):
            for number, call in enumerate(calls, start=1):
                self._teardown.append(await self._make_call(call, f"teardown_{number}", epoch))
        # A call that was cut off is among them: it was sent, but nobody knows what became of it.
        self._teardown += [
            ToolCall(
                tool=call.tool,
                arguments=call.arguments,
                outcome="timeout",
                reply=0,
                text=f"teardown took longer than {TEARDOWN_S:g} s",
            )
            for call in calls[len(self._teardown) :]
        ]

    def complete_transcript(self, transcript: Transcript) -> Transcript:
        """Return ``transcript`` with the calls before and after its conversation."""
        around = replace(
            transcript, setup_calls=tuple(self._setup), teardown_calls=tuple(self._teardown)
        )
        if not (self._setup and self._setup[-1].is_error):
            return around
        made, at = self._setup[-1], self._case.setup[len(self._setup) - 1].at
        arguments = canonical_json(made.arguments)[:_ARGUMENT_CHARS]
        words = f"{made.tool}({arguments}) → {made.outcome}: {made.text[:_TEXT_CHARS]}"
        error = TrialError(
            # A call blocked by harness's own guard rails is not the server's fault.
            kind="harness" if made.outcome == "blocked" else "server",
            message=f"setup failed: {words}{f' ({at})' if at else ''}",
            detail=self._session.stderr_tail() or None,
        )
        return replace(around, stop="error", error=error)

    async def _make_call(self, call: ScriptedCall, request_id: str, epoch: float) -> ToolCall:
        request = ToolRequest(id=request_id, tool=call.tool, arguments=call.arguments)
        # Reply 0: no reply of the model asked for it.
        return await self._session.call(request, reply=0, epoch=epoch)


# ── Answers to the questions of a server ─────────────────────────────────────────────────────

NOBODY = "nothing: no rule fits"
"""`Elicitation.answered_by` where nothing answered, so that the question was declined."""


class QuestionAnswers:
    """The questions of a server in one trial, and the answers of its case."""

    def __init__(self, rules: Sequence[ElicitRule] | None) -> None:
        """Answer by ``rules``; ``None``: nobody can be asked."""
        self._rules = rules
        self.speaker: Speaker | None = None
        """Who plays the user, if anybody does."""
        self._questions = UserQuestions(self._decide)
        self._usage = Usage()

    @asynccontextmanager
    async def open(self, sessions: Sequence[Session]) -> AsyncGenerator[Sequence[Session]]:
        """Yield ``sessions``, whose questions are answered if anybody can be asked."""
        if self._rules is None:
            yield sessions
            return
        async with AsyncExitStack() as listening:
            asked = [AskableSession(session, self._questions) for session in sessions]
            for session in asked:
                await listening.enter_async_context(session.listen())
            yield asked

    def complete_transcript(self, transcript: Transcript) -> Transcript:
        """Return ``transcript`` with the questions; an answer that does not fit is its error."""
        if self._rules is None:
            return transcript
        asked = replace(
            transcript,
            messages=attach_questions(transcript.messages, self._questions.asked),
            user_usage=transcript.user_usage + self._usage,
        )
        fault = self._questions.fault
        if fault is None or transcript.error is not None:
            return asked
        error = TrialError(kind="configuration", message=fault)
        return replace(asked, stop="error", error=error)

    async def _decide(self, asked: Elicitation) -> ElicitReply:
        for number, rule in enumerate(self._rules or (), start=1):
            if fits(rule, asked):
                where = "" if rule.at is None else f" ({rule.at})"
                return await self._follow(rule, asked, f"rule {number} of elicit{where}")
        return ElicitReply(action="decline", by=NOBODY)

    async def _follow(self, rule: ElicitRule, asked: Elicitation, by: str) -> ElicitReply:
        """Return the answer that ``rule`` gives to ``asked``."""
        if rule.code is not None:
            return read_answer(await _call_code(rule.code, asked), by)
        if rule.answer != "user":
            return ElicitReply(action=rule.answer, content=rule.content, by=by)
        answered = None if self.speaker is None else await self.speaker.answer_form(asked)
        if answered is None:
            return ElicitReply(action="decline", by="nothing: no simulated user answers forms")
        self._usage += answered.usage
        return replace(answered.reply, is_written=False)


def fits(rule: ElicitRule, asked: Elicitation) -> bool:
    """Whether ``rule`` is for the question ``asked``."""
    return (
        (rule.message is None or rule.message.casefold() in asked.message.casefold())
        and rule.tool in (None, asked.tool)
        and (rule.form_field is None or rule.form_field in asked.fields)
        and rule.mode in (None, asked.mode)
    )


async def _call_code(code: Any, asked: Elicitation) -> Any:
    try:
        return await call_user_code(code, asked)
    except HarnessError:
        raise
    except (Exception, SystemExit) as error:  # any error of a suite's own code
        raise HarnessError(f"the program of elicit raised {format_error(error)}") from error


def read_answer(said: Any, by: str) -> ElicitReply:
    """Return the answer that a program gave: an action, the content to accept with, or nothing.

    Raises:
        HarnessError: it is none of these.
    """
    if said is None:
        return ElicitReply(action="decline", by=by)
    if isinstance(said, Mapping):
        return ElicitReply(action="accept", content=dict(said), by=by)
    if said in get_args(ElicitAction):
        return ElicitReply(action=said, by=by)
    raise HarnessError(
        f"the program of elicit must return accept, decline, cancel, the content of a form, or "
        f"None, but returned {str(said)[:100]!r}"
    )
