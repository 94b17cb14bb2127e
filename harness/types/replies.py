"""What a model replies to one request, and the tokens and the cost of it."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal, TypeAlias, TypeVar

from harness.types.basics import JsonObject, left_out_if
from harness.types.shared_dataclass import dataclass
from harness.types.thinking import divide_thinking

_Number = TypeVar("_Number", int, float)


def known_sum(left: _Number | None, right: _Number | None) -> _Number | None:
    """Return the sum of two amounts; an unknown one makes it unknown."""
    return None if left is None or right is None else left + right


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens and cost of one reply or of many. Unknown is ``None`` and stays so in a sum."""

    input_tokens: int | None = 0
    """All input tokens, including those read from or written to a cache."""
    output_tokens: int | None = 0
    """All output tokens, including reasoning."""
    cache_read_tokens: int | None = 0
    """Input tokens that the provider took from its cache."""
    cache_write_tokens: int | None = 0
    """Input tokens that the provider put into its cache."""
    cost_usd: float | None = 0.0
    """The cost; ``None`` if the price is unknown."""

    @property
    def tokens(self) -> int | None:
        """Input and output together."""
        return known_sum(self.input_tokens, self.output_tokens)

    def __add__(self, other: Usage) -> Usage:
        """Sum field by field; an unknown part makes an unknown sum."""
        return Usage(
            input_tokens=known_sum(self.input_tokens, other.input_tokens),
            output_tokens=known_sum(self.output_tokens, other.output_tokens),
            cache_read_tokens=known_sum(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens=known_sum(self.cache_write_tokens, other.cache_write_tokens),
            cost_usd=known_sum(self.cost_usd, other.cost_usd),
        )


UNKNOWN_USAGE = Usage(
    input_tokens=None,
    output_tokens=None,
    cache_read_tokens=None,
    cache_write_tokens=None,
    cost_usd=None,
)
"""Usage of a reply that does not report any."""


ReplyStop: TypeAlias = Literal[
    "end", "tool_calls", "max_tokens", "refusal", "malformed_call", "context_limit", "other"
]
"""Why a reply ended: it was complete, it asks for tools, it was cut at the token limit, the model
or its provider refused, the API could not read the model's call, the conversation with the results
of tools no longer fits the model, or anything else (`Reply.stop_detail` says what)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """A tool call that a model asked for: a request, not yet a recorded call."""

    id: str
    """The provider's id, needed to answer it."""
    tool: str
    """The server's name of the tool (mapped back), or whatever the model invented."""
    arguments: JsonObject = field(default_factory=dict)
    """Parsed arguments; empty when they did not parse."""
    malformed: str | None = None
    """The raw arguments if they are not a JSON object, or nest too deeply; such a call is never
    sent."""
    meta: JsonObject = field(default_factory=dict)
    """Sent in ``_meta`` of the request, where harness itself sets nothing of that name."""
    search: bool = False
    """Whether it searches for tools (`ToolSearch`): harness answers it, and it is no call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model returned to one request."""

    text: str = ""
    """What a reader sees: all text blocks, joined by newlines, without thinking
    (`harness.types.thinking`); empty if nothing is left."""
    thinking: str = field(default="", metadata=left_out_if(""))
    """What the model thought, from the text and from fields of the API: shown to people, and never
    taken for the answer."""
    whole: str | None = field(default=None, metadata=left_out_if(None))
    """The text as it came, with thinking and its marks; ``None`` if it is `text`."""
    tool_requests: tuple[ToolRequest, ...] = ()
    """In the model's order; every one must be answered."""
    stop: ReplyStop = "end"
    """Why it ended."""
    stop_detail: str | None = None
    """The provider's own word for it, and the text of a refusal."""
    usage: Usage = field(default_factory=Usage)
    """What this reply used."""
    native: Any = None
    """The provider's own form of the reply (JSON), sent back unchanged for reasoning and
    signatures."""
    served_by: str | None = None
    """The exact model that answered, as the API reports it."""
    attempts: int = 1
    """Number of HTTP requests."""
    waited_s: float = 0.0
    """Seconds spent waiting for a rate limit or between attempts; not working time."""
    beyond: str | None = field(default=None, metadata=left_out_if(None))
    """What the model says it can never do (``write SQL``): its own limit, which no tool description
    changes. Only the built-in baseline says so."""
    held_back: tuple[str, ...] = field(default=(), metadata=left_out_if(()))
    """Tools that fitted best and were not called, because they may change something that nobody
    asked for. Only the built-in baseline says so."""
    adapted: tuple[str, ...] = field(default=(), metadata=left_out_if(()))
    """What the API refused of the requests for this reply, so that it was asked without, one
    sentence each."""
    written_call: str | None = field(default=None, metadata=left_out_if(None))
    """The offered tool that a reply without calls writes a call of, as text: the endpoint did not
    parse it (`harness.models.written_calls`)."""
    offered: tuple[str, ...] | None = field(default=None, metadata=left_out_if(None))
    """The tools that the model could call when it was asked, where a search or a filter shows
    only some, by the server's names; ``None``: all those of `Transcript.tools`."""

    def __post_init__(self) -> None:
        """Divide the text, whoever made the reply, so that nobody takes thinking for the answer."""
        if self.whole is not None or (divided := divide_thinking(self.text)).visible == self.text:
            return
        object.__setattr__(self, "whole", self.text)
        object.__setattr__(self, "text", divided.visible)
        thinking = "\n\n".join(filter(None, (self.thinking, divided.thinking)))
        object.__setattr__(self, "thinking", thinking)

    @property
    def raw_text(self) -> str:
        """The text with the thinking in it, as it is sent back to the model."""
        return self.text if self.whole is None else self.whole

    @property
    def only_thinking(self) -> bool:
        """Whether the model thought, and neither said nor called anything."""
        return bool(self.thinking) and not (self.text.strip() or self.tool_requests)
