"""Forwards messages unchanged between a server and the client of a foreign program.

A client calls tools through a session (`ForwardedRequest`), and gets the server's own
notifications and requests (`ForeignClient`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.types import JsonObject, ToolRequest

ELICITATION, SAMPLING = "elicitation/create", "sampling/createMessage"
QUESTIONS = frozenset({ELICITATION, SAMPLING, "roots/list"})
"""Requests of a server that only the client behind a session can answer."""
LISTEN = "subscriptions/listen"
"""The request of the newest revision that is answered only when its subscription ends."""
# They name a request by an id of this connection, which the clients behind it do not know.
_OF_ITS_REQUEST = frozenset({"notifications/progress", "notifications/cancelled"})


class ProgressHandler(Protocol):
    """Receives the progress of a call."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """Take the progress, the total if known, and a message if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardedRequest(ToolRequest):
    """A request of a foreign client.

    Sessions that wrap others replace fields of a request and keep its class, so that the innermost
    session finds these callbacks.
    """

    answered: Callable[[JsonObject], None]
    """Called with the raw result, without the tokens of this session; not called if there is
    none."""
    refused: Callable[[int, str, object], None]
    """Called with code, message and data of the JSON-RPC error, if the call ended in one."""
    progress: ProgressHandler | None = None
    """Called with progress; ``None`` if the client did not ask for it."""
    more: JsonObject = field(default_factory=dict)
    """Further parameters, such as the answers to the server's requests for input."""


class ForeignClient(Protocol):
    """The client of a foreign program, as a session sees it."""

    def notify(self, method: str, params: JsonObject) -> None:
        """Take a notification of the server; must not wait."""

    async def ask_client(self, method: str, params: JsonObject) -> JsonObject:
        """Return the client's result for a request of the server.

        Raises:
            RequestRefused: it answered with an error, or cannot be asked.
        """


class ForeignClients:
    """The clients to which one connection forwards messages."""

    def __init__(self) -> None:
        """Start without clients."""
        self._all: list[ForeignClient] = []

    @contextmanager
    def attach_client(self, foreign_client: ForeignClient) -> Iterator[None]:
        """Forward messages to ``foreign_client`` within the block."""
        self._all.append(foreign_client)
        try:
            yield
        finally:
            self._all[:] = [one for one in self._all if one is not foreign_client]

    def notify(self, method: str, params: JsonObject | None) -> None:
        """Send a notification to all of them, unless it is about one request of this connection."""
        if method not in _OF_ITS_REQUEST:
            for foreign_client in self._all:
                foreign_client.notify(method, dict(params or {}))

    @property
    def sole_client(self) -> ForeignClient | None:
        """The client that gets the server's requests; ``None`` if there is none or several."""
        # A server's request does not say whom it is for: with several, that would be a guess.
        return self._all[0] if len(self._all) == 1 else None


class ScrubbedClient:
    """A client to which messages are forwarded without tokens."""

    def __init__(self, foreign_client: ForeignClient, scrub: Callable[[Any], Any]) -> None:
        """Forward to ``foreign_client`` what ``scrub`` returns for a message."""
        self._client = foreign_client
        self._scrub = scrub

    def notify(self, method: str, params: JsonObject) -> None:
        """Forward a notification (see `ForeignClient.notify`)."""
        self._client.notify(method, self._scrub(params))

    async def ask_client(self, method: str, params: JsonObject) -> JsonObject:
        """Forward a request (see `ForeignClient.ask_client`)."""
        return await self._client.ask_client(method, self._scrub(params))
