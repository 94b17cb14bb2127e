"""What the server asks of each API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tests.fake_provider.incoming import ApiName, Conversation, Incoming, Json
from tests.fake_provider.memory import Memory
from tests.fake_provider.steps import Answer
from tests.fake_provider.streaming.events import EventStream


class ErrorBody(Protocol):
    """Makes the body of an error in the provider's own format."""

    def __call__(
        self, status: int, message: str, param: str | None = None, code: str | None = None
    ) -> Json:
        """Return the body for this HTTP status."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """One wire format."""

    name: ApiName
    check: Callable[[Mapping[str, str], Json, Memory], None]
    """Raises `Rejected` for a request that the real API would not accept."""
    read: Callable[[Json], Conversation]
    """The neutral view of an accepted body."""
    render: Callable[[Answer, Incoming, Memory], Json]
    """The body of a reply."""
    stream: Callable[[Json, Json], EventStream]
    """The same reply as the events that bring it, from its body and the request's."""
    error: ErrorBody
    scripted: bool = True
    """Whether the script says what is answered; else the request alone does."""
    key_header: str = "authorization"
    """The header of the key; it is also taken as a bearer."""
    request_id: str
    """The response header that names the request."""
