"""Requests of a client, sent by a session; answers as they came.

The handshake is ours, with what the server says of itself. Everything else is the server's: its
results are passed on unread, and its errors with their codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.lowlevel
from mcp.server.caching import CACHEABLE_METHODS
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, ServerCapabilities
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from harness.errors import RequestRefused, ServerError
from harness.proxy.recording import Recording
from harness.sessions import Session
from harness.sessions.passed_on import PassedOn, TellProgress
from harness.sessions.without_answer import without_answer
from harness.types import JsonObject, ToolCall

_OURS = frozenset({"initialize", "server/discover", "ping", "subscriptions/listen"})
"""Requests of the connection itself, which the MCP SDK answers."""


def mcp_server(session: Session, recording: Recording, max_calls: int) -> Server[Any]:
    """Return an MCP server that passes everything on to ``session``, and records its calls.

    At most ``max_calls`` calls are sent; further ones are recorded as blocked.
    """
    said = session.introduction
    server = _Server(said.name or "server", version=said.version, instructions=said.instructions)
    server.offered = said.capabilities
    server.middleware.append(_Forwarding(session, recording, max_calls))
    return server


class _Server(Server[Any]):
    """A server whose capabilities are those of another one."""

    offered: JsonObject

    def get_capabilities(self, *_: Any, **__: Any) -> ServerCapabilities:
        """Return what the server behind offers, but for what is not passed on."""
        kept = {
            kind: {key: value for key, value in facts.items() if key not in _NOT_PASSED_ON}
            for kind, facts in self.offered.items()
            if kind in _PASSED_ON and isinstance(facts, Mapping)
        }
        return ServerCapabilities.model_validate({"tools": {}, **kept})


_COMPLETE: JsonObject = {"resultType": "complete"}
_UNCACHED: JsonObject = {"ttlMs": 0, "cacheScope": "private"}
"""What the newest revision needs in results, where a server of an earlier one does not say it."""

_PROGRESS_S = 1.0
"""Seconds that a client may take to read progress."""
_PASSED_ON = frozenset({"tools", "resources", "prompts", "completions"})
_NOT_PASSED_ON = frozenset({"listChanged", "subscribe"})


@dataclass
class _Heard:
    """What the server answered to one call, if it did."""

    result: JsonObject | None = None
    error: MCPError | None = None

    def answered(self, result: JsonObject) -> None:
        self.result = result

    def refused(self, code: int, message: str, data: object) -> None:
        self.error = MCPError(code, message, data)


class _Progress:
    """Progress of one call on its way to the client; the answer must not overtake it."""

    def __init__(self, report: TellProgress) -> None:
        self._report = report
        self._on_its_way = 0
        self._settled = anyio.Event()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self._on_its_way += 1
        try:
            await self._report(progress, total, message)
        finally:
            self._on_its_way -= 1
            if not self._on_its_way:
                self._settled.set()
                self._settled = anyio.Event()

    async def settled(self) -> None:
        """Wait until everything was told, or `_PROGRESS_S` have passed."""
        await anyio.lowlevel.checkpoint()  # what was read before the answer begins first
        if self._on_its_way:
            with anyio.move_on_after(_PROGRESS_S):
                await self._settled.wait()


class _Forwarding:
    """Middleware of the MCP SDK that answers every request of the client by a session."""

    def __init__(self, session: Session, recording: Recording, max_calls: int) -> None:
        self._session = session
        self._recording = recording
        self._max_calls = max_calls

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        if ctx.request_id is None or ctx.method in _OURS:
            return await call_next(ctx)
        params = dict(ctx.params or {})
        if ctx.method == "tools/call":
            result = await self._called(ctx, params)
        else:
            result = await self._asked(ctx.method, params)
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return dict(result)
        return {**(_UNCACHED if ctx.method in CACHEABLE_METHODS else {}), **_COMPLETE, **result}

    async def _asked(self, method: str, params: JsonObject) -> JsonObject:
        own = {key: value for key, value in params.items() if key != "_meta"}
        try:
            return await self._session.ask(method, own)
        except RequestRefused as error:
            raise MCPError(error.code, error.said, error.data) from error
        except ServerError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from error

    async def _called(self, ctx: ServerRequestContext[Any, Any], params: JsonObject) -> JsonObject:
        tool, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(tool, str) or not isinstance(arguments, Mapping):
            raise MCPError(INVALID_PARAMS, "a call has a name, and arguments that are an object")
        meta = params.get("_meta") or {}
        heard = _Heard()
        told = _Progress(ctx.session.report_progress)
        reply, call_id = self._recording.begin(tool)
        request = PassedOn(
            id=call_id,
            tool=tool,
            arguments=dict(arguments),
            answered=heard.answered,
            refused=heard.refused,
            meta={key: value for key, value in meta.items() if not _is_reserved(key)},
            progress=told if "progressToken" in meta else None,
        )
        epoch, given_up = (
            self._recording.epoch,
            "the client ended the call before the server answered",
        )
        call = without_answer(request, "timeout", given_up, reply=reply, epoch=epoch)
        try:
            call = await self._sent(request, reply, epoch)
            await told.settled()
        finally:
            self._recording.end(request, call)
        if heard.error is not None:
            raise heard.error
        if heard.result is not None:
            return heard.result
        return {"content": [{"type": "text", "text": call.text}], "isError": True}

    async def _sent(self, request: PassedOn, reply: int, epoch: float) -> ToolCall:
        if self._recording.begun > self._max_calls:
            words = "not sent by harness: the limit of tool calls was reached"
            return without_answer(request, "blocked", words, reply=reply, epoch=epoch)
        return await self._session.call(request, reply=reply, epoch=epoch)


def _is_reserved(key: str) -> bool:
    """Whether a key of ``_meta`` belongs to the connection that it came over."""
    return key == "progressToken" or key.startswith("io.modelcontextprotocol/")
