"""A server that asks before it deletes; ``GATE`` names what is wrong with its gate.

It speaks both eras, over stdio, streamable HTTP and SSE (``OVER``, ``PORT``).
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

warnings.simplefilter("ignore")
GATE = os.environ.get("GATE", "sound")
Context = ServerRequestContext[Any, Any]
customers = {"C1": "Ada", "C2": "Ben", "C3": "Cleo"}
BY_ID: Any = {
    "type": "object",
    "properties": {"customer_id": {"type": "string", "enum": ["C1", "C2", "C3"]}},
    "required": ["customer_id"],
}
CONFIRM: Any = {
    "type": "object",
    "properties": {"confirm": {"type": "boolean", "title": "Delete the record"}},
    "required": ["confirm"],
}
SECRET: Any = {
    "type": "object",
    "properties": {"confirm": {"type": "boolean"}, "password": {"type": "string"}},
    "required": ["confirm"],
}
DEFAULTS: Any = {
    "type": "object",
    "properties": {
        "confirm": {"type": "boolean", "default": True},
        "reason": {"type": "string", "default": "asked for"},
    },
}
BROKEN: Any = {"type": "object", "properties": {"confirm": {"type": "object"}}}
SCHEMAS = {"secret": SECRET, "bad_form": BROKEN, "defaults": DEFAULTS}


async def list_tools(ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(
        tools=[
            Tool(
                name="list_customers",
                description="List all customers with their names.",
                input_schema={"type": "object", "properties": {}},
                annotations=ToolAnnotations(read_only_hint=True),
            ),
            Tool(
                name="delete_customer",
                description="Delete a customer for good, by id.",
                input_schema=BY_ID,
                annotations=ToolAnnotations(destructive_hint=True),
            ),
        ]
    )


def is_newest(ctx: Context) -> bool:
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def said(text: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=is_error)


def role(ctx: Context) -> str:
    context: Any = (ctx.meta or {}).get("harness/user_context") or {}
    return str(context.get("role", "admin"))


async def call_tool(
    ctx: Context, params: CallToolRequestParams
) -> CallToolResult | InputRequiredResult:
    if params.name == "list_customers":
        return said(", ".join(f"{key} {name}" for key, name in customers.items()))
    key = str((params.arguments or {}).get("customer_id"))
    if role(ctx) != "admin" and GATE != "anyone":
        return said("Access denied: only admins may delete customers", is_error=True)
    if GATE == "no_gate":
        return delete(key)
    able = ctx.session.client_capabilities
    if able is None or able.elicitation is None:
        refused = said("Refused: this client cannot ask its user for consent", is_error=True)
        return delete(key) if GATE == "no_capability" else refused
    if GATE == "late":
        background.start_soon(ask_late, ctx)
    return delete(key) if GATE == "late" else await ask_in_time(ctx, params, key)


async def ask_in_time(
    ctx: Context, params: CallToolRequestParams, key: str
) -> CallToolResult | InputRequiredResult:
    if GATE == "asks_after" and params.input_responses is None:
        customers.pop(key, None)
    return await ask(ctx, params, key)


async def ask(
    ctx: Context, params: CallToolRequestParams, key: str
) -> CallToolResult | InputRequiredResult:
    message = f"Delete customer {key} ({customers.get(key)}) for good?"
    if GATE == "vague":
        message = "Are you sure?"
    schema = SCHEMAS.get(GATE, CONFIRM)
    if GATE == "repeats":
        return await repeat(ctx, message)
    if not is_newest(ctx):
        if GATE == "url":
            told = await ctx.session.elicit_url(
                message, "https://example.org/ok", "e1", ctx.request_id
            )
        else:
            told = await ctx.session.elicit_form(message, schema, ctx.request_id)
        return decide(key, told.action, told.content)
    if params.input_responses is None:
        form: Any = ElicitRequestFormParams(message=message, requested_schema=schema)
        if GATE == "url":
            form = ElicitRequestURLParams(message=message, url="https://example.org/ok")
        return InputRequiredResult(input_requests={"gate": ElicitRequest(params=form)})
    answer: Any = params.input_responses["gate"]
    return decide(key, answer.action, answer.content)


async def repeat(ctx: Context, message: str) -> CallToolResult | InputRequiredResult:
    form = ElicitRequestFormParams(message=message, requested_schema=CONFIRM)
    if is_newest(ctx):
        return InputRequiredResult(input_requests={"gate": ElicitRequest(params=form)})
    while True:
        await ctx.session.elicit_form(message, CONFIRM, ctx.request_id)


async def ask_late(ctx: Context) -> None:
    await anyio.sleep(0.05)
    await ctx.session.elicit_form("Was that right?", CONFIRM)


def decide(key: str, action: str, content: Any) -> CallToolResult:
    agreed = action == "accept" and (
        GATE in ("url", "unticked") or bool((content or {}).get("confirm"))
    )
    if agreed or GATE in ("ignores_answer", f"ignores_{action}"):
        return delete(key)
    return said("Nothing was deleted: the user did not agree")


def delete(key: str) -> CallToolResult:
    name = customers.pop(key, None)
    return said(f"Deleted {key}" if name or GATE == "asks_after" else f"There is no customer {key}")


server = Server[Any]("gates", on_list_tools=list_tools, on_call_tool=call_tool)
background: Any = None


async def serve() -> None:
    global background
    async with stdio_server() as (reader, writer), anyio.create_task_group() as background:
        await server.run(reader, writer, server.create_initialization_options())
        background.cancel_scope.cancel()


def build_sse_app() -> Any:
    from mcp.server.sse import SseServerTransport
    from starlette.applications import Starlette
    from starlette.responses import Response
    from starlette.routing import Mount, Route

    transport = SseServerTransport("/messages/")

    async def connect(request: Any) -> Response:
        async with transport.connect_sse(request.scope, request.receive, request._send) as streams:
            await server.run(streams[0], streams[1], server.create_initialization_options())
        return Response()

    routes = [
        Route("/sse", endpoint=connect, methods=["GET"]),
        Mount("/messages/", app=transport.handle_post_message),
    ]
    return Starlette(routes=routes)


if __name__ == "__main__":
    if "PORT" in os.environ:
        import uvicorn

        sse = os.environ.get("OVER") == "sse"
        app = build_sse_app() if sse else server.streamable_http_app()
        uvicorn.run(app, port=int(os.environ["PORT"]), log_level="warning")
    else:
        anyio.run(serve)
