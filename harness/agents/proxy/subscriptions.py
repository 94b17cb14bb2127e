"""The subscriptions of a session's clients, held with its server.

A server with a handshake notifies every client when a list changes, and needs a request for each
resource (``resources/subscribe``). A server of revision 2026-07-28 notifies only subscribers: one
request subscribes for all clients, and is repeated when their resources change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from contextlib import suppress

import anyio
from anyio.abc import TaskGroup
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler

from harness.base import ServerError
from harness.sessions import LISTEN, Session
from harness.types import JsonObject

ACKNOWLEDGED_S = 5.0
"""Seconds that a server may take to acknowledge a subscription."""
MOST_ATTEMPTS = 3
"""Subscriptions in a row that a server may end or refuse before no further one is tried."""


class ClientSubscriptions:
    """The notifications that the clients of one session want."""

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
    return any(
        isinstance(facts, dict) and (facts.get("listChanged") or facts.get("subscribe"))
        for facts in offered
    )
