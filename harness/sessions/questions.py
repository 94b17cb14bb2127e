"""Requests of a server that only the client behind a session can answer.

A server may request input from the user (elicitation) or from the model (sampling). If a session
has a client behind it, the client answers; otherwise the MCP SDK refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import anyio
from mcp.shared.dispatcher import CallOptions, DispatchContext, OnRequest
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST

from harness.base import RequestRefused
from harness.sessions.forwarding import QUESTIONS, ForeignClients
from harness.types import JsonObject

ANSWER_S = 600.0
"""Seconds for a client, and its user, to answer a request of a server."""


class AskingDispatcher(JSONRPCDispatcher):
    """A dispatcher whose server may send requests to the client behind the session."""

    def __init__(self, reader: Any, writer: Any, foreign_clients: ForeignClients) -> None:
        """Read and write messages as `JSONRPCDispatcher`; ``foreign_clients`` answer requests."""
        super().__init__(reader, writer)
        self._foreign_clients = foreign_clients
        self.abilities: JsonObject = {}
        """Client capabilities in the handshake, in addition to those of the MCP SDK."""

    async def run(self, on_request: OnRequest, *others: Any, **named: Any) -> None:
        """Run as `JSONRPCDispatcher.run`."""
        await super().run(partial(self._answer_request, on_request), *others, **named)

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        **own: Any,
    ) -> dict[str, Any]:
        """Send a request as `JSONRPCDispatcher.send_raw_request`."""
        # The SDK declares what it answers itself; a client behind the session may answer more.
        if method == "initialize" and params is not None and self.abilities:
            told = {**params.get("capabilities", {}), **self.abilities}
            params = {**params, "capabilities": told}
        return await super().send_raw_request(method, params, opts, **own)

    async def _answer_request(
        self,
        on_request: OnRequest,
        context: DispatchContext[Any],
        method: str,
        params: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        client = self._foreign_clients.sole_client
        if method not in QUESTIONS or client is None:
            return await on_request(context, method, params)
        try:
            with anyio.fail_after(ANSWER_S):
                return dict(await client.ask_client(method, dict(params or {})))
        except RequestRefused as error:
            # The SDK sends this to the server as the answer to its request.
            raise MCPError(error.code, error.said, error.data) from error
        except TimeoutError as error:
            why = f"the client did not answer within {ANSWER_S:g} s"
            raise MCPError(INTERNAL_ERROR, why) from error


def build_refusal(why: str) -> RequestRefused:
    """Return the error for a server whose client cannot be asked."""
    return RequestRefused(why, code=INVALID_REQUEST, said=why, data=None)
