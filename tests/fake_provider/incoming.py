"""What came in: one record per request, with one neutral view for all three APIs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias

Json: TypeAlias = dict[str, Any]
"""A JSON object."""

ApiName: TypeAlias = Literal["messages", "count_tokens", "chat", "responses", "models", "other"]
"""Which API was called; ``other`` is a path that does not exist."""


class Rejected(Exception):
    """A request that the real API would not accept."""

    def __init__(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> None:
        """``param`` and ``code`` are OpenAI's.

        The field that is wrong and the error's short name.
        """
        super().__init__(message)
        self.message = message
        self.status = status
        self.param = param
        self.code = code


class OfferedTool(NamedTuple):
    """A tool as the request offers it."""

    description: str | None
    """What the model is told it does."""
    schema: Json
    """Its arguments, as JSON Schema."""


class ToolResult(NamedTuple):
    """The answer to one tool call."""

    id: str
    """The call that it answers."""
    text: str
    """All its text, joined by newlines."""
    is_error: bool | None
    """``None`` where the API has no word for it (OpenAI)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What a request says, whatever its API."""

    turn: int = 0
    """Assistant turns so far; 0 for the first request."""
    prompt: str = ""
    """The first user text."""
    last_text: str = ""
    """The last user text, tool results not counted."""
    system: str = ""
    """The system prompt."""
    tools: Mapping[str, OfferedTool] = field(default_factory=dict)
    """Name → tool, in the order offered."""
    tool_results: tuple[ToolResult, ...] = ()
    """Answers to the calls of the last assistant turn."""


@dataclass(kw_only=True)
class Incoming:
    """One request as it arrived; `status` and `rejected` are filled in when it is answered."""

    api: ApiName
    path: str
    headers: Mapping[str, str]
    """Lower-case names; the key is in it, as sent."""
    body: Json
    """Parsed body; empty when it was not a JSON object."""
    received_at: float
    """`time.monotonic` when the last byte had arrived, in seconds."""
    sequence: int
    """0-based number of the request at this server."""
    in_flight: int
    """Requests under way when it arrived, this one included."""
    fingerprint: bytes = b""
    """Digest of the raw body: equal requests, equal fingerprint."""
    status: int | None = None
    """HTTP status sent; ``None`` while it waits, and for ever where the connection was broken
    off."""
    rejected: str | None = None
    """What the API found wrong with the request."""
    read: Callable[[Json], Conversation] = field(default=lambda _: Conversation(), repr=False)
    """Turns `body` into the neutral view."""

    @cached_property
    def conversation(self) -> Conversation:
        """The neutral view of the body; an empty one where a rejected body cannot be read."""
        try:
            return self.read(self.body)
        except (AttributeError, KeyError, TypeError):  # a rejected body may have any shape
            return Conversation()

    @property
    def turn(self) -> int:
        """Assistant turns so far; 0 for the first request."""
        return self.conversation.turn

    @property
    def prompt(self) -> str:
        """The first user text."""
        return self.conversation.prompt

    @property
    def last_text(self) -> str:
        """The last user text, tool results not counted."""
        return self.conversation.last_text

    @property
    def system(self) -> str:
        """The system prompt; empty when there is none."""
        return self.conversation.system

    @property
    def tools(self) -> Mapping[str, OfferedTool]:
        """Name → tool, in the order offered."""
        return self.conversation.tools

    @property
    def tool_names(self) -> tuple[str, ...]:
        """Names of the tools offered, in order."""
        return tuple(self.conversation.tools)

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """Answers to the calls of the last assistant turn, in the order sent."""
        return self.conversation.tool_results
