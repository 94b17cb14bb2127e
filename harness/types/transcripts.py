"""What happened in a trial: messages, tool calls as they crossed the session, the transcript."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from itertools import chain
from typing import Any, Literal, TypeAlias

from harness.types.basics import JsonObject, left_out_if
from harness.types.elicitations import Elicitation
from harness.types.endings import Stop, TrialError
from harness.types.faults import Injection
from harness.types.media import Media
from harness.types.outcomes import NOT_LOADED, SEARCH, UNANSWERED, Outcome
from harness.types.replies import Reply, Usage
from harness.types.resources import (
    READ_RESOURCE,
    PromptGet,
    ReadOutcome,
    ResourceRead,
    SideContent,
)
from harness.types.shared_dataclass import dataclass
from harness.types.specs import AgentFacts
from harness.types.states import StateReading
from harness.types.wire_frames import Wire


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What the model is told about one of its calls."""

    request_id: str
    """The `ToolRequest.id` it answers."""
    text: str
    """The result, or the error, as text."""
    is_error: bool = False
    """Whether the call failed."""
    media: tuple[Media, ...] = field(
        default=(), compare=False, metadata={"exclude_if": lambda _: True}
    )
    """What the model is given beside the text; not logged, as the record of the call has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """Something the user says."""

    text: str
    """Their words."""
    said_s: float = 0.0
    """Seconds from the start of the trial; the first message starts it."""
    injected: bool = False
    """Whether it was said while the model was working, and so begins no turn."""
    fresh: bool = False
    """Whether a new conversation begins here (`Turn.fresh`)."""
    calls: tuple[ToolCall, ...] = field(default=(), metadata=left_out_if(()))
    """What a simulated user with tools of their own did since they last said something; the
    ``reply`` of each call is the number of the model's replies before it."""
    media: tuple[Media, ...] = field(default=(), metadata=left_out_if(()))
    """Files that come with the words."""
    reads: tuple[ResourceRead, ...] = field(default=(), metadata=left_out_if(()))
    """Resources that come with the words, put there by the test."""
    opening: PromptGet | None = field(default=None, metadata=left_out_if(None))
    """The server's prompt before the words, put there by the test."""
    recalled: str = ""
    """What the server returned before the conversation that begins here, for the system prompt
    (`LeaderboardRules.recall`)."""
    role: Literal["user"] = "user"
    """Distinguishes the kinds of message in a log."""

    @property
    def is_unsaid(self) -> bool:
        """Whether the words only name a prompt, and no model is given them (`PromptGet.alone`)."""
        return self.opening is not None and self.opening.alone

    @property
    def all_media(self) -> tuple[Media, ...]:
        """What comes with the words that is no text, that of resources and prompts included."""
        prompt = () if self.opening is None else self.opening.messages
        given = (*(one.media for one in self.reads), *(one.media for one in prompt))
        return (*self.media, *chain.from_iterable(given))


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """Something the model says or asks for."""

    reply: Reply
    """The reply as it came."""
    asked_s: float | None = field(default=None, compare=False)
    """When the model was asked for it, in seconds from the start of the trial: waiting for a rate
    limit and all attempts come after it. ``None`` is unknown, as in recordings of others."""
    answered_s: float | None = field(default=None, compare=False)
    """When it had come whole; ``None`` is unknown."""
    elicitations: tuple[Elicitation, ...] = field(default=(), metadata=left_out_if(()))
    """What the server asked its user during the calls of the reply."""
    host_calls: tuple[ToolCall, ...] = field(default=(), metadata=left_out_if(()))
    """Its calls of tools of the host (`Variant.offer_resources`): no calls of the server's tools,
    and so not among `Transcript.tool_calls`."""
    role: Literal["assistant"] = "assistant"
    """Distinguishes the kinds of message in a log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMessage:
    """The answers to all calls of the previous reply, in their order."""

    answers: tuple[ToolAnswer, ...]
    """One for each request."""
    role: Literal["tool"] = "tool"
    """Distinguishes the kinds of message in a log."""


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage
"""One step of a conversation, independent of any provider."""

Refusal: TypeAlias = Literal["tool_error", "protocol_error", "http_status"]
"""How a server refused a call: by an ``isError`` result, a JSON-RPC error, or HTTP 401/403."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call as it crossed the MCP session: recorded there, not taken from the model's words."""

    tool: str
    """The server's name of the tool."""
    arguments: JsonObject
    """The arguments that were sent."""
    outcome: Outcome
    """How it ended."""
    reply: int
    """The model's reply (from 1) that asked for it; 0 for a call that the case itself makes."""
    request_id: str = ""
    """The model's id of the request, which links the call to the conversation."""
    text: str = ""
    """Text of the result or error, cut to the log's limit."""
    structured: Any = None
    """``structuredContent``, cut to the log's limit."""
    error_code: int | None = None
    """The JSON-RPC error code, if the call ended in one."""
    refusal: Refusal | None = None
    """How it was refused, if ``outcome`` is ``denied``."""
    argument_errors: tuple[str, ...] = ()
    """Where the arguments violate the tool's ``inputSchema``."""
    output_errors: tuple[str, ...] = ()
    """Where the structured result violates the tool's ``outputSchema``."""
    arguments_not_validated: str | None = None
    """Why the arguments could not be fully validated against the ``inputSchema``, through nobody's
    fault."""
    result_not_validated: str | None = None
    """Why the structured result could not be fully validated against the ``outputSchema``, through
    nobody's fault."""
    started_s: float = 0.0
    """When it was sent, in seconds from the start of the trial."""
    duration_s: float = 0.0
    """Seconds from sending to the answer."""
    waited_s: float = 0.0
    """Seconds before it was sent, because the server takes no more requests, or later ones."""
    result_bytes: int = 0
    """Size of the whole result as JSON, in UTF-8 bytes."""
    result_sha256: str | None = None
    """Digest of the whole result, if the log holds only a part of it."""
    media: tuple[Media, ...] = field(default=(), metadata=left_out_if(()))
    """What the result held that no text can stand for, with its bytes where they are few."""
    cut: str | None = None
    """Why a part of the result was not read, in words: it nests too deeply
    (`harness.base.json_text`). What only that part could show is not judged."""
    beside: tuple[SideContent, ...] = ()
    """What else came with the result, and what the server said while the call was under way; only
    recorded where several identities ask the same."""

    echoed_token: bool = False
    """Whether the server sent back a token that it was shown. It is taken out of the record, and
    the model is not given it."""
    wire: Wire | None = None
    """How it was sent, with its JSON-RPC frames; ``None`` for a call that was not sent."""
    injected: Injection | None = field(default=None, metadata=left_out_if(None))
    """What the model was shown instead, if a fault hit the call: all other fields are what the
    server really did."""

    @property
    def unseen(self) -> tuple[str, ...]:
        """What of `media` a model was not given (``image image/png, 4 kB``), only told of."""
        return tuple(one.words for one in self.media if not one.given)

    @property
    def told_text(self) -> str:
        """What the model was told: the text, or what a fault put in its place."""
        return self.text if self.injected is None else self.injected.text

    @property
    def told_as_error(self) -> bool:
        """Whether the model was told that the call failed."""
        return self.is_error if self.injected is None else self.injected.is_error

    @property
    def attempted_tool(self) -> str:
        """The tool that the model tried to call, also where it was not loaded."""
        return self.tool.removesuffix(NOT_LOADED)

    @property
    def is_error(self) -> bool:
        """Whether it ended in anything but a good result."""
        return self.outcome not in ("ok", SEARCH)

    @property
    def is_unanswered(self) -> bool:
        """Whether the server owes the answer: none came, or what came is not an MCP result."""
        return self.outcome in UNANSWERED

    @property
    def not_validated(self) -> tuple[str, ...]:
        """What could not be fully validated against its schema, one sentence each."""
        told = (("arguments", self.arguments_not_validated), ("result", self.result_not_validated))
        return tuple(f"{what} not validated: {why}" for what, why in told if why is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """Everything that happened in one trial."""

    messages: tuple[Message, ...] = ()
    """The whole conversation, in order."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Every call of the model, in the order in which it asked for them, searches for tools
    included."""
    setup_calls: tuple[ToolCall, ...] = ()
    """The case's own calls before the conversation; their times count from the first of them."""
    teardown_calls: tuple[ToolCall, ...] = ()
    """The calls that it made after it; their times count from the first of these."""
    states: tuple[StateReading, ...] = ()
    """What the checks of the end state need, read when the conversation had ended."""
    answer: str = ""
    """The text of the last reply without tool calls to the last thing that the user said; empty if
    there was none."""
    stop: Stop = "answer"
    """Why it ended."""
    stop_detail: str | None = None
    """A recording's own word for why it ended; ``None`` for conversations that harness ran."""
    usage: Usage = field(default_factory=Usage)
    """Sum over all replies."""
    user_usage: Usage = field(default_factory=Usage)
    """What the model that played the user used."""
    greeting: str = ""
    """What a simulated user heard before they said anything."""
    replies: int = 0
    """Replies of the model."""
    started_at: str = ""
    """UTC, ISO 8601."""
    latency_s: float = 0.0
    """Seconds of wall time from the first request to the end, including waits."""
    waited_s: float = 0.0
    """Of that, seconds spent waiting for rate limits and between attempts."""
    tools: tuple[str, ...] = ()
    """The tools that this user was offered, at any time."""
    tools_digest: str = ""
    """`ToolList.digest` of these tools; `ToolList.changes` says what came and went."""
    shown_digest: str = ""
    """`ToolList.digest` of what a variant showed the model instead; empty without a variant."""
    served_by: str | None = None
    """The exact model that answered, as the API reports it."""
    stderr_tail: str = ""
    """The last lines of the server's stderr, if something went wrong."""
    beside: tuple[SideContent, ...] = ()
    """What the server showed beside its tools: instructions, resources, prompts; only recorded
    where several identities ask the same."""
    refused_status: int | None = None
    """The HTTP status (401 or 403), or the code of the JSON-RPC error, by which the server refused
    this caller a session, if the case checks for that; no model was asked then."""
    error: TrialError | None = None
    """Set when ``stop`` is ``error``."""
    agent: AgentFacts | None = None
    """What is known of the agent that answered; ``None`` for a model."""

    @property
    def elicitations(self) -> tuple[Elicitation, ...]:
        """What the server asked its user, in order."""
        said = (one for one in self.messages if isinstance(one, AssistantMessage))
        return tuple(asked for message in said for asked in message.elicitations)

    @property
    def host_calls(self) -> tuple[ToolCall, ...]:
        """The calls of tools of the host, in order."""
        said = (one for one in self.messages if isinstance(one, AssistantMessage))
        return tuple(call for message in said for call in message.host_calls)

    @property
    def resource_reads(self) -> tuple[ResourceRead, ...]:
        """The resources that were read for the model, in order."""
        users = (message for message in self.messages if isinstance(message, UserMessage))
        given = () if self.used_prompt is None else self.used_prompt.reads
        asked = map(build_host_read, self.host_calls)
        return (*given, *(read for one in users for read in one.reads), *filter(None, asked))

    @property
    def used_prompt(self) -> PromptGet | None:
        """The server's prompt that began the conversation, if one did."""
        users = (message for message in self.messages if isinstance(message, UserMessage))
        return next((message.opening for message in users if message.opening is not None), None)

    @property
    def user_calls(self) -> tuple[ToolCall, ...]:
        """Every call of a simulated user who has tools of their own."""
        users = (message for message in self.messages if isinstance(message, UserMessage))
        return tuple(call for message in users for call in message.calls)

    @property
    def all_replies(self) -> tuple[Reply, ...]:
        """What the model replied, in order."""
        return tuple(one.reply for one in self.messages if isinstance(one, AssistantMessage))

    @property
    def last_reply(self) -> Reply | None:
        """The last reply; ``None`` if the model was not asked."""
        replies = self.all_replies
        return replies[-1] if replies else None

    @property
    def only_thinking(self) -> bool:
        """Whether the last reply holds nothing but thinking, and so there is no answer."""
        last = self.last_reply
        return last is not None and last.only_thinking

    @property
    def written_call(self) -> str | None:
        """The tool of the first call that was written as text (`Reply.written_call`)."""
        return next(filter(None, (reply.written_call for reply in self.all_replies)), None)

    @property
    def held_back_tools(self) -> tuple[str, ...]:
        """The tools that the built-in baseline held back (`Reply.held_back`), in all replies."""
        return tuple(dict.fromkeys(tool for one in self.all_replies for tool in one.held_back))

    @property
    def server_calls(self) -> tuple[ToolCall, ...]:
        """The calls of tools: `tool_calls` without searches for tools."""
        return tuple(call for call in self.tool_calls if call.outcome != SEARCH)

    @property
    def refusal(self) -> Refusal:
        """How a refused session was refused."""
        return "http_status" if self.refused_status in (401, 403) else "protocol_error"

    @property
    def refused_words(self) -> str:
        """How a refused session was refused, in words."""
        kind = "HTTP" if self.refusal == "http_status" else "JSON-RPC error"
        return f"{kind} {self.refused_status}"


def sum_server_waits(calls: Iterable[ToolCall]) -> float:
    """Return the seconds that a trial waited to send ``calls``; those of a reply wait together."""
    longest: dict[int, float] = {}
    for call in calls:
        longest[call.reply] = max(call.waited_s, longest.get(call.reply, 0.0))
    return sum(longest.values())


def build_host_read(call: ToolCall) -> ResourceRead | None:
    """Return what a call of the host's tool read; ``None`` if it asked for no resource."""
    uri = call.arguments.get("uri")
    if call.tool != READ_RESOURCE or not isinstance(uri, str) or call.outcome == "blocked":
        return None
    outcomes: dict[Outcome, ReadOutcome] = {"ok": "ok", "tool_error": "refused"}
    return ResourceRead(
        uri=uri,
        outcome=outcomes.get(call.outcome, "failed"),
        text=call.text,
        media=call.media,
        sha256=call.result_sha256,
        reply=call.reply,
        started_s=call.started_s,
        duration_s=call.duration_s,
    )
