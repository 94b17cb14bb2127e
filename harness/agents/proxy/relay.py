"""What a server says and asks of its own accord, on its way to the clients of one session.

| the server says or asks | a client of the handshake | a client of revision 2026-07-28 |
|---|---|---|
| a list or a resource has changed | is told beside answers | is told where it listens |
| a log message | is told with its request, or beside answers | is told with its request, if that \
asked for messages of the level |
| a question (elicitation, sampling) | is asked with its request | is asked in the result of its \
request |

Nothing says which request a message belongs to: where several are under way, it is the latest.
"""

from __future__ import annotations

import logging
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup
from mcp.server.connection import allowed_log_levels
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.subscriptions import event_from_wire
from mcp_types import RequestId
from mcp_types.methods import parse_server_notification, parse_server_request
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ConfigDict

from harness.base import RequestRefused, ServerError
from harness.sessions import LISTEN, Session, build_refusal
from harness.types import JsonObject

ACKNOWLEDGED_S = 5.0
"""Seconds that a server may take to acknowledge a subscription."""
MOST_ATTEMPTS = 3
"""Subscriptions in a row that a server may end or refuse before no further one is tried."""


class ClientSubscriptions:
    """The notifications that the clients of one session want, held with its server.

    A server with a handshake notifies every client when a list changes, and needs a request for
    each resource (``resources/subscribe``). A server of revision 2026-07-28 notifies only
    subscribers: one request subscribes for all clients, and is repeated when their resources
    change.
    """

    def __init__(self, session: Session, tasks: TaskGroup) -> None:
        """Subscribe with the server of ``session``; long-running requests run in ``tasks``."""
        self.bus = InMemorySubscriptionBus()
        """Distributes changes to subscribed clients."""
        self.listening = ListenHandler(self.bus)
        """Answers the subscriptions of clients."""
        self._session = session
        self._tasks = tasks
        self._holders: dict[str, list[str]] = defaultdict(list)
        self._lock = anyio.Lock()
        self._acknowledged = anyio.Event()
        self._scope: anyio.CancelScope | None = None
        self._attempts = 0

    def get_subscribers(self, uri: str) -> Collection[str]:
        """Return the clients that want notifications on the resource ``uri``."""
        # Not by `[uri]`, which would add an entry that looks like a subscription.
        return self._holders.get(uri, ())

    def mark_acknowledged(self) -> None:
        """Record that the server has acknowledged a subscription."""
        self._acknowledged.set()

    async def subscribe_lists(self) -> None:
        """Subscribe to changes of lists, if the server notifies only subscribers."""
        wanted = self._session.introduction.subscribes and _can_change(self._session)
        if wanted and self._scope is None:
            async with self._lock:
                # Asked again within the lock: another request may have subscribed meanwhile.
                if self._scope is None and self._attempts < MOST_ATTEMPTS:
                    await self._resubscribe()

    async def subscribe(self, uri: str, client: str) -> JsonObject:
        """Subscribe ``client`` to the resource ``uri``.

        Raises:
            ServerError: the server refused.
        """
        async with self._lock:
            known = uri in self._holders
            self._holders[uri].append(client)
            if known:
                return {}
            if self._session.introduction.subscribes:
                await self._resubscribe()
                return {}
            try:
                return await self._session.send_request("resources/subscribe", {"uri": uri})
            except ServerError:
                del self._holders[uri]
                raise

    async def unsubscribe(self, uri: str, client: str) -> JsonObject:
        """Cancel the subscription of ``client`` to ``uri``.

        Raises:
            ServerError: the server refused.
        """
        async with self._lock:
            if client not in self._holders.get(uri, ()):
                return {}
            self._holders[uri].remove(client)
            if self._holders[uri]:
                return {}
            del self._holders[uri]
            if self._session.introduction.subscribes:
                await self._resubscribe()
                return {}
            return await self._session.send_request("resources/unsubscribe", {"uri": uri})

    def drop_client(self, client: str, uris: Iterable[str]) -> None:
        """Cancel subscriptions in the background, because their client is gone."""

        async def drop(uri: str) -> None:
            with suppress(ServerError):
                await self.unsubscribe(uri, client)

        for uri in uris:
            self._tasks.start_soon(drop, uri)

    async def _resubscribe(self) -> None:
        """Subscribe for all clients; the former request ends once this one is acknowledged."""
        before, self._scope = self._scope, anyio.CancelScope()
        self._acknowledged = anyio.Event()
        self._tasks.start_soon(self._run_subscription, self._scope, self._acknowledged)
        with anyio.move_on_after(ACKNOWLEDGED_S):
            await self._acknowledged.wait()
        # Only now, so that no change falls between two subscriptions.
        if before is not None:
            before.cancel()

    async def _run_subscription(self, scope: anyio.CancelScope, acknowledged: anyio.Event) -> None:
        wanted: JsonObject = {
            "toolsListChanged": True,
            "promptsListChanged": True,
            "resourcesListChanged": True,
            **({"resourceSubscriptions": list(self._holders)} if self._holders else {}),
        }
        with scope:
            with suppress(ServerError):
                await self._session.send_request(LISTEN, {"notifications": wanted})
            # Not reached if harness itself ends the subscription: a new one follows then.
            self._attempts += 1
        acknowledged.set()  # nobody needs to wait for it any longer
        if self._scope is scope:
            self._scope = None
            # Nothing will come any more, which the clients learn by the end of theirs.
            self.listening.close()


def _can_change(session: Session) -> bool:
    """Whether a server says that any of its lists or resources may change."""
    offered = session.introduction.capabilities.values()
    known = [facts for facts in offered if isinstance(facts, dict)]
    return any(facts.get("listChanged") or facts.get("subscribe") for facts in known)


MOST_WAITING = 1_000
"""Most messages of a server that wait for a client; further ones are dropped."""
TELL_S = 1.0
"""Seconds for a client to read one of them."""

Context = ServerRequestContext[Any, Any]
_LOG = "notifications/message"
_UPDATED = "notifications/resources/updated"
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

# The SDK logs failures here; without a handler Python would print them to the terminal.
logging.getLogger("mcp.server.subscriptions").addHandler(logging.NullHandler())


class _ClientAnswer(BaseModel):
    """An answer of a client, unparsed."""

    model_config = ConfigDict(extra="allow")


def is_newest(ctx: Context) -> bool:
    """Whether the client of a request speaks a revision without a handshake."""
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def get_client_id(ctx: Context) -> str | None:
    """Return the id of the client's session, which only those of the handshake have."""
    headers = getattr(ctx.request, "headers", {})
    found: str | None = headers.get("mcp-session-id")
    return found


@dataclass(eq=False, slots=True)
class PendingRequest:
    """A request of a client that is not answered yet."""

    ctx: Context
    """The request."""
    ask: Callable[[str, JsonObject], Awaitable[JsonObject]] | None = None
    """Asks its client; ``None``: by a request of ours while it is under way."""


class Relay:
    """Forwards messages to the clients of one session; a `ForeignClient` of the session."""

    def __init__(self, feed: ClientSubscriptions) -> None:
        """``feed`` has the subscriptions of the clients."""
        self._feed = feed
        self._bus = feed.bus
        self._clients: dict[str, ServerSession] = {}
        self._under_way: list[PendingRequest] = []
        self._said: deque[tuple[str, JsonObject]] = deque()
        self._more = anyio.Event()
        self._settled = anyio.Event()

    async def run(self) -> None:
        """Forward the server's messages to the clients, until cancelled."""
        while True:
            while self._said:
                # It stays in the queue until it is sent, because `wait_delivered` looks there.
                with anyio.move_on_after(TELL_S), suppress(*_GONE):
                    await self._deliver_notification(*self._said[0])
                self._said.popleft()
            self._settled.set()
            self._more = anyio.Event()
            await self._more.wait()

    async def wait_delivered(self) -> None:
        """Wait until all messages were sent, or `TELL_S` have passed."""
        await anyio.lowlevel.checkpoint()  # what was read before the answer begins first
        if self._said:
            with anyio.move_on_after(TELL_S):
                await self._settled.wait()

    @contextmanager
    def track_request(self, ctx: Context) -> Iterator[PendingRequest]:
        """Register a request of a client while it is running."""
        request = PendingRequest(ctx)
        self._under_way.append(request)
        try:
            yield request
        finally:
            self._under_way.remove(request)

    def register_client(self, ctx: Context) -> None:
        """Register the client that sent a message."""
        # A client of the newest revision is told only where it listens.
        if not is_newest(ctx) and (client := get_client_id(ctx)) is not None:
            self._clients[client] = ctx.session

    def notify(self, method: str, params: JsonObject) -> None:
        """Take a notification of the server (see `ForeignClient.notify`)."""
        if method == _ACKNOWLEDGED:
            self._feed.mark_acknowledged()
            return
        if len(self._said) < MOST_WAITING:
            self._settled = self._settled if self._said else anyio.Event()
            self._said.append((method, params))
            self._more.set()

    async def ask_client(self, method: str, params: JsonObject) -> JsonObject:
        """Ask the client whose request is under way (see `ForeignClient.ask_client`)."""
        if self._under_way:
            request = self._under_way[-1]
            if request.ask is not None:
                return await request.ask(method, params)
            return await self.ask_sender(request.ctx, method, params)
        if not self._clients:
            raise build_refusal("no client is connected that could be asked")
        return await _send_question(list(self._clients.values())[-1], method, params, None)

    async def ask_sender(self, ctx: Context, method: str, params: JsonObject) -> JsonObject:
        """Ask the client of one request.

        Raises:
            RequestRefused: it answered with an error, or cannot be asked.
        """
        if is_newest(ctx):
            raise build_refusal(
                f"the client speaks revision {ctx.protocol_version}, in which it is not asked "
                "while its request is under way"
            )
        return await _send_question(ctx.session, method, params, ctx.request_id)

    async def _deliver_notification(self, method: str, params: JsonObject) -> None:
        event = event_from_wire(method, params)
        if event is not None:
            await self._bus.publish(event)
            updated = method == _UPDATED
            holders = self._feed.get_subscribers(params["uri"]) if updated else self._clients
            for client in [client for client in self._clients if client in holders]:
                await _send_notification(self._clients[client], method, params, None)
        elif not self._under_way:
            # A copy, since others may come while one is told.
            for session in list(self._clients.values()):
                await _send_notification(session, method, params, None)
        else:
            ctx = self._under_way[-1].ctx
            # In the newest revision each request names the level from which on it wants messages.
            levels = allowed_log_levels(ctx.protocol_version, ctx.meta)
            if method != _LOG or params.get("level") in levels:
                await _send_notification(ctx.session, method, params, ctx.request_id)


_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, KeyError, ValueError)
"""Errors for a client that is gone, and for a message that its revision does not know."""


async def _send_notification(
    session: ServerSession, method: str, params: JsonObject, request: RequestId | None
) -> None:
    notification: Any = parse_server_notification(method, session.protocol_version, params)
    await session.send_notification(notification, request)


async def _send_question(
    session: ServerSession, method: str, params: JsonObject, request: RequestId | None
) -> JsonObject:
    try:
        question: Any = parse_server_request(method, session.protocol_version, params)
        metadata = ServerMessageMetadata(related_request_id=request)
        answer = await session.send_request(question, _ClientAnswer, metadata=metadata)
    except MCPError as error:
        words, code = f"the client refused {method}: {error.message}", error.code
        raise RequestRefused(words, code=code, said=error.message, data=error.data) from error
    except (KeyError, ValueError) as error:
        raise build_refusal(f"this question cannot be put to the client: {method}") from error
    told: JsonObject = answer.model_dump(by_alias=True, mode="json")
    return told
