"""One conversation with an external agent, which reaches the server through a proxy.

It has the surface of `harness.runner.agent.ModelConversation`: `AgentConversation.run` carries it
out, `AgentConversation.build_transcript` returns what happened, also after a cancellation. The loop
between model and tools is the agent's own; its calls are recorded by the proxy.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import anyio

from harness.agents import KINDS, Agent, AgentReply, Recording, open_workplace
from harness.base import AgentError, ModelError, utc_now
from harness.runner.agent import find_usage_limit
from harness.runner.agents.limited_session import LimitedSession
from harness.runner.users import Speaker, find_agent_ending, find_ending
from harness.sessions import Session
from harness.types import (
    DEFAULT_TIMEOUT_S,
    UNKNOWN_USAGE,
    AgentFacts,
    AgentSpec,
    AssistantMessage,
    Case,
    Message,
    Reply,
    SimulatedUser,
    Stop,
    ToolCall,
    Transcript,
    TrialError,
    Turn,
    Usage,
    UserMessage,
    sum_server_waits,
)

_NO_LIMIT = 10**9
"""Most calls that the proxy forwards: the limits are those of `LimitedSession`."""


@dataclass(slots=True, kw_only=True)
class _Exchange:
    """One message of the user, and the replies to it."""

    asked: UserMessage
    first: int
    """Number of the recorded replies before it."""
    last: int | None = None
    """Number of recorded replies at its answer; ``None`` until then."""
    answer: AssistantMessage | None = None


class AgentConversation:
    """One case, run with one agent and one session."""

    def __init__(
        self,
        case: Case,
        spec: AgentSpec,
        session: Session,
        server: str,
        system: str | None = None,
        speaker: Speaker | None = None,
        tell: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare; nothing is started before `run`.

        ``server`` is the name under which the agent knows the server. ``speaker`` plays the user,
        if the case has a simulated one. ``tell`` is called after each call.
        """
        self._case = case
        self._spec = spec
        self._session = LimitedSession(session, case.limits, tell)
        self._server = server
        self._system = system
        self._speaker = speaker
        self._timeout_s = case.limits.timeout_s or DEFAULT_TIMEOUT_S
        self._recording: Recording | None = None
        self._talks: list[_Exchange] = []
        self._usage: Usage | None = None
        self._user_usage = Usage()
        self._waited_s = 0.0
        self._answer = ""
        self._served_by: str | None = None
        self._own_tools: dict[str, int] | None = None
        self._strangers = 0
        self._started_at = ""
        self._latency_s = 0.0
        self._stop: Stop = "cancelled"  # the default until the conversation ends in another way
        self._error: TrialError | None = None

    async def run(self) -> None:
        """Converse to the end; record errors of agent and server in the transcript."""
        self._started_at = utc_now()
        self._recording = Recording()
        deadline = anyio.CancelScope(deadline=anyio.current_time() + self._timeout_s)
        try:
            with deadline:
                async with self._open_agent(self._recording) as agent:
                    stop = await self._until_over(agent)
                    # A limit ended the turn from outside, so `stop` says nothing of it.
                    self._stop = self._session.stop or stop
        except Exception as raised:  # noqa: BLE001 - raised again unless it is the agent's
            self._record_exception(_find_innermost(raised), raised)
        finally:
            self._latency_s = anyio.current_time() - self._recording.epoch
            # A turn that was cut off used something, and nobody said how much.
            if any(talk.last is None for talk in self._talks):
                self._add_usage(UNKNOWN_USAGE)
        if deadline.cancelled_caught and self._reply_count:
            self._stop = "time_limit"
        elif deadline.cancelled_caught:
            # Without a call or answer there is nothing to judge: it may not even have started.
            self._record_error(
                TrialError(
                    kind="agent",
                    message="the agent neither called a tool nor answered within the case's "
                    f"{self._timeout_s:g} s",
                )
            )
        elif (lost := self._session.loss_reason) is not None:
            detail = self._session.stderr_tail()
            self._record_error(TrialError(kind="server", message=lost, detail=detail))
        # An agent that never saw a tool keeps every prohibition, and would pass.
        elif self._error is None and not self._session.reached:
            self._record_error(TrialError(kind="agent", message=_UNCONNECTED))

    def build_transcript(self) -> Transcript:
        """Return what happened so far; complete once `run` has returned."""
        messages = self._build_messages()
        calls = _number_replies(self._made_calls, messages)
        troubled = self._error is not None or any(call.is_unanswered for call in calls)
        user = self._case.user
        return Transcript(
            messages=messages,
            tool_calls=calls,
            answer=self._answer,
            stop=self._stop,
            usage=Usage() if self._usage is None else self._usage,
            user_usage=self._user_usage,
            greeting=user.greeting if user is not None else "",
            replies=sum(isinstance(message, AssistantMessage) for message in messages),
            started_at=self._started_at,
            latency_s=round(self._latency_s, 6),
            waited_s=round(self._waited_s + sum_server_waits(calls), 6),
            tools=tuple(tool.name for tool in self._session.tools.tools),
            tools_digest=self._session.tools.digest,
            served_by=self._served_by,
            stderr_tail=self._session.stderr_tail() if troubled else "",
            error=self._error,
            agent=AgentFacts(own_tools=self._own_tools, refused_requests=self._strangers),
        )

    @asynccontextmanager
    async def _open_agent(self, recording: Recording) -> AsyncGenerator[Agent]:
        from harness.agents import open_listener  # loads the MCP SDK and a web server

        async with (
            open_listener() as listener,
            listener.serve(self._session, recording, _NO_LIMIT) as url,
        ):
            try:
                async with (
                    open_workplace(
                        self._spec, url=url, server=self._server, system=self._system
                    ) as place,
                    KINDS.get(self._spec.kind).opens(self._spec, place) as agent,
                ):
                    yield agent
            finally:
                self._strangers = listener.strangers

    async def _until_over(self, agent: Agent) -> Stop:
        """Converse until the end, a limit, or the loss of the server."""
        stop: Stop = "cancelled"

        async def converse_in_scope(scope: anyio.CancelScope) -> None:
            nonlocal stop
            stop = await self._converse(agent.ask)
            scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(converse_in_scope, tasks.cancel_scope)
            # The agent's loop takes no orders: at a limit, or without a server, it is cancelled.
            await self._session.over.wait()
            tasks.cancel_scope.cancel()
        return stop

    async def _converse(self, ask: _Ask) -> Stop:
        if self._speaker is not None and self._case.user is not None:
            return await self._converse_with(self._speaker, self._case.user, ask)
        stop: Stop = "answer"
        for place, turn in enumerate(self._case.turns or (Turn(prompt=self._case.prompt),)):
            stop = await self._send_prompt(ask, turn.prompt, fresh=turn.fresh and place > 0)
            if stop not in ("answer", "refusal"):
                return stop
        return stop

    async def _converse_with(self, speaker: Speaker, user: SimulatedUser, ask: _Ask) -> Stop:
        """Let ``speaker`` play the user until either side ends the conversation."""
        heard = user.greeting
        for _ in range(user.max_turns):
            said = await speaker.next_message(heard)
            if said is None:
                return "user_stop"
            self._user_usage += said.usage
            self._waited_s += said.waited_s
            if stop := find_ending(user, said.text):
                self._talks.append(self._start_exchange(said.text, fresh=False))
                self._talks[-1].last = self._reply_count
                return stop
            before = len(self._made_calls)
            stop = await self._send_prompt(ask, said.text)
            if stop not in ("answer", "refusal"):
                return stop
            if stop := find_agent_ending(user, self._answer, self._made_calls[before:]):
                return stop
            heard = self._answer
        return "user_limit"

    async def _send_prompt(self, ask: _Ask, prompt: str, *, fresh: bool = False) -> Stop:
        talk = self._start_exchange(prompt, fresh=fresh)
        self._talks.append(talk)
        self._answer = ""
        said = await ask(prompt, fresh=fresh)
        self._add_usage(said.usage)
        self._served_by = said.served_by or self._served_by
        for tool, times in (said.own_tools or {}).items():
            self._own_tools = self._own_tools or {}
            self._own_tools[tool] = self._own_tools.get(tool, 0) + times
        # Empty is another fact than `None`: the agent tells of its tools, and used none.
        if said.own_tools is not None and self._own_tools is None:
            self._own_tools = {}
        talk.last = self._reply_count
        self._session.answers += 1
        talk.answer = AssistantMessage(
            reply=Reply(
                text=said.text,
                stop="refusal" if said.refused else "end",
                usage=said.usage,
                served_by=said.served_by,
            ),
            answered_s=self._elapsed_s(),
        )
        self._answer = talk.answer.reply.text
        limit = find_usage_limit(self._case.limits, self._usage or Usage())
        return limit or ("refusal" if said.refused else "answer")

    def _start_exchange(self, text: str, *, fresh: bool) -> _Exchange:
        said_s = self._elapsed_s() if self._talks else 0.0
        return _Exchange(
            asked=UserMessage(text=text, said_s=said_s, fresh=fresh), first=self._reply_count
        )

    def _add_usage(self, usage: Usage) -> None:
        self._usage = usage if self._usage is None else self._usage + usage

    @property
    def _reply_count(self) -> int:
        return 0 if self._recording is None else self._recording.replies

    @property
    def _made_calls(self) -> tuple[ToolCall, ...]:
        return () if self._recording is None else self._recording.list_calls()

    def _elapsed_s(self) -> float:
        begun = 0.0 if self._recording is None else self._recording.epoch
        return round(anyio.current_time() - begun, 6)

    def _build_messages(self) -> tuple[Message, ...]:
        """Return the conversation: each message of the user, the calls after it, and the answer."""
        if self._recording is None:
            return ()
        made = {call.request_id: call for call in self._made_calls}
        recorded = _group_by_reply(self._recording.build_messages(), made)

        def build_replies(first: int, last: int) -> list[Message]:
            found = (recorded.get(reply, ()) for reply in range(first + 1, last + 1))
            return [message for group in found for message in group]

        told: list[Message] = []
        # From 0: what was called before the first message stands behind it, too.
        begins = [0, *(talk.first for talk in self._talks[1:]), self._reply_count]
        for talk, first, end in zip(self._talks, begins, begins[1:], strict=False):
            last = end if talk.last is None else talk.last
            told += [talk.asked, *build_replies(first, last)]
            told += [] if talk.answer is None else [talk.answer]
            told += build_replies(last, end)  # calls that the agent made after its answer
        return tuple(told)

    def _record_exception(self, error: BaseException, raised: Exception) -> None:
        if isinstance(error, AgentError):
            if self._talks and self._talks[-1].last is None:
                self._add_usage(error.usage)
                # The turn has ended, and its usage is known: it must not count as unknown above.
                self._talks[-1].last = self._reply_count
            self._record_error(TrialError(kind="agent", message=error.message, detail=error.detail))
        elif isinstance(error, ModelError):  # of the model that plays the user
            self._waited_s += error.waited_s
            self._user_usage += error.usage
            self._record_error(TrialError(kind=error.kind, message=str(error)))
        else:
            raise error from raised

    def _record_error(self, error: TrialError) -> None:
        self._stop = "error"
        self._error = error


_Ask = Callable[..., Awaitable[AgentReply]]

_UNCONNECTED = (
    "the agent never asked the server for its tools: it has to connect to the address that it is "
    "given ({mcp_url} or {mcp_config}, $HARNESS_MCP_URL or $HARNESS_MCP_CONFIG)"
)


def _number_replies(calls: Sequence[ToolCall], messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    """Return ``calls`` with the number of their reply; answers in between are replies too."""
    replies = (message for message in messages if isinstance(message, AssistantMessage))
    places = {
        request.id: place
        for place, message in enumerate(replies, start=1)
        for request in message.reply.tool_requests
    }
    numbered = (replace(call, reply=places.get(call.request_id, call.reply)) for call in calls)
    return tuple(numbered)


def _find_innermost(error: BaseException) -> BaseException:
    """Return the first error inside groups of errors: task groups wrap what they raise."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _group_by_reply(
    messages: Sequence[Message], made: Mapping[str, ToolCall]
) -> dict[int, list[Message]]:
    """Return recorded ``messages`` by their reply, with the server's names in calls.

    A variant may have other names for tools than the server.
    """
    found: dict[int, list[Message]] = {}
    reply = 0
    for message in messages:
        if isinstance(message, AssistantMessage):
            asked = message.reply.tool_requests
            # The results that follow belong to the same reply.
            reply = next((made[request.id].reply for request in asked), 0)
            requests = tuple(
                replace(one, tool=made[one.id].tool, arguments=made[one.id].arguments)
                for one in asked
            )
            own = replace(message, reply=replace(message.reply, tool_requests=requests))
            found.setdefault(reply, []).append(own)
        else:
            found.setdefault(reply, []).append(message)
    return found
