"""``python -m tests.proofs.planted.server``: the clinic as an MCP server, faulty if asked.

Serves on stdin and stdout, or with ``--port`` on streamable HTTP behind a token verifier.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.proofs.planted.calls import Call, Mistake, Refusal
from tests.proofs.planted.clinic import Clinic
from tests.proofs.planted.data import altered
from tests.proofs.planted.door import Door, Refused
from tests.proofs.planted.faults import FAULTS
from tests.proofs.stdio import serve_stdio

_CLAIMS = "clinic.claims"
_SESSION = "mcp-session-id"
_REFUSED = -32003


def make_server(clinic: Clinic) -> Server[Any]:
    """Return the server of a clinic."""

    async def list_tools(ctx: ServerRequestContext[Any], _: Any) -> types.ListToolsResult:
        call = _call(ctx, "")
        return types.ListToolsResult(tools=clinic.tools(clinic.identify(call)))

    async def call_tool(
        ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        call = _call(ctx, params.name, dict(params.arguments or {}))
        answer = await clinic.answer_later(call)
        await _speak(ctx, clinic, call)
        return answer

    async def list_resources(ctx: ServerRequestContext[Any], _: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=clinic.resources(_asked(clinic, ctx)))

    async def read_resource(
        ctx: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        try:
            content = clinic.read(str(params.uri), _asked(clinic, ctx))
        except (Refusal, Mistake) as error:
            raise MCPError(_REFUSED, str(error)) from error
        contents = types.TextResourceContents(uri=str(params.uri), text=content)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(ctx: ServerRequestContext[Any], _: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=clinic.prompts(_asked(clinic, ctx)))

    async def get_prompt(
        ctx: ServerRequestContext[Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        call = _asked(clinic, ctx, dict(params.arguments or {}))
        content = types.TextContent(text=clinic.prompt(params.name, call))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    async def templates(_: ServerRequestContext[Any], __: Any) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="patient", uri_template="clinic://patients/{patient_id}"
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def complete(
        ctx: ServerRequestContext[Any], params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        values = clinic.completions(params.argument.value, _asked(clinic, ctx))
        return types.CompleteResult(completion=types.Completion(values=values))

    async def set_level(_: Any, __: Any) -> types.EmptyResult:
        return types.EmptyResult()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        return Server(
            "clinic",
            instructions=clinic.instructions(),
            on_list_tools=list_tools,
            on_call_tool=call_tool,
            on_list_resources=list_resources,
            on_list_resource_templates=templates,
            on_read_resource=read_resource,
            on_list_prompts=list_prompts,
            on_get_prompt=get_prompt,
            on_completion=complete,
            on_set_logging_level=set_level,
        )


def _call(ctx: ServerRequestContext[Any], tool: str, args: dict[str, Any] | None = None) -> Call:
    call = Call(tool, args or {}, meta=dict(ctx.meta or {}))
    if isinstance(ctx.request, Request):
        call.claims = ctx.request.scope.get(_CLAIMS, {})
        call.headers = dict(ctx.request.headers)
        call.session = call.headers.get(_SESSION, "")
    return call


def _asked(
    clinic: Clinic, ctx: ServerRequestContext[Any], args: dict[str, Any] | None = None
) -> Call:
    call = _call(ctx, "get_patient", args)
    call.who = clinic.identify(call)
    return call


async def _speak(ctx: ServerRequestContext[Any], clinic: Clinic, call: Call) -> None:
    sys.stderr.write(clinic.stderr(call))
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        for kind, words in clinic.messages(call):
            if kind == "log":
                await ctx.session.send_log_message(
                    level="info", data=words, related_request_id=ctx.request_id
                )
            else:
                await ctx.session.report_progress(1, 1, words)


class _Gate:
    """Asks the door about each request; 401 to those whose token does not count."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope)
            headers = dict(request.headers)
            try:
                scope[_CLAIMS] = await anyio.to_thread.run_sync(
                    self._door.admit, headers, headers.get(_SESSION, ""), request.url.query
                )
            except Refused as refused:
                answer = JSONResponse({"error": self._door.said(str(refused), headers)}, 401)
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)


def main() -> None:
    """Serve as the command line asks."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.planted.server")
    parser.add_argument("--fault", choices=sorted(FAULTS), default=os.environ.get("CLINIC_FAULT"))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("CLINIC_SEED", "1")))
    parser.add_argument(
        "--port", type=int, help="serve HTTP here; $HARNESS_ISSUER … say whom to trust"
    )
    parser.add_argument("--list", action="store_true", help="list the faults, and end")
    options = parser.parse_args()
    if options.list:
        told = {name: f"{fault.group}: {fault.words}" for name, fault in FAULTS.items()}
        sys.stdout.write(json.dumps(told, indent=1) + "\n")
        return
    fault = FAULTS[options.fault] if options.fault else None
    clinic = (fault.clinic if fault else Clinic)(options.seed)
    if change := os.environ.get("CLINIC_ALTER"):
        clinic.data = altered(clinic.data, change)
    server = make_server(clinic)
    if options.port is None:
        serve_stdio(server)
        return
    trust = (os.environ[f"HARNESS_{name}"] for name in ("ISSUER", "JWKS_URL", "AUDIENCE"))
    door = (fault.door if fault else Door)(*trust)
    app = server.streamable_http_app()
    uvicorn.run(_Gate(app, door), host="127.0.0.1", port=options.port, log_level="warning")


if __name__ == "__main__":
    main()
