"""A server with resources and prompts, some of them for admins, over every transport and era."""

from __future__ import annotations

import base64
import os
import warnings
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    BlobResourceContents,
    CallToolRequestParams,
    CallToolResult,
    EmbeddedResource,
    GetPromptRequestParams,
    GetPromptResult,
    ImageContent,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    Tool,
)

warnings.simplefilter("ignore")
Context = ServerRequestContext[Any, Any]
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nabc").decode()
BOOKS: dict[str, tuple[str, str]] = {
    "hr://handbook": ("text/plain", "Leave: 30 days."),
    "hr://salaries": ("text/plain", "Ada earns 123456 CHF."),
    "hr://logo": ("image/png", PNG),
    "hr://archive": ("application/zip", PNG),
    "hr://people/E1": ("text/plain", "Ada, engineer."),
}


def is_admin(ctx: Context) -> bool:
    user: Any = (ctx.meta or {}).get("harness/user_context") or {}
    return bool(user.get("role") == "admin")


async def list_tools(ctx: Context, params: PaginatedRequestParams | None) -> ListToolsResult:
    tool = Tool(name="lend", description="Lend a book.", input_schema={"type": "object"})
    return ListToolsResult(tools=[tool])


async def call_tool(ctx: Context, params: CallToolRequestParams) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text="lent")])


async def list_resources(
    ctx: Context, params: PaginatedRequestParams | None
) -> ListResourcesResult:
    if params is None or params.cursor is None:
        book = Resource(uri="hr://handbook", name="handbook", description="Rules for all.")
        return ListResourcesResult(resources=[book], next_cursor="2")
    return ListResourcesResult(resources=[Resource(uri="hr://logo", name="logo")])


async def list_templates(
    ctx: Context, params: PaginatedRequestParams | None
) -> ListResourceTemplatesResult:
    person = ResourceTemplate(uri_template="hr://people/{id}", name="person")
    return ListResourceTemplatesResult(resource_templates=[person])


async def read_resource(ctx: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
    uri = str(params.uri)
    if uri == "hr://broken":
        raise ValueError("a secret of the program")
    if uri == "hr://slow":
        await anyio.sleep_forever()
    if uri == "hr://salaries" and not is_admin(ctx):
        raise MCPError(-32003, "Access denied: requires role 'admin'")
    if uri not in BOOKS:
        raise MCPError(-32602, f"there is no {uri}")
    mime, content = BOOKS[uri]
    if mime == "text/plain":
        return ReadResourceResult(
            contents=[TextResourceContents(uri=uri, mime_type=mime, text=content)]
        )
    return ReadResourceResult(
        contents=[BlobResourceContents(uri=uri, mime_type=mime, blob=content)]
    )


async def list_prompts(ctx: Context, params: PaginatedRequestParams | None) -> ListPromptsResult:
    who = PromptArgument(name="who", required=True)
    # In pages, so that a client has to read on.
    if params is None or params.cursor is None:
        pay = [Prompt(name="pay", arguments=[])] if is_admin(ctx) else []
        review = Prompt(name="review", arguments=[who, PromptArgument(name="tone")])
        return ListPromptsResult(prompts=[*pay, review], next_cursor="2")
    names = ("greeting", "waits", "broken", "kept")
    return ListPromptsResult(prompts=[Prompt(name=name) for name in names])


async def get_prompt(ctx: Context, params: GetPromptRequestParams) -> GetPromptResult:
    if params.name == "kept":
        raise MCPError(-32003, "Access denied: requires role 'admin'")
    if params.name == "broken":
        raise ValueError("a secret of the program")
    if params.name == "waits":
        await anyio.sleep_forever()
    blocks: list[tuple[Any, Any]] = [
        ("user", TextContent(type="text", text="Who are you?")),
        ("assistant", TextContent(type="text", text="The librarian.")),
    ]
    if params.name == "review":
        who = (params.arguments or {}).get("who")
        mime, text = BOOKS["hr://handbook"]
        book = TextResourceContents(uri="hr://handbook", mime_type=mime, text=text)
        blocks += [
            ("user", EmbeddedResource(type="resource", resource=book)),
            ("user", ImageContent(type="image", data=PNG, mime_type="image/png")),
            ("user", TextContent(type="text", text=f"Review the leave of {who}.")),
        ]
    messages = [PromptMessage(role=role, content=content) for role, content in blocks]
    return GetPromptResult(messages=messages)


server = Server[Any](
    "library",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_read_resource=read_resource,
    on_list_resources=list_resources,
    on_list_resource_templates=list_templates,
    on_list_prompts=list_prompts,
    on_get_prompt=get_prompt,
)


async def serve() -> None:
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


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
