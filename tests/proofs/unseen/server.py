"""The firm's MCP server: ``python -m tests.proofs.unseen.server [--fault NAME]``.

Over stdio the caller stands in ``_meta``; over HTTP only the claims of a verified token count.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Final

import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.settings import AuthSettings
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError
from mcp_types import CallToolResult, Completion, TextContent, ToolAnnotations
from mcp_types import Resource as ListedResource
from mcp_types import Tool as ListedTool
from pydantic import AnyHttpUrl

from tests.proofs.unseen.chambers import Chambers
from tests.proofs.unseen.data import Records
from tests.proofs.unseen.faults import FAULTS
from tests.proofs.unseen.policy import NOBODY, Caller, Denied
from tests.proofs.unseen.tokens import Verifier

USER_KEY: Final = "harness/user_context"
READS: Final = ToolAnnotations(read_only_hint=True, destructive_hint=False)
CHANGES: Final = ToolAnnotations(read_only_hint=False, destructive_hint=False)
DELETES: Final = ToolAnnotations(read_only_hint=False, destructive_hint=True)
_CALLER: ContextVar[Caller] = ContextVar("caller", default=NOBODY)
"""Who sent the request that is being served."""


class Server(MCPServer[Any]):
    """The tools of `Chambers`, each list and call for whoever sent that very request."""

    def __init__(self, chambers: Chambers, verifier: Verifier | None = None) -> None:
        """Serve ``chambers``; with a ``verifier``, only tokens say who asks."""
        auth = None
        if verifier is not None:
            auth = AuthSettings(
                issuer_url=AnyHttpUrl(verifier.issuer),
                resource_server_url=AnyHttpUrl(verifier.audience),
                validate_token_resource=False,  # the verifier does
            )
        self._chambers, self._by_token = chambers, verifier is not None
        super().__init__(
            "chambers",
            instructions="Matters, clients and notes of a law firm.",
            token_verifier=verifier,
            auth=auth,
            log_level="CRITICAL",
            middleware=[self._identify],
        )

    async def _identify(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        given: Any = dict(ctx.meta or {}).get(USER_KEY)
        if self._by_token:
            token = get_access_token()
            given = token.claims if token else None
        _CALLER.set(self._chambers.identify(given if isinstance(given, Mapping) else {}))
        return await call_next(ctx)

    async def list_tools(self) -> list[ListedTool]:
        """Return the tools that the caller is shown."""
        tools = await super().list_tools()
        return [one for one in tools if not self._chambers.hides(_CALLER.get(), one.name)]

    async def list_resources(self) -> list[ListedResource]:
        """Return the resources that are for everybody."""
        return await super().list_resources()

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> Any:
        """Call a tool that exists for the caller, with arguments that it has."""
        caller = _CALLER.get()
        tool = self._tool_manager.get_tool(name)
        try:
            if tool is None or self._chambers.refuses(caller, name):
                return _result(self._chambers.unlisted(caller, name, arguments))
            known = tool.parameters["properties"]
            if extra := {key: value for key, value in arguments.items() if key not in known}:
                self._chambers.undeclared(caller, name, extra)
        except Denied as denied:
            return _refusal(str(denied))
        return await super().call_tool(name, arguments, context)

    async def answer(self, ctx: Context[Any, Any], tool: str, **args: Any) -> CallToolResult:
        """Return what the firm says to a call, or its refusal."""
        firm, caller = self._chambers, _CALLER.get()
        try:
            result = firm.perform(caller, tool, args)
        except Denied as denied:
            return _refusal(str(denied))
        log, progress = firm.said(caller, tool, args)
        if log:
            await ctx.info(log)
        await ctx.report_progress(1, 1, progress)
        said = firm.as_text(caller, tool, result)
        text = said if isinstance(said, str) else json.dumps(said)
        blocks = [text, *firm.more_blocks(caller, tool, result)]
        return CallToolResult(
            content=[TextContent(type="text", text=block) for block in blocks],
            structured_content=result if isinstance(result, dict) else None,
            _meta=firm.beside(caller, tool, result) or None,
        )


def _result(result: Any) -> CallToolResult:
    text = TextContent(type="text", text=json.dumps(result))
    return CallToolResult(content=[text], structured_content=result)


def _refusal(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def build(chambers: Chambers, verifier: Verifier | None = None) -> Server:
    """Return a server of ``chambers``."""
    server = Server(chambers, verifier)
    _read_matters(server)
    _read_others(server)
    _changes(server)
    _beside_tools(server, chambers)
    return server


def _read_matters(server: Server) -> None:
    @server.tool(annotations=READS)
    async def get_matter(ctx: Context, matter_id: str, with_client: bool = False) -> CallToolResult:
        """Get one matter by its id, such as M-1002; with its client if asked."""
        return await server.answer(ctx, "get_matter", matter_id=matter_id, with_client=with_client)

    @server.tool(annotations=READS)
    async def get_matters(ctx: Context, matter_ids: list[str]) -> CallToolResult:
        """Get several matters by their ids."""
        return await server.answer(ctx, "get_matters", matter_ids=matter_ids)

    @server.tool(annotations=READS)
    async def list_matters(
        ctx: Context,
        status: str = "",
        sort: str = "id",
        min_fee: int = 0,
        limit: int = 4,
        cursor: str = "",
        include_deleted: bool = False,
    ) -> CallToolResult:
        """List matters, a page at a time: of a status, sorted by a field, from a fee on."""
        return await server.answer(
            ctx, "list_matters", status=status, sort=sort, min_fee=min_fee, limit=limit,
            cursor=cursor, include_deleted=include_deleted,
        )  # fmt: skip

    @server.tool(annotations=READS)
    async def search_matters(ctx: Context, query: str) -> CallToolResult:
        """Find matters by a part of their title."""
        return await server.answer(ctx, "search_matters", query=query)

    @server.tool(annotations=READS)
    async def export_matters(ctx: Context, status: str = "") -> CallToolResult:
        """Export matters of a status (open, closed, or all) as CSV."""
        return await server.answer(ctx, "export_matters", status=status)


def _read_others(server: Server) -> None:
    @server.tool(annotations=READS)
    async def fee_statistics(ctx: Context, status: str = "") -> CallToolResult:
        """Get the average fee of each team, for matters of a status or all."""
        return await server.answer(ctx, "fee_statistics", status=status)

    @server.tool(annotations=READS)
    async def get_client(ctx: Context, client_id: str) -> CallToolResult:
        """Get a client's record by its id, such as CL-22."""
        return await server.answer(ctx, "get_client", client_id=client_id)

    @server.tool(annotations=READS)
    async def list_clients(ctx: Context) -> CallToolResult:
        """List clients."""
        return await server.answer(ctx, "list_clients")

    @server.tool(annotations=READS)
    async def list_notes(ctx: Context, matter_id: str) -> CallToolResult:
        """List the notes of a matter."""
        return await server.answer(ctx, "list_notes", matter_id=matter_id)

    @server.tool(annotations=READS)
    async def audit_trail(ctx: Context, matter_id: str) -> CallToolResult:
        """List who did what to a matter, and when."""
        return await server.answer(ctx, "audit_trail", matter_id=matter_id)


def _changes(server: Server) -> None:
    @server.tool(annotations=CHANGES)
    async def add_note(
        ctx: Context, matter_id: str, body: str, request_id: str = ""
    ) -> CallToolResult:
        """Add a note to a matter; with a request_id, a repeated request adds nothing."""
        return await server.answer(
            ctx, "add_note", matter_id=matter_id, body=body, request_id=request_id
        )

    @server.tool(annotations=CHANGES)
    async def update_matter(ctx: Context, matter_id: str, status: str) -> CallToolResult:
        """Set the status of a matter: open or closed."""
        return await server.answer(ctx, "update_matter", matter_id=matter_id, status=status)

    @server.tool(annotations=DELETES)
    async def delete_matter(ctx: Context, matter_id: str) -> CallToolResult:
        """Delete a matter."""
        return await server.answer(ctx, "delete_matter", matter_id=matter_id)


def _beside_tools(server: Server, chambers: Chambers) -> None:
    @server.resource("chambers://about")
    def about() -> str:
        """Return what the firm does."""
        return "A law firm with three teams: tax, tax disputes and shipping."

    @server.resource("chambers://matters/{matter_id}", mime_type="application/json")
    def matter(matter_id: str) -> str:
        """Return a matter."""
        try:
            return json.dumps(chambers.matter_page(_CALLER.get(), matter_id))
        except Denied as denied:
            raise ResourceError(str(denied)) from denied

    @server.resource("chambers://clients/{client_id}", mime_type="application/json")
    def client(client_id: str) -> str:
        """Return a client."""
        try:
            return json.dumps(chambers.client_page(_CALLER.get(), client_id))
        except Denied as denied:
            raise ResourceError(str(denied)) from denied

    @server.prompt()
    def brief(matter_id: str) -> str:
        """Ask for a summary of a matter."""
        try:
            return chambers.brief(_CALLER.get(), matter_id)
        except Denied as denied:
            return str(denied)

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]  # the SDK has no types here
    async def complete(_ref: Any, argument: Any, _context: Any) -> Completion | None:
        if argument.name != "matter_id":
            return None
        return Completion(values=chambers.completions(_CALLER.get(), argument.value))


def firm(fault: str, seed: int, altered: str = "") -> Chambers:
    """Return the firm with a fault, or without if the name is empty."""
    return (FAULTS[fault] if fault else Chambers)(Records(seed, altered))


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve on stdin and stdout, or on HTTP."""
    parser = argparse.ArgumentParser(prog="tests.proofs.unseen.server")
    parser.add_argument("--fault", default="", choices=("", *FAULTS), metavar="NAME")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--port", type=int, help="serve on HTTP, for bearer tokens")
    options = parser.parse_args(arguments)
    chambers = firm(options.fault, options.seed, os.environ.get("CHAMBERS_ALTER", ""))
    if options.port is None:
        build(chambers).run("stdio")
        return
    verifier = chambers.verifier(
        os.environ["HARNESS_ISSUER"],
        os.environ["HARNESS_JWKS_URL"],
        os.environ["HARNESS_AUDIENCE"],
    )
    app = chambers.door(build(chambers, verifier).streamable_http_app())
    uvicorn.run(app, port=options.port, log_level="critical", timeout_graceful_shutdown=1)


if __name__ == "__main__":
    main()
