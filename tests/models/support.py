"""What the tests of the model clients share.

The three clients, opened against a loopback server.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal, TypeAlias

from harness.models.anthropic import AnthropicModel
from harness.models.model import Model
from harness.models.openai_chat import OpenAIChat
from harness.models.openai_responses import OpenAIResponses
from harness.types import (
    AssistantMessage,
    Message,
    ModelSpec,
    Reply,
    Secret,
    Tool,
    ToolAnswer,
    ToolList,
    ToolMessage,
    UserMessage,
)
from tests.clock import BOUND_S

Api: TypeAlias = Literal["messages", "chat", "responses"]
APIS: tuple[Api, ...] = ("messages", "chat", "responses")

HELLO = (UserMessage(text="Where is order 7?"),)
ORDER = Tool(
    name="get_order",
    description="Look an order up.",
    input_schema={"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
)
TOOLS = ToolList(
    tools=(ORDER, Tool(name="list_orders", input_schema={"type": "object", "properties": {}}))
)
NO_TOOLS = ToolList(tools=())

_CLASSES: dict[Api, type[AnthropicModel | OpenAIChat | OpenAIResponses]] = {
    "messages": AnthropicModel,
    "chat": OpenAIChat,
    "responses": OpenAIResponses,
}


def no_wait(retry: int) -> float:
    """A backoff without any waiting, so that a test of retries takes no time."""
    return 0.0


def spec_for(api: Api, url: str | None, **settings: Any) -> ModelSpec:
    """Return the configuration of a model behind ``url`` (without ``/v1``)."""
    base_url = url + ("" if api == "messages" else "/v1") if url else None
    usual: dict[str, Any] = {
        "name": "the-model",
        "provider": "anthropic" if api == "messages" else "openai",
        "model_id": "claude-sonnet-4-5" if api == "messages" else "gpt-4o",
        "api": "responses" if api == "responses" else "chat",
        "api_key": Secret("test-key"),
        "base_url": base_url,
        "timeout_s": BOUND_S,
        "max_retries": 0,
    }
    return ModelSpec(**{**usual, **settings})


@asynccontextmanager
async def opened(
    api: Api, url: str | None, *, backoff: Callable[[int], float] = no_wait, **settings: Any
) -> AsyncIterator[AnthropicModel | OpenAIChat | OpenAIResponses]:
    """Open a model, and close it whatever happens."""
    model = _CLASSES[api](spec_for(api, url, **settings), backoff=backoff)
    try:
        yield model
    finally:
        await model.aclose()


def limiter_of(model: Any) -> Any:
    """Return the limiter of a model."""
    return (
        model._endpoint if isinstance(model, AnthropicModel) else model._connection.endpoint
    ).limiter


async def converse(
    model: Model,
    *,
    tools: ToolList = TOOLS,
    system: str | None = None,
    answer: Callable[[str, dict[str, Any]], ToolAnswer | str] = lambda tool, arguments: (
        f"{tool} done"
    ),
    conversation: Sequence[Message] = HELLO,
) -> list[Reply]:
    """Converse until a reply asks for no tool, answering every call, and return the replies."""
    messages = list(conversation)
    replies: list[Reply] = []
    while True:
        reply = await model.answer(messages, tools, system)
        replies.append(reply)
        messages.append(AssistantMessage(reply=reply))
        if not reply.tool_requests:
            return replies
        answers = []
        for request in reply.tool_requests:
            said = answer(request.tool, dict(request.arguments))
            answers.append(
                said
                if isinstance(said, ToolAnswer)
                else ToolAnswer(request_id=request.id, text=said)
            )
        messages.append(ToolMessage(answers=tuple(answers)))
