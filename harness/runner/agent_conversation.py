"""One conversation with an external agent, which reaches the server through a proxy.

The loop between model and tools is the agent's own; its calls are recorded by the proxy.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import anyio

from harness.agents import KINDS, Agent, Recording, open_workplace
from harness.base import AgentError, ModelError, utc_now
from harness.runner.conversation import Conversation, find_usage_limit
from harness.runner.users import Speaker
from harness.sessions import Session, SessionWrapper, ToolHistory, build_unanswered_call
from harness.types import (
    UNKNOWN_USAGE,
    AgentFacts,
    AgentSpec,
    AssistantMessage,
    Case,
    JsonObject,
    Limits,
    Message,
    Reply,
    Stop,
    ToolCall,
    ToolRequest,
    Transcript,
    TrialError,
    Turn,
    Usage,
    UserMessage,
)

_WORDS: dict[Stop, str] = {
    "reply_limit": "not sent by harness: the limit of replies was reached",
    "call_limit": "not sent by harness: the limit of tool calls was reached",
}


class LimitedSession(SessionWrapper):
    """A session in one trial of an agent: it counts calls, and signals when the trial must end."""

    def __init__(self, session: Session, limits: Limits, tell: Callable[[], None]) -> None:
        """Send through ``session``; ``tell`` is called after each call."""
        super().__init__(session)
        self.lists = ToolHistory()
        """The tools that were offered."""
        self._limits = limits
        self._tell = tell
        self._asked = 0
        self.answers = 0
        """Number of turns that the agent has answered: each is a reply besides those with calls."""
        self.reached = False
        """Whether the agent listed the tools, or called one."""
        self.stop: Stop | None = None
        """The limit that was reached."""
        self.lost_by: str | None = None
        """Why the server was lost during a call."""
        self.over = anyio.Event()
        """Set when the agent must stop."""

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        """Send one call, unless a limit was reached."""
        self.reached = True
        # Counted before it is sent, since several calls may be under way at once.
        self._asked += 1
        # The first limit stays: every later call would exceed it, too.
        if self.stop is None:
            self.stop = self._find_limit(reply)
        if self.stop is not None:
            self.over.set()
            words = _WORDS[self.stop]
            return build_unanswered_call(request, "blocked", words, reply=reply, epoch=epoch)
        call = await self._session.call(request, reply=reply, epoch=epoch)
        # The agent hears of a change by itself; its later calls are judged by the new list.
        await self.lists.refresh(self._session, reply)
        if call.outcome == "server_lost":
            self.lost_by = self.lost_by or call.text
        # Over HTTP the session outlives a lost server, so a call may be the only one to tell.
        if self.lost_by is not None or self._session.loss_reason is not None:
            self.over.set()
        self._tell()
        return call

    def _find_limit(self, reply: int) -> Stop | None:
        """Return the limit that a call of ``reply`` would exceed; its last reply is the answer."""
        if self._asked > self._limits.max_calls:
            return "call_limit"
        return "reply_limit" if reply + self.answers >= self._limits.max_replies else None

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        """Send any other request: as `Session.send_request`."""
        self.reached = self.reached or method == "tools/list"
        return await self._session.send_request(method, params)

    @property
    def loss_reason(self) -> str | None:
        """Why the server is gone: as `Session.loss_reason`."""
        return self.lost_by or self._session.loss_reason


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


class AgentConversation(Conversation):
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
        self._limited = LimitedSession(session, case.limits, tell)
        super().__init__(case, self._limited, system, speaker)
        self._lists = self._limited.lists
        self._spec = spec
        self._server = server
        self._agent: Agent | None = None
        self._recording: Recording | None = None
        self._talks: list[_Exchange] = []
        self._usage: Usage | None = None
        self._own_tools: dict[str, int] | None = None
        self._strangers = 0

    async def run(self) -> None:
        """Converse to the end; record errors of agent and server in the transcript."""
        self._started_at = utc_now()
        self._recording = Recording()
        self._epoch = self._recording.epoch
        deadline = anyio.CancelScope(deadline=anyio.current_time() + self._timeout_s)
        try:
            with deadline:
                async with self._open_agent(self._recording) as self._agent:
                    stop = await self._until_over()
                    # A limit ended the turn from outside, so `stop` says nothing of it.
                    self._stop = self._limited.stop or stop
        except Exception as raised:  # noqa: BLE001 - raised again unless it is the agent's
            self._record_exception(raised)
        finally:
            self._latency_s = anyio.current_time() - self._epoch
            # A turn that was cut off used something, and nobody said how much.
            if any(talk.last is None for talk in self._talks):
                self._add_usage(UNKNOWN_USAGE)
        if deadline.cancelled_caught and self._reply_count:
            self._stop = "time_limit"
        elif deadline.cancelled_caught:
            # Without a call or answer there is nothing to judge: it may not even have started.
            words = "the agent neither called a tool nor answered within the case's "
            error = TrialError(kind="agent", message=f"{words}{self._timeout_s:g} s")
            self._record_error(error)
        elif (lost := self._session.loss_reason) is not None:
            self._record_server_error(lost)
        # An agent that never saw a tool keeps every prohibition, and would pass.
        elif self._error is None and not self._limited.reached:
            self._record_error(TrialError(kind="agent", message=_UNCONNECTED))

    def build_transcript(self) -> Transcript:
        """Return what happened so far; complete once `run` has returned."""
        messages = self._build_messages()
        replies = [message for message in messages if isinstance(message, AssistantMessage)]
        # Answers between calls are replies too, so the calls are numbered anew.
        places = {
            request.id: place
            for place, message in enumerate(replies, start=1)
            for request in message.reply.tool_requests
        }
        return self._describe(
            messages,
            [
                replace(call, reply=places.get(call.request_id, call.reply))
                for call in self._list_calls()
            ],
            usage=Usage() if self._usage is None else self._usage,
            replies=len(replies),
            agent=AgentFacts(own_tools=self._own_tools, refused_requests=self._strangers),
        )

    @asynccontextmanager
    async def _open_agent(self, recording: Recording) -> AsyncGenerator[Agent]:
        from harness.agents import open_listener  # loads the MCP SDK and a web server

        spec = self._spec
        async with (
            open_listener() as listener,
            listener.serve(self._limited, recording, _NO_LIMIT) as url,
        ):
            workplace = open_workplace(spec, url=url, server=self._server, system=self._system)
            try:
                async with workplace as place, KINDS.get(spec.kind).opens(spec, place) as agent:
                    yield agent
            finally:
                self._strangers = listener.strangers

    async def _until_over(self) -> Stop:
        """Converse until the end, a limit, or the loss of the server."""
        stop: Stop = "cancelled"

        async def converse_in_scope(scope: anyio.CancelScope) -> None:
            nonlocal stop
            stop = await self._converse()
            scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(converse_in_scope, tasks.cancel_scope)
            # The agent's loop takes no orders: at a limit, or without a server, it is cancelled.
            await self._limited.over.wait()
            tasks.cancel_scope.cancel()
        return stop

    def _add_last_words(self, text: str) -> None:
        self._start_exchange(text, fresh=False).last = self._reply_count

    async def _send_turn(self, place: int, turn: Turn) -> Stop:
        fresh = turn.fresh and place > 0
        talk = self._start_exchange(turn.prompt, fresh=fresh)
        self._answer = ""
        assert self._agent is not None
        said = await self._agent.ask(turn.prompt, fresh=fresh)
        self._add_usage(said.usage)
        self._served_by = said.served_by or self._served_by
        # Empty is another fact than `None`: the agent tells of its tools, and used none.
        if said.own_tools is not None:
            used = Counter(self._own_tools or {})
            used.update(said.own_tools)
            self._own_tools = dict(used)
        talk.last = self._reply_count
        self._limited.answers += 1
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
        said = UserMessage(text=text, said_s=said_s, fresh=fresh)
        self._talks.append(_Exchange(asked=said, first=self._reply_count))
        return self._talks[-1]

    def _add_usage(self, usage: Usage) -> None:
        self._usage = usage if self._usage is None else self._usage + usage

    @property
    def _reply_count(self) -> int:
        return 0 if self._recording is None else self._recording.replies

    def _list_calls(self) -> Sequence[ToolCall]:
        return () if self._recording is None else self._recording.list_calls()

    def _build_messages(self) -> tuple[Message, ...]:
        """Return the conversation: each message of the user, the calls after it, and the answer."""
        if self._recording is None:
            return ()
        made = {call.request_id: call for call in self._list_calls()}
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

    def _record_exception(self, raised: Exception) -> None:
        error: BaseException = raised
        while isinstance(error, BaseExceptionGroup):  # task groups wrap what they raise
            error = error.exceptions[0]
        if isinstance(error, AgentError):
            if self._talks and self._talks[-1].last is None:
                self._add_usage(error.usage)
                # The turn has ended, and its usage is known: it must not count as unknown above.
                self._talks[-1].last = self._reply_count
            self._record_error(TrialError(kind="agent", message=error.message, detail=error.detail))
        elif isinstance(error, ModelError):  # of the model that plays the user
            self._waited_s += error.waited_s
            self._record_error(TrialError(kind=error.kind, message=str(error)))
        else:
            raise error from raised


_UNCONNECTED = (
    "the agent never asked the server for its tools: it has to connect to the address that it is "
    "given ({mcp_url} or {mcp_config}, $HARNESS_MCP_URL or $HARNESS_MCP_CONFIG)"
)


def _group_by_reply(
    messages: Sequence[Message], made: Mapping[str, ToolCall]
) -> dict[int, list[Message]]:
    """Return recorded ``messages`` by their reply, with the server's names in calls.

    A variant may have other names for tools than the server.
    """
    found: defaultdict[int, list[Message]] = defaultdict(list)
    reply = 0
    for message in messages:
        if isinstance(message, AssistantMessage):
            calls = [(one, made[one.id]) for one in message.reply.tool_requests]
            # The results that follow belong to the same reply.
            reply = calls[0][1].reply if calls else 0
            requests = (replace(one, tool=c.tool, arguments=c.arguments) for one, c in calls)
            own = replace(message.reply, tool_requests=tuple(requests))
            message = replace(message, reply=own)  # noqa: PLW2901 - as the server knows it
        found[reply].append(message)
    return found
