"""The client that the official conformance scenarios drive: a session of harness, as a run has it.

`python -m tests.strangers.conformance.client URL` opens a session, calls every tool, and reads
every resource and prompt. The scenario's own calls are in ``MCP_CONFORMANCE_CONTEXT``.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import anyio

from harness.sessions import Session
from harness.sessions.pool import open_sessions
from harness.types import ServerSpec, Tool, ToolList, ToolRequest, TransportSpec

EXAMPLES = {"integer": 5, "number": 3, "boolean": True, "array": [], "object": {}, "null": None}


def example(tool: Tool, tools: ToolList) -> dict[str, Any]:
    """Return a value for every property of a tool's input.

    A tool with a property for a schema waits for the schema that the client holds of another tool.
    """
    arguments = {}
    for name, part in tool.input_schema.get("properties", {}).items():
        if "schema" in name.lower():
            others = [dict(other.input_schema) for other in tools.tools if other is not tool]
            arguments[name] = others[0] if others else {}
        else:
            usual = EXAMPLES.get(str(part.get("type")), "text")
            arguments[name] = part.get("default", part.get("enum", [usual])[0])
    return arguments


async def use(session: Session) -> None:
    """Do what the scenarios wait for."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    calls = context.get("toolCalls") or [
        {"name": tool.name, "arguments": example(tool, session.tools)}
        for tool in session.tools.tools
    ]
    for number, call in enumerate(calls):
        request = ToolRequest(id=f"c{number}", tool=call["name"], arguments=call["arguments"])
        await session.call(request, reply=1, epoch=anyio.current_time())
    await session.watch()  # reads resources and prompts


async def main(url: str) -> None:
    """Open a session with the server at ``url`` and use it."""
    server = ServerSpec(name="conformance", transport=TransportSpec(kind="http", url=url))
    async with open_sessions() as pool, pool.lend_session(server, None) as session:
        await use(session)


anyio.run(main, sys.argv[1])
