"""Tables of what was said and done: calls, replies, messages, and the tools that were offered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.reports.querying.columns import Column, Table
from harness.reports.querying.trial_rows import TRIAL_ID
from harness.runlog import ToolsLine
from harness.types import AssistantMessage, Tool, ToolCall, Transcript, UserMessage


@dataclass(frozen=True, slots=True)
class CallRow:
    """What a row of `CALLS` is made from."""

    trial_id: int
    """As in `TRIALS`."""
    n: int
    """Its place in its phase, from 1."""
    phase: str
    """Who made it, and when."""
    call: ToolCall
    """The call."""


CALLS: Table[CallRow] = Table(
    "calls",
    "A tool call in the MCP session.",
    (
        TRIAL_ID,
        Column("n", "INTEGER", "Number of the call in its phase, from 1.", lambda one: one.n),
        Column(
            "phase",
            "TEXT",
            "model: the model made it; setup, teardown: the case did.",
            lambda one: one.phase,
        ),
        Column("tool", "TEXT", "The tool's name on the server.", lambda one: one.call.tool),
        Column("arguments", "JSON", "The arguments of the call.", lambda one: one.call.arguments),
        Column(
            "outcome",
            "TEXT",
            "Outcome of the call: ok, tool_error, denied, timeout … (see the run log).",
            lambda one: one.call.outcome,
        ),
        Column(
            "reply",
            "INTEGER",
            "Number of the reply that asked for the call, from 1: replies.n.",
            lambda one: one.call.reply or None,
        ),
        Column(
            "refusal",
            "TEXT",
            "Form of the refusal: tool_error, protocol_error, http_status.",
            lambda one: one.call.refusal,
        ),
        Column(
            "error_code", "INTEGER", "The JSON-RPC error code.", lambda one: one.call.error_code
        ),
        Column(
            "started_s",
            "REAL",
            "Seconds from the start of the trial.",
            lambda one: one.call.started_s,
        ),
        Column(
            "duration_s",
            "REAL",
            "Seconds until the call was answered.",
            lambda one: one.call.duration_s,
        ),
        Column(
            "waited_s",
            "REAL",
            "Seconds of waiting for its turn at the server, before started_s.",
            lambda one: one.call.waited_s,
        ),
        Column(
            "result_bytes",
            "INTEGER",
            "Size of the whole result in bytes.",
            lambda one: one.call.result_bytes,
        ),
        Column(
            "text",
            "TEXT",
            "Text of the result or error, as far as the log has it.",
            lambda one: one.call.text,
        ),
    ),
    keys=("trial_id",),
)


@dataclass(frozen=True, slots=True)
class ReplyRow:
    """What a row of `REPLIES` is made from."""

    trial_id: int
    """As in `TRIALS`."""
    n: int
    """Its place, from 1."""
    message: AssistantMessage
    """The reply, and when it came."""


REPLIES: Table[ReplyRow] = Table(
    "replies",
    "A reply of the model.",
    (
        TRIAL_ID,
        Column("n", "INTEGER", "Number in the trial, from 1.", lambda one: one.n),
        Column(
            "stop",
            "TEXT",
            "end, tool_calls, max_tokens, refusal, other.",
            lambda one: one.message.reply.stop,
        ),
        Column(
            "stop_detail",
            "TEXT",
            "The provider's own reason for the stop.",
            lambda one: one.message.reply.stop_detail,
        ),
        Column(
            "asked_for",
            "INTEGER",
            "Number of tool calls that the reply asks for.",
            lambda one: len(one.message.reply.tool_requests),
        ),
        Column(
            "asked_s",
            "REAL",
            "Time of the request: seconds from the start of the trial.",
            lambda one: one.message.asked_s,
        ),
        Column(
            "answered_s",
            "REAL",
            "Time of the complete reply: seconds from the start of the trial.",
            lambda one: one.message.answered_s,
        ),
        Column(
            "waited_s",
            "REAL",
            "Seconds of waiting for a rate limit.",
            lambda one: one.message.reply.waited_s,
        ),
        Column(
            "attempts",
            "INTEGER",
            "Number of HTTP requests.",
            lambda one: one.message.reply.attempts,
        ),
        Column(
            "tokens_in",
            "INTEGER",
            "Input tokens.",
            lambda one: one.message.reply.usage.input_tokens,
        ),
        Column(
            "tokens_out",
            "INTEGER",
            "Output tokens.",
            lambda one: one.message.reply.usage.output_tokens,
        ),
        Column(
            "cache_read_tokens",
            "INTEGER",
            "Input tokens from the provider's cache.",
            lambda one: one.message.reply.usage.cache_read_tokens,
        ),
        Column(
            "cost_usd",
            "REAL",
            "Cost of the reply in US dollars; null is unknown.",
            lambda one: one.message.reply.usage.cost_usd,
        ),
        Column(
            "served_by",
            "TEXT",
            "The exact model that answered.",
            lambda one: one.message.reply.served_by,
        ),
    ),
    keys=("trial_id",),
)


@dataclass(frozen=True, slots=True)
class MessageRow:
    """What a row of `MESSAGES` is made from."""

    trial_id: int
    """As in `TRIALS`."""
    n: int
    """Its place, from 1."""
    role: str
    """Whose words."""
    text: str
    """The words."""


MESSAGES: Table[MessageRow] = Table(
    "messages",
    "A message of the user or the model. The results of tools are in `calls.text`.",
    (
        TRIAL_ID,
        Column("n", "INTEGER", "Number in the trial, from 1.", lambda one: one.n),
        Column("role", "TEXT", "user, assistant.", lambda one: one.role),
        Column("text", "TEXT", "Text of the message.", lambda one: one.text),
    ),
    keys=("trial_id",),
)


@dataclass(frozen=True, slots=True)
class ToolRow:
    """What a row of `TOOLS` is made from."""

    n: int
    """Its place, from 1."""
    tool: Tool
    """The tool."""
    line: ToolsLine
    """The list."""


TOOLS: Table[ToolRow] = Table(
    "tools",
    "A tool in a list that a user was offered.",
    (
        Column(
            "digest",
            "TEXT",
            "Digest of the list: trials.tools_digest.",
            lambda one: one.line.tools.digest,
        ),
        Column("n", "INTEGER", "Number of the tool in the list, from 1.", lambda one: one.n),
        Column(
            "variant",
            "TEXT",
            "The variant that a model was shown; null: the server's own list.",
            lambda one: one.line.variant,
        ),
        Column("server", "TEXT", "Name of the server.", lambda one: one.line.server),
        Column("tool", "TEXT", "Name of the tool.", lambda one: one.tool.name),
        Column(
            "description",
            "TEXT",
            "Description that the model reads.",
            lambda one: one.tool.description,
        ),
        Column(
            "input_schema",
            "JSON",
            "JSON Schema of the arguments.",
            lambda one: one.tool.input_schema,
        ),
        Column(
            "output_schema",
            "JSON",
            "JSON Schema of the result.",
            lambda one: one.tool.output_schema,
        ),
        Column(
            "read_only", "BOOLEAN", "The server's `readOnlyHint`.", lambda one: one.tool.read_only
        ),
        Column(
            "destructive",
            "BOOLEAN",
            "The server's `destructiveHint`.",
            lambda one: one.tool.destructive,
        ),
    ),
)


def iterate_rows(trial_id: int, said: Transcript) -> Iterator[tuple[Table[Any], tuple[Any, ...]]]:
    """Yield the rows of a conversation, each with its table."""
    phases = {"model": said.tool_calls, "setup": said.setup_calls, "teardown": said.teardown_calls}
    for phase, calls in phases.items():
        for n, call in enumerate(calls, start=1):
            yield CALLS, CALLS.build_row(CallRow(trial_id, n, phase, call))
    replies = [message for message in said.messages if isinstance(message, AssistantMessage)]
    for n, message in enumerate(replies, start=1):
        yield REPLIES, REPLIES.build_row(ReplyRow(trial_id, n, message))
    for n, (role, text) in enumerate(_iterate_messages(said), start=1):
        yield MESSAGES, MESSAGES.build_row(MessageRow(trial_id, n, role, text))


def _iterate_messages(said: Transcript) -> Iterator[tuple[str, str]]:
    for message in said.messages:
        if isinstance(message, UserMessage):
            yield message.role, message.text
        elif isinstance(message, AssistantMessage) and message.reply.text:
            yield message.role, message.reply.text
