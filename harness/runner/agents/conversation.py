"""One conversation with an external agent, which reaches the server through a proxy.

It has the surface of `harness.runner.agent.Conversation`: `AgentConversation.run` carries it out,
`AgentConversation.transcript` returns what happened, also after a cancellation. The loop between
model and tools is the agent's own; its calls are recorded by the proxy.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import anyio

from harness.agents import KINDS, Agent, AgentReply, Recording, open_workplace
from harness.base import AgentError, ModelError, utc_now
from harness.runner.agents.limited_session import LimitedSession
from harness.runner.users import Speaker, ended_by_agent, ending
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
    waited_for_server,
)

_NO_LIMIT = 10**9
"""Most calls that the proxy forwards: the limits are those of `LimitedSession`."""


@dataclass(slots=True, kw_only=True)
class _Talk:
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
        tell: Callable[[], None] | None = None,
    ) -> None:
        """Prepare; nothing is started before `run`.

        ``server`` is the name under which the agent knows the server. ``speaker`` plays the user,
        if the case has a simulated one. ``tell`` is called after each call.
        """
        self._case = case
        self._spec = spec
        self._session = LimitedSession(session, case.limits, tell or _nobody)
        self._server = server
        self._system = system
        self._speaker = speaker
        self._timeout_s = case.limits.timeout_s or DEFAULT_TIMEOUT_S
        self._recording: Recording | None = None
        self._talks: list[_Talk] = []
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
                async with self._opened(self._recording) as agent:
                    stop = await self._until_over(agent)
                    self._stop = self._session.stop or stop
        except Exception as raised:  # noqa: BLE001 - raised again unless it is the agent's
            self._fail_by(_innermost(raised), raised)
        finally:
            self._latency_s = anyio.current_time() - self._recording.epoch
            if any(talk.last is None for talk in self._talks):
                self._use(UNKNOWN_USAGE)
        if deadline.cancelled_caught:
            self._time_is_up()
        elif (lost := self._session.lost) is not None:
            detail = self._session.stderr_tail()
            self._fail(TrialError(kind="server", message=lost, detail=detail))
        elif self._error is None and not self._session.reached:
            self._fail(TrialError(kind="agent", message=_UNCONNECTED))

    def transcript(self) -> Transcript:
        """Return what happened so far; complete once `run` has returned."""
        messages = self._messages()
        calls = _numbered(self._calls, messages)
        troubled = self._error is not None or any(call.unanswered for call in calls)
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
            waited_s=round(self._waited_s + waited_for_server(calls), 6),
            tools=tuple(tool.name for tool in self._session.tools.tools),
            tools_digest=self._session.tools.digest,
            served_by=self._served_by,
            stderr_tail=self._session.stderr_tail() if troubled else "",
            error=self._error,
            agent=AgentFacts(own_tools=self._own_tools, refused_requests=self._strangers),
        )

    @asynccontextmanager
    async def _opened(self, recording: Recording) -> AsyncGenerator[Agent]:
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

        async def converse(scope: anyio.CancelScope) -> None:
            nonlocal stop
            stop = await self._converse(agent.ask)
            scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(converse, tasks.cancel_scope)
            await self._session.over.wait()
            tasks.cancel_scope.cancel()
        return stop

    async def _converse(self, ask: _Ask) -> Stop:
        if self._speaker is not None and self._case.user is not None:
            return await self._converse_with(self._speaker, self._case.user, ask)
        stop: Stop = "answer"
        for place, turn in enumerate(self._case.turns or (Turn(prompt=self._case.prompt),)):
            stop = await self._ask(ask, turn.prompt, fresh=turn.fresh and place > 0)
            if stop not in ("answer", "refusal"):
                return stop
        return stop

    async def _converse_with(self, speaker: Speaker, user: SimulatedUser, ask: _Ask) -> Stop:
        """Let ``speaker`` play the user until either side ends the conversation."""
        heard = user.greeting
        for _ in range(user.max_turns):
            said = await speaker.speak(heard)
            if said is None:
                return "user_stop"
            self._user_usage += said.usage
            self._waited_s += said.waited_s
            if stop := ending(user, said.text):
                self._talks.append(self._asked(said.text, fresh=False))
                self._talks[-1].last = self._replies
                return stop
            before = len(self._calls)
            stop = await self._ask(ask, said.text)
            if stop not in ("answer", "refusal"):
                return stop
            if stop := ended_by_agent(user, self._answer, self._calls[before:]):
                return stop
            heard = self._answer
        return "user_limit"

    async def _ask(self, ask: _Ask, prompt: str, *, fresh: bool = False) -> Stop:
        talk = self._asked(prompt, fresh=fresh)
        self._talks.append(talk)
        self._answer = ""
        said = await ask(prompt, fresh=fresh)
        self._use(said.usage)
        self._served_by = said.served_by or self._served_by
        for tool, times in (said.own_tools or {}).items():
            self._own_tools = self._own_tools or {}
            self._own_tools[tool] = self._own_tools.get(tool, 0) + times
        if said.own_tools is not None and self._own_tools is None:
            self._own_tools = {}
        talk.last = self._replies
        self._session.answers += 1
        talk.answer = AssistantMessage(
            reply=Reply(
                text=said.text,
                stop="refusal" if said.refused else "end",
                usage=said.usage,
                served_by=said.served_by,
            ),
            answered_s=self._now(),
        )
        self._answer = talk.answer.reply.text
        return self._limit() or ("refusal" if said.refused else "answer")

    def _asked(self, text: str, *, fresh: bool) -> _Talk:
        said_s = self._now() if self._talks else 0.0
        return _Talk(asked=UserMessage(text=text, said_s=said_s, fresh=fresh), first=self._replies)

    def _limit(self) -> Stop | None:
        """Return the limit that the known usage exceeds, if any."""
        limits, used = self._case.limits, self._usage or Usage()
        if limits.max_tokens is not None and (used.tokens or 0) > limits.max_tokens:
            return "token_limit"
        if limits.max_cost_usd is not None and (used.cost_usd or 0.0) > limits.max_cost_usd:
            return "cost_limit"
        return None

    def _use(self, usage: Usage) -> None:
        self._usage = usage if self._usage is None else self._usage + usage

    @property
    def _replies(self) -> int:
        return 0 if self._recording is None else self._recording.replies

    @property
    def _calls(self) -> tuple[ToolCall, ...]:
        return () if self._recording is None else self._recording.calls()

    def _now(self) -> float:
        begun = 0.0 if self._recording is None else self._recording.epoch
        return round(anyio.current_time() - begun, 6)

    def _messages(self) -> tuple[Message, ...]:
        """Return the conversation: each message of the user, the calls after it, and the answer."""
        if self._recording is None:
            return ()
        made = {call.request_id: call for call in self._calls}
        recorded = _by_reply(self._recording.messages(), made)

        def replies(first: int, last: int) -> list[Message]:
            found = (recorded.get(reply, ()) for reply in range(first + 1, last + 1))
            return [message for group in found for message in group]

        told: list[Message] = []
        begins = [0, *(talk.first for talk in self._talks[1:]), self._replies]
        for talk, first, end in zip(self._talks, begins, begins[1:], strict=False):
            last = end if talk.last is None else talk.last
            told += [talk.asked, *replies(first, last)]
            told += [] if talk.answer is None else [talk.answer]
            told += replies(last, end)  # calls that the agent made after its answer
        return tuple(told)

    def _time_is_up(self) -> None:
        if self._replies:
            self._stop = "time_limit"
            return
        # Without a call or answer there is nothing to judge: the agent may not even have started.
        words = (
            f"the agent neither called a tool nor answered within the case's {self._timeout_s:g} s"
        )
        self._fail(TrialError(kind="agent", message=words))

    def _fail_by(self, error: BaseException, raised: Exception) -> None:
        if isinstance(error, AgentError):
            if self._talks and self._talks[-1].last is None:
                self._use(error.usage)
                self._talks[-1].last = self._replies
            self._fail(TrialError(kind="agent", message=error.message, detail=error.detail))
        elif isinstance(error, ModelError):  # of the model that plays the user
            self._waited_s += error.waited_s
            self._user_usage += error.usage
            self._fail(TrialError(kind=error.kind, message=str(error)))
        else:
            raise error from raised

    def _fail(self, error: TrialError) -> None:
        self._stop = "error"
        self._error = error


_Ask = Callable[..., Awaitable[AgentReply]]

_UNCONNECTED = (
    "the agent never asked the server for its tools: it has to connect to the address that it is "
    "given ({mcp_url} or {mcp_config}, $HARNESS_MCP_URL or $HARNESS_MCP_CONFIG)"
)


def _numbered(calls: Sequence[ToolCall], messages: Sequence[Message]) -> tuple[ToolCall, ...]:
    """Return ``calls`` with the number of their reply; answers in between are replies too."""
    replies = (message for message in messages if isinstance(message, AssistantMessage))
    places = {
        request.id: place
        for place, message in enumerate(replies, start=1)
        for request in message.reply.tool_requests
    }
    numbered = (replace(call, reply=places.get(call.request_id, call.reply)) for call in calls)
    return tuple(numbered)


def _innermost(error: BaseException) -> BaseException:
    """Return the first error inside groups of errors: task groups wrap what they raise."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _nobody() -> None:
    """Do nothing."""


def _by_reply(
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
