"""One conversation: prompt ↔ model ↔ session, until there is an answer or a limit.

`Conversation.run` carries it out, `Conversation.build_transcript` returns what happened. They are
separate so that a cancelled conversation still has a transcript of everything until then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import anyio

from harness.base import ModelError, utc_now
from harness.models import Model, cut_result
from harness.runner.agent.model_under_test import ModelUnderTest
from harness.runner.agent.strategy import Strategy
from harness.runner.users import Speaker, find_agent_ending, find_ending
from harness.sessions import Session, build_unanswered_call
from harness.types import (
    DEFAULT_TIMEOUT_S,
    SEARCH,
    AssistantMessage,
    Case,
    Limits,
    Message,
    Outcome,
    Reply,
    ScriptedCall,
    SimulatedUser,
    Stop,
    ToolAnswer,
    ToolCall,
    ToolMessage,
    ToolRequest,
    Transcript,
    TrialError,
    Turn,
    Usage,
    UserMessage,
    sum_server_waits,
)

_LIMITED: dict[Stop, str] = {
    "reply_limit": "the limit of replies was reached",
    "call_limit": "the limit of tool calls was reached",
    "token_limit": "the limit of tokens was reached",
    "cost_limit": "the limit of cost was reached",
    "max_tokens": "the reply was cut at the model's token limit",
    "malformed_call": "a call of the reply could not be read",
    "context_limit": "the conversation no longer fits the model",
}
"""Why a requested call was not sent, by what ended the conversation."""

_ANSWERED: tuple[Stop, ...] = ("answer", "refusal")
"""After these endings the user may continue."""


class ModelConversation:
    """One case, run with one model and the tools of one session."""

    def __init__(
        self,
        case: Case,
        model: Model,
        session: Session,
        system: str | None = None,
        price: Callable[[Usage], Usage] | None = None,
        speaker: Speaker | None = None,
        strategy: Strategy | None = None,
        max_result_tokens: int | None = None,
    ) -> None:
        """Prepare; nothing is sent before `run`.

        ``price`` replaces the cost in the usage by a better known one. ``speaker`` plays the user,
        if the case has a simulated one. ``strategy`` changes how the conversation goes. Results are
        cut to ``max_result_tokens`` for the model.
        """
        self._strategy = strategy or Strategy()
        self._max_result_tokens = max_result_tokens
        self._case = case
        self._timeout_s = case.limits.timeout_s or DEFAULT_TIMEOUT_S
        self._model = ModelUnderTest(model)
        self._session = session
        self._prompt = system
        self._system = system  # for the current conversation, with what was recalled
        self._price = price
        self._speaker = speaker
        self._messages: list[Message] = []
        self._fresh_from = 0  # the model does not see earlier messages
        self._unheard: list[str] = []
        self._calls: list[ToolCall] = []
        self._usage = Usage()
        self._user_usage = Usage()
        self._waited_s = 0.0
        self._replies = 0
        self._answer = ""
        self._served_by: str | None = None
        self._started_at = ""
        self._epoch = 0.0
        self._latency_s = 0.0
        self._stop: Stop = "cancelled"  # until it ends in any other way
        self._error: TrialError | None = None

    async def run(self) -> None:
        """Converse to the end; model and server errors are put into the transcript, not raised."""
        self._started_at = utc_now()
        self._epoch = anyio.current_time()
        try:
            with anyio.move_on_after(self._timeout_s) as deadline:
                self._stop = await self._converse()
        except ModelError as error:
            self._waited_s += error.waited_s
            self._add_usage(error.usage)
            self._record_error(TrialError(kind=error.kind, message=str(error)))
        finally:
            self._latency_s = anyio.current_time() - self._epoch
        if deadline.cancelled_caught and self._replies:
            self._stop = "time_limit"
        elif deadline.cancelled_caught:
            # Without any reply there is nothing to judge the model or the server by.
            words = f"the model gave no reply within the case's {self._timeout_s:g} s"
            self._record_error(TrialError(kind="model", message=words))

    def add_message(self, text: str) -> None:
        """Add ``text`` to the conversation under way; the model reads it with its next request.

        A model that has answered already is asked once more. After a limit has ended the
        conversation, ``text`` is ignored.
        """
        self._unheard.append(text)

    def build_transcript(self) -> Transcript:
        """Return what happened so far; complete once `run` has returned."""
        troubled = self._error is not None or any(call.is_unanswered for call in self._calls)
        return Transcript(
            messages=tuple(self._messages),
            tool_calls=tuple(self._calls),
            answer=self._answer,
            stop=self._stop,
            usage=self._usage,
            user_usage=self._user_usage,
            greeting=self._case.user.greeting if self._case.user is not None else "",
            replies=self._replies,
            started_at=self._started_at,
            latency_s=round(self._latency_s, 6),
            waited_s=round(self._waited_s, 6),
            tools=tuple(tool.name for tool in self._session.tools.tools),
            tools_digest=self._session.tools.digest,
            served_by=self._served_by,
            stderr_tail=self._session.stderr_tail() if troubled else "",
            error=self._error,
        )

    async def _converse(self) -> Stop:
        """Send the user's turns, each after the answer to the one before."""
        if self._speaker is not None and self._case.user is not None:
            return await self._converse_with(self._speaker, self._case.user)
        stop: Stop = "answer"
        for place, turn in enumerate(self._case.turns or (Turn(prompt=self._case.prompt),)):
            # Replies count over all turns; the first prompt is sent in any case.
            if place and self._replies >= self._case.limits.max_replies:
                return "reply_limit"
            self._session = self._strategy.get_session(place) or self._session
            recalled = ""
            if turn.fresh or place == 0:
                self._fresh_from = len(self._messages)
                opening = await self._strategy.prepare_opening(self._prompt, self._make_call)
                if self._error is not None:
                    return "error"
                self._system, recalled = opening.system, opening.recalled
            stop = await self._send_prompt(
                turn.prompt, fresh=turn.fresh and place > 0, recalled=recalled
            )
            if stop not in _ANSWERED:
                return stop
        return stop

    async def _converse_with(self, speaker: Speaker, user: SimulatedUser) -> Stop:
        """Let ``speaker`` speak for the user until either side ends the conversation."""
        heard = user.greeting
        for place in range(user.max_turns):
            try:
                said = await speaker.next_message(heard)
            except ModelError as error:
                self._user_usage += error.usage
                error.usage = Usage()  # counted as the user's, not as the tested model's
                raise
            if said is None:
                return "user_stop"
            self._user_usage += said.usage
            self._waited_s += said.waited_s
            spent = place and self._replies >= self._case.limits.max_replies
            if stop := find_ending(user, said.text) or ("reply_limit" if spent else None):
                self._messages.append(UserMessage(text=said.text, said_s=self._elapsed_s()))
                return stop
            before = len(self._calls)
            stop = await self._send_prompt(said.text)
            if stop not in _ANSWERED:
                return stop
            if stop := find_agent_ending(user, self._answer, self._calls[before:]):
                return stop
            heard = self._answer
        return "user_limit"

    async def _make_call(self, call: ScriptedCall) -> ToolCall:
        """Make a call of the case itself; a call without an answer ends the trial as an error."""
        request = ToolRequest(
            id=f"opening_{len(self._messages)}", tool=call.tool, arguments=call.arguments
        )
        made = await self._session.call(request, reply=0, epoch=self._epoch)
        if made.is_unanswered:
            self._record_server_error(made.text)
        return made

    def _elapsed_s(self) -> float:
        return round(anyio.current_time() - self._epoch, 6)

    async def _send_prompt(self, prompt: str, *, fresh: bool = False, recalled: str = "") -> Stop:
        """Send ``prompt`` as the user, and continue until it is answered."""
        said_s = self._elapsed_s() if self._messages else 0.0
        said = UserMessage(text=prompt, said_s=said_s, fresh=fresh, recalled=recalled)
        self._messages.append(said)
        self._answer = ""
        while True:
            # What the user said meanwhile is read by the model next.
            now = self._elapsed_s()
            self._messages += [
                UserMessage(text=text, said_s=now, injected=True) for text in self._unheard
            ]
            self._unheard.clear()
            seen = self._messages[self._fresh_from :] if self._fresh_from else self._messages
            asked_s = self._elapsed_s()
            reply = await self._model.ask_model(seen, self._session.tools, self._system)
            self._add_reply(reply, asked_s)
            self._strategy.tell()
            if (steering := self._strategy.get_steering(self._replies)) is not None:
                self.add_message(steering)
            stop = self._limit_after(reply)
            if stop is not None:
                # Calls that will never be sent are recorded: the model did choose them.
                words = f"not sent by harness: {_LIMITED[stop]}"
                self._calls += [
                    self._build_unanswered(one, SEARCH if one.search else "blocked", words)
                    for one in reply.tool_requests
                ]
                return stop
            if not reply.tool_requests:
                self._answer = reply.text
                if self._unheard:
                    continue
                return "refusal" if reply.stop == "refusal" else "answer"
            before = len(self._calls)
            calls = partial(self._execute_calls, reply.tool_requests)
            stop = await self._strategy.execute_calls(calls)
            self._strategy.tell()
            if stop is not None:
                return stop
            # Without its server, whatever the model says next would be no fault of its own.
            lost = self._session.loss_reason or find_lost_reason(self._calls[before:])
            if lost is not None:
                self._record_server_error(lost)
                return "error"
            if self._strategy.ends_with_first_calls:
                return "answer"

    def _add_reply(self, reply: Reply, asked_s: float) -> None:
        said = AssistantMessage(reply=reply, asked_s=asked_s, answered_s=self._elapsed_s())
        self._messages.append(said)
        self._replies += 1
        self._add_usage(reply.usage)
        self._waited_s += reply.waited_s
        self._served_by = reply.served_by or self._served_by
        # Raised only now, so that the reply and its usage are in the transcript.
        if reply.stop == "other":
            detail = reply.stop_detail or "none was given"
            raise ModelError(f"the reply ended for an unknown reason: {detail}", kind="provider")

    def _add_usage(self, usage: Usage) -> None:
        self._usage += usage
        if self._price is not None:
            # The sum is priced, since a suite estimates conversations and not replies.
            self._usage = self._price(self._usage)

    def _limit_after(self, reply: Reply) -> Stop | None:
        """Return the limit that this reply exceeded, if any."""
        limits, usage = self._case.limits, self._usage
        if reply.stop in ("max_tokens", "malformed_call", "context_limit"):
            self._answer = reply.text
            return reply.stop
        if limit := find_usage_limit(limits, usage):
            return limit
        goes_on = reply.tool_requests or self._unheard
        if (
            goes_on
            and not self._strategy.ends_with_first_calls
            and self._replies >= limits.max_replies
        ):
            return "reply_limit"
        if len(self._calls) + len(reply.tool_requests) > limits.max_calls:
            return "call_limit"
        return None

    async def _execute_calls(self, requests: Sequence[ToolRequest]) -> None:
        """Send all calls of one reply concurrently, and answer them in the order of requests."""
        # The records of calls that the trial's end cuts off.
        cut_off = "the trial ended before the server answered"
        calls = [self._build_unanswered(request, "timeout", cut_off) for request in requests]
        # To tell below, by identity, which of the records were never replaced.
        unanswered = calls.copy()

        async def send_call(position: int) -> None:
            calls[position] = await self._session.call(
                requests[position], reply=self._replies, epoch=self._epoch
            )

        try:
            if len(requests) == 1:
                await send_call(0)
            else:
                async with anyio.create_task_group() as group:
                    for position in range(len(requests)):
                        group.start_soon(send_call, position)
        finally:
            # Even if interrupted, these calls were made.
            now = anyio.current_time() - self._epoch
            self._calls += [
                replace(call, duration_s=now - call.started_s) if call is cut else call
                for call, cut in zip(calls, unanswered, strict=True)
            ]
            self._waited_s += sum_server_waits(calls)
        answers = (
            ToolAnswer(request_id=request.id, text=self._cut(call), is_error=call.is_error)
            for request, call in zip(requests, calls, strict=True)
        )
        self._messages.append(ToolMessage(answers=tuple(answers)))

    def _cut(self, call: ToolCall) -> str:
        """Return what the model is told of a result; a search is answered by harness itself."""
        most = None if call.outcome == SEARCH else self._max_result_tokens
        return call.text if most is None else cut_result(call.text, most)

    def _build_unanswered(self, request: ToolRequest, outcome: Outcome, words: str) -> ToolCall:
        return build_unanswered_call(
            request, outcome, words, reply=self._replies, epoch=self._epoch
        )

    def _record_server_error(self, words: str) -> None:
        detail = self._session.stderr_tail()
        self._record_error(TrialError(kind="server", message=words, detail=detail))

    def _record_error(self, error: TrialError) -> None:
        self._stop = "error"
        self._error = error


def find_usage_limit(limits: Limits, usage: Usage) -> Stop | None:
    """Return the limit that the known usage exceeds, if any."""
    if limits.max_tokens is not None and (usage.tokens or 0) > limits.max_tokens:
        return "token_limit"
    if limits.max_cost_usd is not None and (usage.cost_usd or 0.0) > limits.max_cost_usd:
        return "cost_limit"
    return None


def find_lost_reason(calls: Sequence[ToolCall]) -> str | None:
    """Return why the server was lost during a call, if so; over HTTP, later calls may succeed."""
    return next((call.text for call in calls if call.outcome == "server_lost"), None)
