"""What happened in a trial: messages, tool calls, and the whole transcript."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias

from harness.types.basics import JsonObject
from harness.types.written import WrittenValues, written_as


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens and money of one reply or of many. Unknown is ``None`` and stays so in a sum."""

    input_tokens: int | None = 0
    """All input tokens, those read from or written to a cache included."""
    output_tokens: int | None = 0
    """All output tokens, reasoning included."""
    cache_read_tokens: int | None = 0
    """Input tokens that the provider took from its cache."""
    cache_write_tokens: int | None = 0
    """Input tokens that the provider put into its cache."""
    cost_usd: float | None = 0.0
    """What it cost; ``None`` when the price is unknown."""

    @property
    def tokens(self) -> int | None:
        """Input and output together."""
        return _sum(self.input_tokens, self.output_tokens)

    def __add__(self, other: Usage) -> Usage:
        """Sum field by field; an unknown part makes an unknown sum."""
        return Usage(
            input_tokens=_sum(self.input_tokens, other.input_tokens),
            output_tokens=_sum(self.output_tokens, other.output_tokens),
            cache_read_tokens=_sum(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens=_sum(self.cache_write_tokens, other.cache_write_tokens),
            cost_usd=None
            if self.cost_usd is None or other.cost_usd is None
            else self.cost_usd + other.cost_usd,
        )


UNKNOWN_USAGE = Usage(
    input_tokens=None,
    output_tokens=None,
    cache_read_tokens=None,
    cache_write_tokens=None,
    cost_usd=None,
)
"""Of a reply that says nothing of what it took."""


def _sum(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left + right


ReplyStop: TypeAlias = Literal["end", "tool_calls", "max_tokens", "refusal", "other"]
"""Why a reply ended: it was complete, it asks for tools, it was cut at the token limit, the model
or its provider refused, or anything else (`Reply.stop_detail` says what)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """A tool call that a model asked for: its words, not yet a fact."""

    id: str
    """The provider's id, to answer it by."""
    tool: str
    """The server's name of the tool (mapped back), or whatever the model invented."""
    arguments: JsonObject = field(default_factory=dict)
    """Parsed arguments; empty when they did not parse."""
    malformed: str | None = None
    """The raw text of arguments that are not a JSON object, or nest too deeply; such a call is
    never sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model returned to one request."""

    text: str = ""
    """All text blocks, joined by a newline; empty when there was none."""
    tool_requests: tuple[ToolRequest, ...] = ()
    """In the model's order; all are to be answered."""
    stop: ReplyStop = "end"
    """Why it ended."""
    stop_detail: str | None = None
    """The provider's own word for it, and the refusal's text where there is one."""
    usage: Usage = field(default_factory=Usage)
    """What this reply consumed."""
    native: Any = None
    """The provider's own form of the reply (JSON), to be sent back unchanged: reasoning,
    signatures."""
    served_by: str | None = None
    """The exact model that the API says answered."""
    attempts: int = 1
    """HTTP requests that it took."""
    waited_s: float = 0.0
    """Time spent waiting for a rate limit or between attempts; not working time."""
    beyond: str | None = None
    """What the model says that it cannot do, whatever it is told (``write SQL``): its own limit,
    which no description changes. Only the built-in baseline says so; ``None`` in logs of earlier
    versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What the model is told of one of its calls."""

    request_id: str
    """The `ToolRequest.id` it answers."""
    text: str
    """The result, or the error, as text."""
    is_error: bool = False
    """Whether the call failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """Something the user says."""

    text: str
    """Their words."""
    said_s: float = 0.0
    """When, from the start of the trial; the first words start it."""
    injected: bool = False
    """Whether they were said while the model was at work, and begin no turn."""
    fresh: bool = False
    """Whether a new conversation begins here (`Turn.fresh`)."""
    recalled: str = ""
    """What the server said ahead of the conversation that begins here, for the system prompt
    (`LeaderboardRules.recall`)."""
    role: Literal["user"] = "user"
    """Tells the messages of a log apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """Something the model says or asks for."""

    reply: Reply
    """The reply as it came."""
    role: Literal["assistant"] = "assistant"
    """Tells the messages of a log apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMessage:
    """The answers to all calls of the reply before it, in their order."""

    answers: tuple[ToolAnswer, ...]
    """One for each request."""
    role: Literal["tool"] = "tool"
    """Tells the messages of a log apart."""


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage
"""One step of a conversation, in no provider's form."""

Outcome: TypeAlias = Literal[
    "ok",
    "tool_error",
    "denied",
    "unknown_tool",
    "invalid_arguments",
    "timeout",
    "server_lost",
    "invalid_result",
    "blocked",
    "decoy",
]
"""What came of a call:

- ``ok``: a result without error.
- ``tool_error``: the tool ran and reported an error.
- ``denied``: the server refused it to this user.
- ``unknown_tool``: the server has no such tool for this user.
- ``invalid_arguments``: the arguments are not what the tool takes.
- ``timeout``: no answer within the call's deadline.
- ``server_lost``: the server went away before it answered, or HTTP answered in its place (429,
  5xx).
- ``invalid_result``: the server answered with what is no result as MCP defines it (``null``, bad
  JSON, ``content`` that is no list of MCP's content, ``isError`` that is neither true nor false).
- ``decoy``: the tool is none of the server's; a variant added it to what the model sees. Never sent.
- ``blocked``: our own guard did not send it (read-only mode, blocked tool, call limit)."""

UNANSWERED: frozenset[Outcome] = frozenset({"timeout", "server_lost", "invalid_result"})
"""Outcomes that are the server's fault: they say nothing of the model, nor of what the server lets
a user do, and nobody knows what such a call has changed."""

NOT_SENT: frozenset[Outcome] = frozenset({"blocked", "decoy"})
"""Outcomes of calls that never reached the server: they say nothing of it."""

Refusal: TypeAlias = Literal["tool_error", "protocol_error", "http_status"]
"""The shape in which a server refused a call: an ``isError`` result, a JSON-RPC error, or HTTP
401/403."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call as it crossed the MCP session: recorded from the wire, never from the model's words."""

    tool: str
    """The server's name of the tool."""
    arguments: JsonObject
    """What was sent."""
    outcome: Outcome
    """What came of it."""
    reply: int = field(metadata=written_as("turn"))
    """The model's reply (from 1) that asked for it; 0 for a call that the case makes itself."""
    request_id: str = ""
    """The model's id of the request, ties it to the conversation."""
    text: str = ""
    """The result's or the error's text, within the log's bound."""
    structured: Any = None
    """``structuredContent``, within the log's bound."""
    error_code: int | None = None
    """The JSON-RPC error code, where the call ended in one."""
    refusal: Refusal | None = None
    """How it was refused, when ``outcome`` is ``denied``."""
    argument_errors: tuple[str, ...] = ()
    """Where the arguments break the tool's ``inputSchema``."""
    output_errors: tuple[str, ...] = ()
    """Where the structured result breaks the tool's ``outputSchema``."""
    arguments_not_validated: str | None = None
    """Why the arguments could not be held against the ``inputSchema`` to the end, which is nobody's
    fault."""
    result_not_validated: str | None = None
    """Why the structured result could not be held against the ``outputSchema`` to the end: nobody's
    fault either."""
    started_s: float = 0.0
    """When it was sent, from the start of the trial."""
    duration_s: float = 0.0
    """From sending to answer."""
    result_bytes: int = 0
    """Size of the whole result as JSON, in UTF-8 bytes."""
    result_sha256: str | None = None
    """Digest of the whole result, when the log holds only a part of it."""
    cut: str | None = None
    """Why a part of the result is not read, in words: it nests too deeply (`harness.json_bounds`).
    What only that part could show is not judged."""

    @property
    def is_error(self) -> bool:
        """Whether anything but a good result came of it."""
        return self.outcome != "ok"

    @property
    def unanswered(self) -> bool:
        """Whether the server owes the answer: none came, or what came is no result of MCP."""
        return self.outcome in UNANSWERED

    @property
    def not_validated(self) -> tuple[str, ...]:
        """What could not be held against its schema to the end, a sentence each."""
        told = (("arguments", self.arguments_not_validated), ("result", self.result_not_validated))
        return tuple(f"{what} not validated: {why}" for what, why in told if why is not None)


STOPS = WrittenValues({"reply_limit": "turn_limit"})
"""The words for `Stop` in logs and reports."""

Stop: TypeAlias = Annotated[
    Literal[
        "answer",
        "refusal",
        "max_tokens",
        "reply_limit",
        "call_limit",
        "token_limit",
        "cost_limit",
        "time_limit",
        "error",
        "cancelled",
        "aborted",
        "user_stop",
        "agent_stop",
        "transfer",
        "user_limit",
        "premature",
        "not_admitted",
    ],
    STOPS,
]
"""Why a conversation ended: an answer, the model's refusal, a reply cut by its token bound, one of
the case's limits, an error (`Transcript.error`), the user's interrupt, because the case has it
aborted (`Interruption.abort`), in a way that a simulated user makes possible (they stopped, the model did,
they were handed on, or they had said all that they may: `SimulatedUser`), or before it began,
because the server let this caller not in (`Transcript.refused_status`)."""


def written_stop(stop: Stop | None) -> str | None:
    """Return the word for ``stop`` in logs and in reports that programs read."""
    return STOPS.written(stop)


ErrorKind: TypeAlias = Literal["model", "server", "judge", "harness"]
"""Whose fault it is that a trial could not be judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialError:
    """Why a trial could not be judged."""

    kind: ErrorKind
    """Whose fault it is."""
    message: str
    """The cause in a sentence or two, for people."""
    detail: str | None = None
    """More to look at: a server's last lines on stderr, a response body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateReading:
    """What a server's state was found to be, after a conversation or after the calls that stand for a right one."""

    source: JsonObject
    """Where it was read: ``{"resource": URI}``, ``{"tool": name, "args": {…}}`` or
    ``{"query": name}``."""
    after: tuple[JsonObject, ...] | None = None
    """The reference calls (``{"tool", "args"}``) that a fresh copy got before it was read; ``None``
    is the trial itself."""
    digest: str | None = None
    """SHA-256 of its canonical JSON: equal digest, equal state. ``None`` where it could not be
    read."""
    value: Any = None
    """The state as JSON, or as text where it is none, within the log's bound."""
    cut: bool = False
    """Whether the state was beyond that bound, and `value` is missing."""
    error: str | None = None
    """Why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """Everything that happened in one trial."""

    messages: tuple[Message, ...] = ()
    """The whole conversation, in order."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Every call, in the order in which the model asked for them."""
    setup_calls: tuple[ToolCall, ...] = ()
    """The calls that the case made itself before the conversation; their times count from the first
    of them."""
    teardown_calls: tuple[ToolCall, ...] = ()
    """Those that it made after it; their times count from the first of these."""
    states: tuple[StateReading, ...] = ()
    """What the checks of the end state ask about, as it was when the conversation had ended."""
    answer: str = ""
    """The text of the last reply that asked for no tool, to the last thing that the user said;
    empty if there was none."""
    stop: Stop = field(default="answer", metadata=STOPS.metadata)
    """Why it ended."""
    stop_detail: str | None = None
    """A recording's own word for why it ended; ``None`` for conversations that harness led."""
    usage: Usage = field(default_factory=Usage)
    """Sum over all replies."""
    user_usage: Usage = field(default_factory=Usage)
    """What the model took that played the user."""
    greeting: str = ""
    """What a simulated user heard before they said anything."""
    replies: int = field(default=0, metadata=written_as("turns"))
    """Replies of the model."""
    started_at: str = ""
    """UTC, ISO 8601."""
    latency_s: float = 0.0
    """Wall time from the first request to the end, waiting included."""
    waited_s: float = 0.0
    """Of that, waiting for rate limits and between attempts."""
    tools: tuple[str, ...] = ()
    """The tools that this user was offered."""
    tools_digest: str = ""
    """`ToolList.digest` of that offer."""
    shown_digest: str = ""
    """`ToolList.digest` of what the model was told in its place; empty without a variant."""
    served_by: str | None = None
    """The exact model that answered, as the API says."""
    stderr_tail: str = ""
    """The server's last words on stderr, where something went wrong."""
    refused_status: int | None = None
    """The HTTP status (401 or 403) with which the server refused this caller at the door, where the
    case asks about that; no model was asked then."""
    error: TrialError | None = None
    """Set when ``stop`` is ``error``."""
