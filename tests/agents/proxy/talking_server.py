"""A server that says and asks things of its own accord, in the words of either era."""

from __future__ import annotations

import os
import warnings
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    EmptyResult,
    InputRequiredResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Resource,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    Tool,
    UnsubscribeRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

warnings.simplefilter("ignore")  # what the newest revision no longer has is tested as well
URI = "note://one"
SCHEMA: Any = {"type": "object", "properties": {"city": {"type": "string"}}}
Context = ServerRequestContext[Any, Any]
bus = InMemorySubscriptionBus()
tools = ["grow", "touch", "note", "ask", "sample", "subscribed", "level"]
subscribed: list[str] = []
levels: list[str] = []


async def list_tools(ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(
        tools=[Tool(name=name, input_schema={"type": "object"}) for name in tools]
    )


async def list_resources(
    ctx: Context, params: PaginatedRequestParams | None
) -> ListResourcesResult:
    return ListResourcesResult(resources=[Resource(uri=URI, name="one")])


async def subscribe(ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
    subscribed.append(params.uri)
    return EmptyResult()


async def unsubscribe(ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
    subscribed.remove(params.uri)
    return EmptyResult()


async def set_level(ctx: Context, params: SetLevelRequestParams) -> EmptyResult:
    levels.append(params.level)
    return EmptyResult()


def is_newest(ctx: Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def said(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)])


async def call_tool(
    ctx: Context, params: CallToolRequestParams
) -> CallToolResult | InputRequiredResult:
    session = ctx.session
    if params.name == "grow":
        tools.append("grown")
        if is_newest(ctx):
            await bus.publish(ToolsListChanged())
        else:
            await session.send_tool_list_changed()
    elif params.name == "touch":
        if is_newest(ctx):
            await bus.publish(ResourceUpdated(uri=URI))
        elif URI in subscribed:
            await session.send_resource_updated(URI)
    elif params.name == "note":
        await session.send_log_message("info", "heard", "talker", ctx.request_id)
        await session.send_log_message("debug", "whispered", "talker", ctx.request_id)
    elif params.name == "ask":
        return await ask(ctx, params)
    elif params.name == "sample":
        return await sample(ctx, params)
    elif params.name == "level":
        return said(str(levels))
    elif params.name == "subscribed":
        return said(str(subscribed))
    return said("done")


async def ask(ctx: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
    question = ElicitRequestFormParams(message="Where?", requested_schema=SCHEMA)
    if not is_newest(ctx):
        able = ctx.session.client_capabilities
        if able is None or able.elicitation is None:
            return said("it cannot be asked")
        answer = await ctx.session.elicit_form("Where?", SCHEMA, ctx.request_id)
        return said(f"{answer.action} {answer.content}")
    if params.input_responses is None:
        able = ctx.session.client_capabilities
        if able is None or able.elicitation is None:
            return said("it cannot be asked")
        return InputRequiredResult(
            input_requests={"where": ElicitRequest(params=question)}, request_state="state 1"
        )
    assert params.request_state == "state 1"
    told: Any = params.input_responses["where"]
    return said(f"{told.action} {told.content}")


async def sample(
    ctx: Context, params: CallToolRequestParams
) -> CallToolResult | InputRequiredResult:
    messages = [SamplingMessage(role="user", content=TextContent(text="Say it"))]
    if not is_newest(ctx):
        answer = await ctx.session.create_message(
            messages, max_tokens=5, related_request_id=ctx.request_id
        )
        return said(str(answer.content.text))  # type: ignore[union-attr]
    if params.input_responses is None:
        question = CreateMessageRequestParams(messages=messages, max_tokens=5)
        return InputRequiredResult(input_requests={"s": CreateMessageRequest(params=question)})
    told: Any = params.input_responses["s"]
    return said(str(told.content.text))


server = Server[Any](
    "talker",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_resources=list_resources,
    on_subscribe_resource=subscribe,
    on_unsubscribe_resource=unsubscribe,
    on_set_logging_level=set_level,
    on_subscriptions_listen=ListenHandler(bus),
)


async def serve() -> None:
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    if "PORT" in os.environ:
        import uvicorn

        app = server.streamable_http_app()
        uvicorn.run(app, port=int(os.environ["PORT"]), log_level="warning")
    else:
        anyio.run(serve)
