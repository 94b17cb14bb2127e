"""``python -m tests.proofs.gazette.server [--fault NAME]``: the newsroom as an MCP server.

Over stdio the caller stands in ``_meta``; over HTTP only the claims of a verified token count.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from typing import Any, Final

import anyio
import mcp_types as types
import uvicorn
from jsonschema import Draft202012Validator
from jwt import PyJWTError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.proofs.gazette.data import make
from tests.proofs.gazette.faults import FAULTS
from tests.proofs.gazette.newsroom import Newsroom
from tests.proofs.gazette.policy import Caller, Denied
from tests.proofs.gazette.sound import SOUND
from tests.proofs.gazette.tools import TOOLS
from tests.proofs.stdio import serve_stdio
from tests.proofs.unseen.tokens import Verifier

USER_KEY: Final = "harness/user_context"
_CLAIMS: Final = "gazette.claims"
_REFUSED: Final = -32003
RESOURCES: Final = ("gazette://stylebook",)
TEMPLATES: Final = ("gazette://stories/{story_id}", "gazette://contributors/{contributor_id}")
PROMPTS: Final[Mapping[str, tuple[str, ...]]] = {"headline": ("story_id",)}
"""Prompts, and their arguments."""


def open_newsroom(name: str, seed: int) -> Newsroom:
    """Return the newsroom with the fault or the sound oddity ``name``; without a name, as it is."""
    newsrooms: dict[str, type[Newsroom]] = {"": Newsroom, **SOUND}
    newsrooms |= {key: one.newsroom for key, one in FAULTS.items()}
    return newsrooms[name](make(seed))


def build(newsroom: Newsroom) -> Server[Any]:
    """Return the server of a newsroom."""

    async def list_tools(_: ServerRequestContext[Any], __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=list(TOOLS.values()))

    async def call_tool(
        ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        return answer(newsroom, _identify(newsroom, ctx), params.name, params.arguments or {})

    async def list_resources(_: Any, __: Any) -> types.ListResourcesResult:
        found = [types.Resource(name="stylebook", uri=uri) for uri in RESOURCES]
        return types.ListResourcesResult(resources=found)

    async def templates(_: ServerRequestContext[Any], __: Any) -> types.ListResourceTemplatesResult:
        found = [
            types.ResourceTemplate(name=uri.split("/")[2], uri_template=uri) for uri in TEMPLATES
        ]
        return types.ListResourceTemplatesResult(resource_templates=found)

    async def read_resource(
        ctx: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            said = read(newsroom, _identify(newsroom, ctx), uri.removeprefix("gazette://"))
        except Denied as denied:
            raise MCPError(_REFUSED, str(denied)) from denied
        contents = [types.TextResourceContents(uri=uri, text=said)]
        return types.ReadResourceResult(contents=list(contents))

    async def list_prompts(_: ServerRequestContext[Any], __: Any) -> types.ListPromptsResult:
        found = [
            types.Prompt(
                name=name,
                arguments=[types.PromptArgument(name=one, required=True) for one in names],
            )
            for name, names in PROMPTS.items()
        ]
        return types.ListPromptsResult(prompts=found)

    async def get_prompt(
        ctx: ServerRequestContext[Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        story_id = str((params.arguments or {}).get("story_id", ""))
        try:
            said = newsroom.headline(_identify(newsroom, ctx), story_id)
        except Denied as denied:
            raise MCPError(_REFUSED, str(denied)) from denied
        content = types.TextContent(text=said)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])

    async def complete(
        ctx: ServerRequestContext[Any], params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        values = newsroom.completions(_identify(newsroom, ctx), params.argument.value)
        return types.CompleteResult(completion=types.Completion(values=values[:100]))

    return Server(
        "gazette",
        instructions="Stories and contributors of two papers.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
    )


def answer(
    newsroom: Newsroom, caller: Caller, tool: str, arguments: Mapping[str, Any]
) -> types.CallToolResult:
    """Return what a call gives its caller, or why it is refused."""
    if tool not in TOOLS:
        return _refuse(f"Unknown tool: {tool}")
    wrong = next(Draft202012Validator(TOOLS[tool].input_schema).iter_errors(arguments), None)
    if wrong is not None:
        return _refuse(f"Invalid arguments: {wrong.message[:80]}")
    try:
        result = newsroom.perform(caller, tool, arguments)
    except Denied as denied:
        return _refuse(str(denied))
    said = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    structured = result if isinstance(result, dict) else None
    return types.CallToolResult(
        content=[types.TextContent(text=said)], structured_content=structured
    )


def _refuse(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def read(newsroom: Newsroom, caller: Caller, path: str) -> str:
    """Return a resource.

    Raises:
        Denied: the caller may not read it, or there is none.
    """
    folder, _, key = path.partition("/")
    if path == "stylebook":
        return "Write short sentences."
    if folder == "stories":
        return json.dumps(newsroom.story_page(caller, key))
    newsroom.require(folder == "contributors")
    return json.dumps(newsroom.person_page(caller, key))


def _identify(newsroom: Newsroom, ctx: ServerRequestContext[Any]) -> Caller:
    given: Any = dict(ctx.meta or {}).get(USER_KEY)
    query: Mapping[str, str] = {}
    if isinstance(ctx.request, Request):
        given, query = ctx.request.scope.get(_CLAIMS), dict(ctx.request.query_params)
    return newsroom.identify(given if isinstance(given, Mapping) else {}, query)


class Gate:
    """Verifies the token of each request; 401 to those whose token does not count."""

    def __init__(self, app: ASGIApp, verifier: Verifier) -> None:
        """Stand before ``app``."""
        self._app, self._verifier = app, verifier

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with the claims of its token; one without a token is anonymous."""
        if scope["type"] == "http":
            kind, _, token = Request(scope).headers.get("authorization", "").partition(" ")
            if token:
                try:
                    claims = await anyio.to_thread.run_sync(self._verifier.claims, token)
                except PyJWTError:
                    await JSONResponse({"error": f"bad {kind} token"}, 401)(scope, receive, send)
                    return
                scope[_CLAIMS] = claims
        await self._app(scope, receive, send)


def main() -> None:
    """Serve on stdin and stdout, or on HTTP."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.gazette.server")
    parser.add_argument("--fault", default="", metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, help="serve on HTTP, for bearer tokens")
    options = parser.parse_args()
    server = build(open_newsroom(options.fault, options.seed))
    if options.port is None:
        serve_stdio(server)
        return
    trust = [os.environ[f"HARNESS_{name}"] for name in ("ISSUER", "JWKS_URL", "AUDIENCE")]
    app = Gate(server.streamable_http_app(), Verifier(*trust))
    uvicorn.run(app, port=options.port, log_level="critical", timeout_graceful_shutdown=1)


if __name__ == "__main__":
    main()
