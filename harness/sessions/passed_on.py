"""What passes between a server and somebody else's client, as it came.

A client calls tools through a session (`PassedOn`), and is told and asked what the server says and
asks of its own accord (`Onlooker`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.types import JsonObject, ToolRequest

ELICITATION, SAMPLING = "elicitation/create", "sampling/createMessage"
QUESTIONS = frozenset({ELICITATION, SAMPLING, "roots/list"})
"""Requests of a server that only the client behind a session can answer."""
LISTEN = "subscriptions/listen"
"""The request of the newest revision that is answered when its subscription ends."""
_OF_ITS_REQUEST = frozenset({"notifications/progress", "notifications/cancelled"})


class TellProgress(Protocol):
    """Is told how far a call is."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """Take what is done, the total if it is known, and a message if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOn(ToolRequest):
    """A request of a foreign client.

    Sessions that wrap others replace fields of a request and keep its class, so that the session
    with the server finds what to tell whom.
    """

    answered: Callable[[JsonObject], None]
    """Is given the raw result, without the tokens of this session; not called if there is none."""
    refused: Callable[[int, str, object], None]
    """Is given code, message and data of the JSON-RPC error, if the call ended in one."""
    progress: TellProgress | None = None
    """Is told of progress; ``None``: nobody asked for it."""
    more: JsonObject = field(default_factory=dict)
    """Further parameters, such as the answers to what the server asked for."""


class Onlooker(Protocol):
    """Somebody else's client, as a session sees it."""

    def told(self, method: str, params: JsonObject) -> None:
        """Take a notification of the server; must not wait."""

    async def asked(self, method: str, params: JsonObject) -> JsonObject:
        """Return the client's result for a request of the server.

        Raises:
            RequestRefused: it answered with an error, or cannot be asked.
        """


class Onlookers:
    """The clients that one connection with a server passes things on to."""

    def __init__(self) -> None:
        """Begin with none."""
        self._all: list[Onlooker] = []

    @contextmanager
    def joined(self, onlooker: Onlooker) -> Iterator[None]:
        """Pass things on to ``onlooker`` for the length of the block."""
        self._all.append(onlooker)
        try:
            yield
        finally:
            self._all[:] = [one for one in self._all if one is not onlooker]

    def tell(self, method: str, params: Mapping[str, Any] | None) -> None:
        """Tell all of them, unless it is about one request of this connection."""
        if method not in _OF_ITS_REQUEST:
            for onlooker in self._all:
                onlooker.told(method, dict(params or {}))

    @property
    def only(self) -> Onlooker | None:
        """The one that a question is for; ``None`` if there is none, or nothing says which."""
        return self._all[0] if len(self._all) == 1 else None


class Clean:
    """An onlooker that tokens are kept from."""

    def __init__(self, onlooker: Onlooker, scrub: Callable[[Any], Any]) -> None:
        """Tell and ask ``onlooker`` what ``scrub`` leaves."""
        self._onlooker = onlooker
        self._scrub = scrub

    def told(self, method: str, params: JsonObject) -> None:
        """Tell it (see `Onlooker.told`)."""
        self._onlooker.told(method, self._scrub(params))

    async def asked(self, method: str, params: JsonObject) -> JsonObject:
        """Ask it (see `Onlooker.asked`)."""
        return await self._onlooker.asked(method, self._scrub(params))
