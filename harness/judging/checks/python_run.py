"""A trial as a Python suite's own check sees it: the transcript in plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from itertools import chain
from typing import Any

from harness.types import (
    AssistantMessage,
    JsonObject,
    Message,
    Outcome,
    Transcript,
    UserMessage,
    dataclass,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonCall:
    """One tool call, as it crossed the MCP session."""

    name: str
    """The tool."""
    arguments: JsonObject
    """What was sent."""
    outcome: Outcome
    """``ok``, or how it ended otherwise."""
    result: Any
    """The structured result if there is one, otherwise the text."""
    text: str
    """Text of the result or error."""
    reply: int
    """The model's reply (from 1) that asked for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonRun:
    """One trial of a case, for ``check(case, run)``."""

    answer: str
    """The model's last answer."""
    tool_calls: tuple[PythonCall, ...]
    """Every call, in the order in which the model asked for them."""
    messages: tuple[JsonObject, ...]
    """The conversation: ``{role, content}``, and for an assistant also
    ``tool_calls: [{name, arguments}]``."""
    tokens_in: int | None
    """All input tokens; ``None`` when unknown."""
    tokens_out: int | None
    """All output tokens; ``None`` when unknown."""
    cost_usd: float | None
    """Dollars; ``None`` when unknown."""
    latency_ms: float
    """Milliseconds of wall time of the conversation."""
    error: str | None
    """Why there is no answer, if a limit ended the conversation or it was aborted."""
    stderr: str
    """The last lines of the server's stderr, if a call got no answer."""
    transcript: Transcript = field(repr=False)
    """The complete transcript."""

    @property
    def output(self) -> str:
        """The same as `answer`."""
        return self.answer

    @property
    def tools_called(self) -> tuple[str, ...]:
        """The names of the tools, in the order of the calls."""
        return tuple(call.name for call in self.tool_calls)


def build_python_run(transcript: Transcript) -> PythonRun:
    """Return what a suite's own check sees of ``transcript``."""
    usage = transcript.usage
    return PythonRun(
        answer=transcript.answer,
        tool_calls=tuple(
            PythonCall(
                name=call.tool,
                arguments=dict(call.arguments),
                outcome=call.outcome,
                result=call.text if call.structured is None else call.structured,
                text=call.text,
                reply=call.reply,
            )
            for call in transcript.tool_calls
        ),
        messages=tuple(chain(*map(_convert_message, transcript.messages))),
        tokens_in=usage.input_tokens,
        tokens_out=usage.output_tokens,
        cost_usd=usage.cost_usd,
        latency_ms=round(transcript.latency_s * 1000, 3),
        # A refusal is an answer, too.
        error=None if transcript.stop in {"answer", "refusal"} else transcript.stop,
        stderr=transcript.stderr_tail,
        transcript=transcript,
    )


def _convert_message(message: Message) -> Iterator[JsonObject]:
    if isinstance(message, UserMessage):
        yield {"role": "user", "content": message.text}
    elif isinstance(message, AssistantMessage):
        said: JsonObject = {"role": "assistant", "content": message.reply.text}
        calls = [
            {"name": request.tool, "arguments": dict(request.arguments)}
            for request in message.reply.tool_requests
        ]
        yield {**said, "tool_calls": calls} if calls else said
    else:
        yield from ({"role": "tool", "content": answer.text} for answer in message.answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserCheck:
    """A suite's own ``check`` and the case that it judges."""

    suite: str
    """Name of the suite."""
    function: Callable[[Any, Any], Any]
    """The suite's ``check``; may be a coroutine function."""
    case: Any
    """The case, as the suite returned it."""
    threshold: float
    """Lowest passing score."""


def get_entry(given: Any, name: str) -> Any:
    """Return the entry or attribute ``name`` of ``given``; ``None`` if it has none."""
    return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)
