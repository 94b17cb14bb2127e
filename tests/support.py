"""Parts that tests build with: a model that follows a script and a session that answers in memory.

Both satisfy the same protocols as the real ones. They are for what is hard to provoke from outside;
whatever can be shown with a real server and a real SDK is shown with those.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import fields, replace
from typing import Any

import anyio

from harness.sessions.session import ForeignClient, Introduction, Session
from harness.types import (
    AssistantMessage,
    Case,
    Check,
    Credential,
    GuardRails,
    JsonObject,
    Message,
    Outcome,
    Reply,
    ServerSpec,
    SideContent,
    Tool,
    ToolCall,
    ToolList,
    ToolRequest,
    Transcript,
    TransportSpec,
    Usage,
)

Step = Reply | Exception | Callable[[Sequence[Message]], Awaitable[Reply]]


class ScriptedModel:
    """Gives the steps of a script one after the other; the last one repeats."""

    def __init__(self, *steps: Step) -> None:
        self.steps = steps
        self.asked: list[tuple[Message, ...]] = []
        self.systems: list[str | None] = []
        self.offered: list[tuple[str, ...]] = []

    async def answer(
        self, conversation: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        self.asked.append(tuple(conversation))
        self.systems.append(system)
        self.offered.append(tuple(tool.name for tool in tools.tools))
        step = self.steps[min(len(self.asked), len(self.steps)) - 1]
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, Reply) else await step(conversation)

    async def aclose(self) -> None:
        pass


class MemorySession:
    """Answers every call at once, or as `behave` says."""

    def __init__(
        self, behave: Callable[[ToolRequest], Awaitable[tuple[Outcome, str]]] | None = None
    ) -> None:
        self.tools = a_tool_list("look", "write")
        self.loss_reason: str | None = None
        self.sent: list[ToolRequest] = []
        self._behave = behave

    async def listen_for_changes(self) -> None:
        pass

    async def refresh_tools(self) -> ToolList:
        return self.tools

    async def call(self, request: ToolRequest, *, reply: int, epoch: float) -> ToolCall:
        self.sent.append(request)
        outcome, text = (
            ("ok", f"result of {request.id}")
            if self._behave is None
            else await self._behave(request)
        )
        return ToolCall(
            tool=request.tool,
            arguments=request.arguments,
            outcome=outcome,  # type: ignore[arg-type]
            reply=reply,
            request_id=request.id,
            text=text,
            started_s=anyio.current_time() - epoch,
        )

    async def send_request(self, method: str, params: JsonObject) -> JsonObject:
        return {}

    @property
    def introduction(self) -> Introduction:
        return Introduction(name="memory")

    def forward_messages(self, foreign_client: ForeignClient) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def watch(self) -> tuple[SideContent, ...]:
        return ()

    def stderr_tail(self) -> str:
        return "last words"


class LendsOneByOne:
    """The part of a pool that lends several sessions at once, for pools in memory that never run
    out of room.
    """

    @asynccontextmanager
    async def lend_sessions(
        self,
        server: ServerSpec,
        user_contexts: Sequence[JsonObject | None],
        credential: Credential = "valid",
    ) -> AsyncGenerator[list[Session]]:
        async with AsyncExitStack() as loans:
            lend: Any = self.lend_session  # type: ignore[attr-defined]  # what it is mixed into has it
            yield [
                await loans.enter_async_context(lend(server, user, credential))
                for user in user_contexts
            ]


class MemoryPool(LendsOneByOne):
    """Lends one session in memory."""

    def lend_session(
        self, server: ServerSpec, user_context: object, credential: str = "valid"
    ) -> MemoryPool:
        return self

    def prestart(self, server: ServerSpec, user_context: object, credential: str = "valid") -> None:
        pass

    async def __aenter__(self) -> MemorySession:
        return MemorySession()

    async def __aexit__(self, *error: object) -> None:
        pass


def with_reply_times(said: Transcript, times: Iterable[tuple[float, float]]) -> Transcript:
    """Return ``said`` with the time at which each reply was asked for, and had come."""
    left = iter(times)
    messages: list[Message] = []
    for message in said.messages:
        if isinstance(message, AssistantMessage):
            asked, answered = next(left)
            messages.append(replace(message, asked_s=asked, answered_s=answered))
        else:
            messages.append(message)
    return replace(said, messages=tuple(messages))


def a_tool_list(*names: str) -> ToolList:
    return ToolList(
        tools=tuple(Tool(name=name, input_schema={"type": "object"}) for name in names), digest="d"
    )


def a_server(**settings: Any) -> ServerSpec:
    """Return a server of ``settings`` that stand side by side, as they do in a file."""
    parts: dict[str, dict[str, Any]] = {"transport": {}, "guard": {}}
    own: dict[str, Any] = {}
    for name, value in settings.items():
        if name in {field.name for field in fields(GuardRails)}:
            parts["guard"][name] = value
        elif name in {"transport", *(field.name for field in fields(TransportSpec))}:
            parts["transport"]["kind" if name == "transport" else name] = value
        else:
            own[name] = value
    transport, guard = TransportSpec(**parts["transport"]), GuardRails(**parts["guard"])
    return ServerSpec(**own, transport=transport, guard=guard)


def entrants_of(models: Iterable[str]) -> JsonObject:
    """Return what a log's header says of ``models`` as entrants without values on any axis."""
    return {model: {"model": model} for model in models}


def a_case(**changes: Any) -> Case:
    facts = {
        "name": "case",
        "prompt": "question",
        "checks": (Check(kind="answer_contains", params={"text": "x"}),),
    }
    return Case(**{**facts, **changes})


def says(text: str, **changes: Any) -> Reply:
    return Reply(text=text, usage=Usage(input_tokens=10, output_tokens=5, cost_usd=0.01), **changes)


def asks(*requests: tuple[str, dict[str, Any]], text: str = "", **changes: Any) -> Reply:
    made = tuple(
        ToolRequest(id=f"call_{number}", tool=tool, arguments=arguments)
        for number, (tool, arguments) in enumerate(requests, start=1)
    )
    return Reply(
        text=text,
        tool_requests=made,
        stop="tool_calls",
        usage=Usage(input_tokens=10, output_tokens=5, cost_usd=0.01),
        **changes,
    )
