"""What a conversation is, whoever answers: a model (`ModelConversation`) or an agent of others.

`Conversation.run` carries it out, `Conversation.build_transcript` returns what happened. They are
separate so that a cancelled conversation still has a transcript of everything until then.
"""

from __future__ import annotations

import traceback
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import anyio

from harness.base import HarnessError, JudgeError, ModelError, ServerError
from harness.runner.users import Speaker, find_agent_ending, find_ending
from harness.sessions import Session, ToolHistory
from harness.types import (
    DEFAULT_TIMEOUT_S,
    Case,
    Limits,
    Message,
    SimulatedUser,
    Stop,
    ToolCall,
    ToolList,
    Transcript,
    TrialError,
    Turn,
    Usage,
    attach_user_calls,
    sum_server_waits,
)

_ANSWERED: tuple[Stop, ...] = ("answer", "refusal")
"""After these endings the user may continue."""

ENDINGS: dict[Stop, str] = {
    "reply_limit": "the limit of replies was reached",
    "call_limit": "the limit of tool calls was reached",
    "token_limit": "the limit of tokens was reached",
    "cost_limit": "the limit of cost was reached",
    "max_tokens": "the reply was cut at the model's token limit",
    "malformed_call": "a call of the reply could not be read",
    "context_limit": "the conversation no longer fits the model",
}
"""What ended the conversation before a requested call was sent, in words."""


class Conversation(ABC):
    """One case, talked through by its user and whoever answers."""

    def __init__(
        self, case: Case, session: Session, system: str | None, speaker: Speaker | None
    ) -> None:
        """Prepare; ``speaker`` plays the user, if the case has a simulated one."""
        self._toolbox = None if speaker is None else speaker.toolbox
        self._case = case
        self._session = session
        self._lists = ToolHistory()
        self._system = system
        self._speaker = speaker
        self._timeout_s = case.limits.timeout_s or DEFAULT_TIMEOUT_S
        self._user_usage = Usage()
        self._waited_s = 0.0
        self._answer = ""
        self._served_by: str | None = None
        self._started_at = ""
        self._epoch = 0.0
        self._latency_s = 0.0
        self._stop: Stop = "cancelled"  # until it ends in any other way
        self._error: TrialError | None = None

    @abstractmethod
    async def run(self) -> None:
        """Converse to the end; errors of either side are put into the transcript, not raised."""

    @abstractmethod
    def build_transcript(self) -> Transcript:
        """Return what happened so far; complete once `run` has returned."""

    @abstractmethod
    async def _send_turn(self, place: int, turn: Turn) -> Stop:
        """Send a turn (its ``place`` counts from 0), and continue until it is answered."""

    @abstractmethod
    def _add_last_words(self, text: str) -> None:
        """Add a message of the user that ends the conversation."""

    @abstractmethod
    def _list_calls(self) -> Sequence[ToolCall]:
        """Return the calls so far."""

    @property
    def known_tools(self) -> ToolList:
        """Every tool that was offered so far, as it was last."""
        return self._lists.all_offered or self._session.tools

    @property
    @abstractmethod
    def _reply_count(self) -> int:
        """The replies so far."""

    @property
    def _is_spent(self) -> bool:
        """Whether no further turn may begin."""
        return False

    async def _converse(self) -> Stop:
        """Send the user's turns, each after the answer to the one before."""
        if self._speaker is not None and self._case.user is not None:
            return await self._converse_with(self._speaker, self._case.user)
        stop: Stop = "answer"
        for place, turn in enumerate(self._case.turns or (Turn(prompt=self._case.prompt),)):
            # Replies count over all turns; the first prompt is sent in any case.
            if place and self._is_spent:
                return "reply_limit"
            stop = await self._send_turn(place, turn)
            if stop not in _ANSWERED:
                return stop
        return stop

    async def _converse_with(self, speaker: Speaker, user: SimulatedUser) -> Stop:
        """Let ``speaker`` speak for the user until either side ends the conversation."""
        heard = user.greeting
        for place in range(user.max_turns):
            if self._toolbox is not None:
                self._toolbox.reply, self._toolbox.epoch = self._reply_count, self._epoch
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
            spent = place and self._is_spent
            if stop := find_ending(user, said.text) or ("reply_limit" if spent else None):
                self._add_last_words(said.text)
                return stop
            before = len(self._list_calls())
            stop = await self._send_turn(place, Turn(prompt=said.text))
            if stop not in _ANSWERED:
                return stop
            if stop := find_agent_ending(user, self._answer, self._list_calls()[before:]):
                return stop
            heard = self._answer
        return "user_limit"

    def _elapsed_s(self) -> float:
        return round(anyio.current_time() - self._epoch, 6)

    def _record_error(self, error: TrialError) -> None:
        self._stop, self._error = "error", error

    def _record_server_error(self, words: str) -> None:
        detail = self._session.stderr_tail()
        self._record_error(TrialError(kind="server", message=words, detail=detail))

    def _describe(
        self, messages: Sequence[Message], calls: Sequence[ToolCall], **facts: Any
    ) -> Transcript:
        """Return the transcript; ``facts`` are those that only one kind of conversation has."""
        troubled = self._error is not None or any(call.is_unanswered for call in calls)
        tools, user = self.known_tools, self._case.user
        own = () if self._toolbox is None else self._toolbox.calls
        return Transcript(
            messages=attach_user_calls(messages, own),
            tool_calls=tuple(calls),
            answer=self._answer,
            stop=self._stop,
            user_usage=self._user_usage,
            greeting="" if user is None else user.greeting,
            started_at=self._started_at,
            latency_s=round(self._latency_s, 6),
            waited_s=round(self._waited_s + sum_server_waits(calls), 6),
            tools=tuple(tool.name for tool in tools.tools),
            tools_digest=tools.digest,
            served_by=self._served_by,
            stderr_tail=self._session.stderr_tail() if troubled else "",
            error=self._error,
            **facts,
        )


def trial_error(error: Exception) -> TrialError:
    """Return ``error`` as that of a trial, with the party at fault."""
    while isinstance(error, ExceptionGroup):  # of calls made at the same time
        error = error.exceptions[0]
    if isinstance(error, ServerError):
        return TrialError(kind=error.fault, message=str(error), detail=error.stderr_tail or None)
    if isinstance(error, HarnessError):
        return TrialError(
            kind="judge" if isinstance(error, JudgeError) else "harness", message=str(error)
        )
    return TrialError(
        kind="harness",
        message=f"a fault in harness itself: {type(error).__name__}: {error}",
        detail="".join(traceback.format_exception(error)[-6:]),
    )


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
