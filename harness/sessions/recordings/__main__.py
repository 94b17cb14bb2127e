"""Serves a recording: ``python -m harness.sessions.recordings LOG SERVER [PORT]``.

A real MCP server, of both eras, over stdio or at a port of this machine. Who asks is in ``_meta``
of the request, or else in the environment of the process.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from harness.base import HarnessError, UsageError
from harness.sessions.recordings.recorded_calls import (
    RecordedCalls,
    describe_tools,
    open_recording,
)
from harness.sessions.recordings.recording_spec import USER_VARIABLE
from harness.sessions.transports.frames import UNRECORDED
from harness.types import USER_CONTEXT_META_KEY, JsonObject


def make_server(recorded: RecordedCalls, name: str, own_user: JsonObject | None) -> Server[Any]:
    """Return a server that answers from ``recorded``, by default as ``own_user`` was answered."""

    def find_user(context: ServerRequestContext[Any]) -> JsonObject | None:
        meta: Any = context.meta or {}
        user: JsonObject | None = meta.get(USER_CONTEXT_META_KEY, own_user)
        return user

    async def list_tools(context: ServerRequestContext[Any], _: Any) -> Any:
        try:
            tools = describe_tools(recorded.get_tools(find_user(context)))
        except UsageError as error:
            raise _lack_answer(str(error)) from error
        # What a revision does not have, the SDK leaves out.
        return {"tools": tools, "ttlMs": 0, "cacheScope": "private", "resultType": "complete"}

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> Any:
        found = recorded.answer(find_user(context), params.name, params.arguments or {})
        if found.lacking is not None:
            raise _lack_answer(found.lacking)
        if (error := found.body.get("error")) is not None:
            raise MCPError(error.get("code", 0), error.get("message", ""), error.get("data"))
        return {"resultType": "complete", **found.body["result"]}

    try:
        said = recorded.get_tools(own_user).instructions
    except UsageError:
        said = {}  # which the first request for tools is told
    instructions = "\n\n".join(said.values())
    return Server(
        name,
        version=recorded.name_run(),
        instructions=instructions or None,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _lack_answer(words: str) -> MCPError:
    return MCPError(types.INTERNAL_ERROR, words, {UNRECORDED: "no answer"})


async def _serve_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def main(arguments: list[str]) -> int:
    """Serve until stdin ends, or for good at a port; return 2 if there is nothing to serve."""
    path, name, *port = arguments
    try:
        user = json.loads(os.environ.get(USER_VARIABLE, "null"))
        server = make_server(open_recording(Path(path), name), name, user)
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if port:
        import uvicorn

        app = server.streamable_http_app(stateless_http=True)
        uvicorn.run(app, host="127.0.0.1", port=int(port[0]), log_level="warning")
    else:
        asyncio.run(_serve_stdio(server))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
