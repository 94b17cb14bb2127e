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
import httpx2
from mcp.client.auth import OAuthFlowError
from mcp.shared.auth import AuthorizationCodeResult

from harness.sessions import Session
from harness.sessions.pool import open_sessions
from harness.types import (
    IdentitySpec,
    JsonObject,
    ServerSpec,
    Tool,
    ToolList,
    ToolRequest,
    TransportSpec,
)

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


class ConsentingPerson:
    """A person who consents at once: the scenario's page sends back to the client."""

    redirect_uri = "http://localhost:3000/callback"

    def __init__(self) -> None:
        self._answer: dict[str, str] = {}

    async def open_page(self, url: str) -> None:
        async with httpx2.AsyncClient() as client:
            response = await client.get(url, follow_redirects=False)
        self._answer = dict(httpx2.URL(response.headers["location"]).params)

    async def wait_answer(self) -> AuthorizationCodeResult:
        if "error" in self._answer:
            raise OAuthFlowError(self._answer["error"])
        return AuthorizationCodeResult(
            **{
                name: self._answer[name]
                for name in ("code", "state", "iss")
                if name in self._answer
            }
        )


def choose_identity(scenario: str, context: JsonObject, url: str) -> IdentitySpec:
    """Return how the client logs in, by what the scenario says of it."""
    if not scenario.startswith("auth/"):
        return IdentitySpec()
    settings = {name: context[name] for name in ("client_id", "client_secret") if name in context}
    plain: dict[str, Any] = {}
    if "client_secret" in settings:
        plain["authorization_server"] = context.get("issuer")
    if "client-credentials" in scenario:
        plain["flow"] = "client_credentials"
    if "cimd" in scenario:
        plain["client_metadata_url"] = "https://conformance-test.local/client-metadata.json"
    return IdentitySpec(via="oauth", settings=settings, plain=plain)


async def main(url: str) -> None:
    """Open a session with the server at ``url`` and use it."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    identity = choose_identity(os.environ.get("MCP_CONFORMANCE_SCENARIO", ""), context, url)
    transport = TransportSpec(kind="http", url=url)
    server = ServerSpec(name="conformance", transport=transport, identity=identity)
    user = None if identity.via != "oauth" else {"account": "me"}
    async with (
        open_sessions(person=ConsentingPerson()) as pool,
        pool.lend_session(server, user) as session,
    ):
        await use(session)


anyio.run(main, sys.argv[1])
