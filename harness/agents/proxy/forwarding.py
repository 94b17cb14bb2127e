"""Forwards a client's requests to a session, and the answers unchanged.

The handshake is ours, with the server's description of itself. Everything else comes from the
server: its results are forwarded unread, and its errors with their codes.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
from mcp.server.caching import CACHEABLE_METHODS
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    LOG_LEVEL_META_KEY,
    ServerCapabilities,
    SubscriptionsListenRequestParams,
)

from harness.agents.proxy.paused_calls import InputRequired, PausedCalls
from harness.agents.proxy.recording import Recording
from harness.agents.proxy.relay import (
    ClientSubscriptions,
    Context,
    PendingRequest,
    Relay,
    get_client_id,
    is_newest,
)
from harness.base import RequestRefused, RequestRejected, ServerError
from harness.sessions import (
    LISTEN,
    ForwardedRequest,
    ProgressHandler,
    Session,
    build_unanswered_call,
)
from harness.types import JsonObject, ToolCall

_OURS = frozenset({"initialize", "server/discover", "ping"})
"""Requests of the connection itself, which the MCP SDK answers."""
MOST_ROUNDS = 10
"""Most times that a server may request input before it answers a request."""


@asynccontextmanager
async def open_forwarding(
    session: Session, recording: Recording, max_calls: int
) -> AsyncGenerator[Server[Any]]:
    """Yield an MCP server that forwards everything to ``session``, and records its calls.

    At most ``max_calls`` calls are sent; further ones are recorded as blocked.
    """
    said = session.introduction
    server = _ForwardingServer(
        said.name or "server", version=said.version, instructions=said.instructions
    )
    server.offered = said.capabilities
    async with anyio.create_task_group() as tasks:
        feed, held = ClientSubscriptions(session, tasks), PausedCalls[_CallAnswer](tasks)
        relay = Relay(feed)
        # Middleware gets requests before the SDK parses them, so unknown ones are forwarded, too.
        server.middleware.append(_Forwarding(session, recording, max_calls, relay, feed, held))
        async with session.forward_messages(relay):
            tasks.start_soon(relay.run)
            yield server
        tasks.cancel_scope.cancel()


class _ForwardingServer(Server[Any]):
    """A server whose capabilities are those of another one."""

    offered: JsonObject

    def get_capabilities(self, *_: Any, **__: Any) -> ServerCapabilities:
        """Return the capabilities of the server behind, except those that are not forwarded."""
        kept = {kind: facts for kind, facts in self.offered.items() if kind in _PASSED_ON}
        return ServerCapabilities.model_validate({"tools": {}, **kept})


_COMPLETE: JsonObject = {"resultType": "complete"}
_UNCACHED: JsonObject = {"ttlMs": 0, "cacheScope": "private"}
"""Fields that the newest revision requires in results, for servers of earlier revisions."""

_PROGRESS_S = 1.0
"""Seconds that a client may take to read progress."""
_PASSED_ON = frozenset({"tools", "resources", "prompts", "completions", "logging"})
_Send = Callable[[JsonObject], Awaitable[JsonObject]]
"""Sends a request with further parameters, and returns its result."""


@dataclass
class _CallAnswer:
    """The server's answer to one call, if there is one, and its record."""

    made: ToolCall | None = None
    result: JsonObject | None = None
    error: MCPError | None = None

    def set_result(self, result: JsonObject) -> None:
        self.result = result

    def set_error(self, code: int, message: str, data: object) -> None:
        self.error = MCPError(code, message, data)


class _ProgressRelay:
    """Progress of one call on its way to the client; the answer must not overtake it."""

    def __init__(self, report: ProgressHandler) -> None:
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

    async def wait_delivered(self) -> None:
        """Wait until all progress was sent, or `_PROGRESS_S` have passed."""
        await anyio.lowlevel.checkpoint()  # what was read before the answer begins first
        if self._on_its_way:
            with anyio.move_on_after(_PROGRESS_S):
                await self._settled.wait()


@dataclass(slots=True)
class _Forwarding:
    """Middleware of the MCP SDK that answers every request of the client by a session."""

    _session: Session
    _recording: Recording
    _max_calls: int
    _relay: Relay
    _feed: ClientSubscriptions
    _held: PausedCalls[_CallAnswer]
    _sent: int = 0
    _levels: dict[str | None, str] = field(default_factory=dict)

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        self._relay.register_client(ctx)
        if ctx.request_id is None or ctx.method in _OURS:
            return await call_next(ctx)
        params = dict(ctx.params or {})
        if ctx.method == LISTEN:
            return await self._serve_subscription(ctx, params)
        await self._feed.subscribe_lists()
        with self._relay.track_request(ctx) as request:
            if ctx.method == "tools/call":
                result = await self._handle_call(request, params)
            else:
                result = await self._handle_request(ctx, params)
            # What the server said before its answer must not arrive after it.
            await self._relay.wait_delivered()
        if not is_newest(ctx):
            return dict(result)
        return {**(_UNCACHED if ctx.method in CACHEABLE_METHODS else {}), **_COMPLETE, **result}

    async def _serve_subscription(self, ctx: Context, params: JsonObject) -> HandlerResult:
        """Serve a subscription of the newest revision, until the client ends it."""
        typed = SubscriptionsListenRequestParams.model_validate(params, by_name=False)
        # Such a client has no session, so its request stands for it.
        holder, held = f"listens as {id(ctx)}", []
        await self._feed.subscribe_lists()
        try:
            for uri in dict.fromkeys(typed.notifications.resource_subscriptions or ()):
                await self._convert_refusals(self._feed.subscribe(uri, holder))
                held.append(uri)
            return await self._feed.listening(ctx, typed)
        finally:
            self._feed.drop_client(holder, held)

    async def _handle_request(self, ctx: Context, params: JsonObject) -> JsonObject:
        client = get_client_id(ctx) or ""
        uri = str(params.get("uri"))
        if ctx.method == "resources/subscribe":
            return await self._convert_refusals(self._feed.subscribe(uri, client))
        if ctx.method == "resources/unsubscribe":
            return await self._convert_refusals(self._feed.unsubscribe(uri, client))
        if ctx.method == "logging/setLevel" and self._session.introduction.subscribes:
            self._levels[client] = str(params.get("level"))
            return {}  # it is sent with every request
        own = {key: value for key, value in params.items() if key != "_meta"}

        async def send(more: JsonObject) -> JsonObject:
            request = self._session.send_request(ctx.method, {**own, **more})
            return await self._convert_refusals(request)

        if said := self._build_client_meta(ctx):
            own["_meta"] = said
        return await self._answer_with_input(ctx, send)

    async def _convert_refusals(self, answer: Awaitable[JsonObject]) -> JsonObject:
        try:
            return await answer
        except (RequestRefused, RequestRejected) as error:
            raise MCPError(error.code, error.said, error.data) from error
        except ServerError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from error

    async def _answer_with_input(self, ctx: Context, send: _Send) -> JsonObject:
        """Return the answer to a request, after getting the input that the server requests.

        A client of the newest revision sends the input with a request of its own.
        """
        result = await send({})
        for _ in range(MOST_ROUNDS):
            if result.get("resultType") != "input_required" or is_newest(ctx):
                break
            asked = result.get("inputRequests")
            given = {
                key: await self._convert_refusals(
                    self._relay.ask_sender(ctx, str(one.get("method")), one.get("params") or {})
                )
                for key, one in (asked.items() if isinstance(asked, Mapping) else ())
            }
            state = {key: result[key] for key in ("requestState",) if key in result}
            result = await send({**({"inputResponses": given} if given else {}), **state})
        return result

    async def _handle_call(self, under_way: PendingRequest, params: JsonObject) -> JsonObject:
        ctx = under_way.ctx
        tool, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(tool, str) or not isinstance(arguments, Mapping):
            raise MCPError(INVALID_PARAMS, "a call has a name, and arguments that are an object")
        meta = params.get("_meta") or {}
        told = _ProgressRelay(ctx.session.report_progress)
        own = {key: value for key, value in meta.items() if not _is_reserved(key)}
        extra = {key: params[key] for key in params if key not in {"name", "arguments", "_meta"}}
        call = self._recording.begin_call(tool, arguments, params)

        async def send_call(more: JsonObject) -> _CallAnswer:
            heard = _CallAnswer()
            request = ForwardedRequest(
                id=call.id,
                tool=tool,
                arguments=dict(arguments),
                answered=heard.set_result,
                refused=heard.set_error,
                meta={**own, **self._build_client_meta(ctx)},
                progress=told if "progressToken" in meta else None,
                more={**extra, **more},
            )
            heard.made = await self._send_within_limit(request, call.reply)
            return heard

        async def send(more: JsonObject) -> JsonObject:
            try:
                heard = await self._make_call(under_way, params, partial(send_call, more))
            except InputRequired as question:
                call.record_question(question.result)
                return question.result
            assert heard.made is not None
            call.made = heard.made
            if heard.error is not None:
                raise heard.error
            if heard.result is not None:
                call.result = heard.result
                return heard.result
            # The server gave no answer, or the call was not sent: the record says why.
            return {"content": [{"type": "text", "text": call.made.text}], "isError": True}

        try:
            result = await self._answer_with_input(ctx, send)
            await told.wait_delivered()
        finally:
            # Also if the client cancels the request, which then has no answer.
            self._recording.end_call(call)
        return result

    async def _make_call(
        self,
        under_way: PendingRequest,
        params: JsonObject,
        exchange: Callable[[], Awaitable[_CallAnswer]],
    ) -> _CallAnswer:
        """Make one call; the server may request input, in the form of the client's revision.

        Raises:
            Question: the client gets the server's request as a result.
        """
        # Client and server ask in the same way: the call need not outlive its request.
        if not is_newest(under_way.ctx) or self._session.introduction.subscribes:
            return await exchange()
        held = self._held.resume_or_start(params, exchange)
        under_way.ask = held.ask_client
        try:
            return await held.wait_outcome()
        except InputRequired:
            self._held.pause(held)
            raise

    async def _send_within_limit(self, request: ForwardedRequest, reply: int) -> ToolCall:
        epoch = self._recording.epoch
        if self._sent >= self._max_calls:
            words = "not sent by harness: the limit of tool calls was reached"
            return build_unanswered_call(request, "blocked", words, reply=reply, epoch=epoch)
        self._sent += 1
        return await self._session.call(request, reply=reply, epoch=epoch)

    def _build_client_meta(self, ctx: Context) -> JsonObject:
        """Return the facts on the client in a request of the newest revision."""
        able = ctx.session.client_capabilities
        said: JsonObject = {}
        if able is not None:
            dumped = able.model_dump(by_alias=True, mode="json", exclude_none=True)
            said = {CLIENT_CAPABILITIES_META_KEY: dumped}
        # From this request or an earlier `logging/setLevel`, as the client's revision has it.
        level = (ctx.meta or {}).get(LOG_LEVEL_META_KEY, self._levels.get(get_client_id(ctx)))
        return said if level is None else {**said, LOG_LEVEL_META_KEY: level}


def _is_reserved(key: str) -> bool:
    """Whether a key of ``_meta`` belongs to the client's connection."""
    return key == "progressToken" or key.startswith("io.modelcontextprotocol/")
