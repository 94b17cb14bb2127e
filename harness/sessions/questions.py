"""Requests of a server that only the client behind a session can answer.

A server may ask for input of the user (elicitation) or of the model (sampling). Where a session
is held for a client, the client answers; elsewhere the MCP SDK refuses.
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

from harness.errors import RequestRefused
from harness.sessions.passed_on import QUESTIONS, Onlookers
from harness.types import JsonObject

ANSWER_S = 600.0
"""Seconds that a client, and whoever sits before it, may take to answer a question of a server."""


class AskingDispatcher(JSONRPCDispatcher):
    """A dispatcher whose server may ask the client behind the session."""

    def __init__(self, reader: Any, writer: Any, onlookers: Onlookers) -> None:
        """Read and write messages as `JSONRPCDispatcher`; ``onlookers`` answer questions."""
        super().__init__(reader, writer)
        self._onlookers = onlookers
        self.abilities: JsonObject = {}
        """What a handshake says that the client can do, beside what the MCP SDK says."""

    async def run(self, on_request: OnRequest, *others: Any, **named: Any) -> None:
        """Run as `JSONRPCDispatcher.run`."""
        await super().run(partial(self._answered, on_request), *others, **named)

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        **own: Any,
    ) -> dict[str, Any]:
        """Send a request as `JSONRPCDispatcher.send_raw_request`."""
        if method == "initialize" and params is not None and self.abilities:
            told = {**params.get("capabilities", {}), **self.abilities}
            params = {**params, "capabilities": told}
        return await super().send_raw_request(method, params, opts, **own)

    async def _answered(
        self,
        on_request: OnRequest,
        context: DispatchContext[Any],
        method: str,
        params: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        client = self._onlookers.only
        if method not in QUESTIONS or client is None:
            return await on_request(context, method, params)
        try:
            with anyio.fail_after(ANSWER_S):
                return dict(await client.asked(method, dict(params or {})))
        except RequestRefused as error:
            raise MCPError(error.code, error.said, error.data) from error
        except TimeoutError as error:
            why = f"the client did not answer within {ANSWER_S:g} s"
            raise MCPError(INTERNAL_ERROR, why) from error


def refusal(why: str) -> RequestRefused:
    """Return the error that a server is told if its client cannot be asked."""
    return RequestRefused(why, code=INVALID_REQUEST, said=why, data=None)
