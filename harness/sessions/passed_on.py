"""A call that somebody else's client makes through a session, and wants answered as it came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from harness.types import JsonObject, ToolRequest


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
