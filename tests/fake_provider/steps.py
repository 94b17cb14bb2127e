"""What the fake says next: answers, HTTP errors and broken connections, as frozen values.

A script is a sequence of steps, one per assistant turn, or a function of the request::

    [call("get_order", {"id": 7}), say("It is on its way.")]
    by_prompt({"weather": [say("Sunny.")], "order": [calls(("a", {}), ("b", {})), say("Done.")]})
    [sequence(status(429, {"retry-after": "1"}), reset(), say("Third time lucky."))]
    [think(call("get_order", {"id": 7})), slow(say("It is on its way."), 0.5)]
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, TypeVar

from tests.fake_provider.incoming import Incoming


@dataclass(frozen=True, slots=True)
class Text:
    """Words of the model."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the model; ``arguments`` that are a string are sent as they are."""

    tool: str
    arguments: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True)
class Thought:
    """Reasoning that must come back unchanged when the conversation continues."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A reply of the model."""

    blocks: tuple[Text | Call | Thought, ...] = ()
    stop: Literal["end", "tool_calls", "max_tokens", "refusal", "pause"] = "end"
    refusal: str | None = None
    """Why the model refuses, where it does."""
    empty: bool = False
    """No content at all, and no choices in Chat Completions."""
    usage: Mapping[str, int] = field(default_factory=dict)
    """What overrides the estimate: ``input``, ``output``, ``cache_read``, ``cache_write``."""
    served_by: str | None = None
    """The model that the API names; ``None`` repeats the request's."""
    delay_s: float = 0.0
    held: threading.Event | None = None
    """What the response waits for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """A plain HTTP response."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    """``None``: the provider's own error body; ``str`` or ``bytes``: as it is; else sent as
    JSON."""
    delay_s: float = 0.0
    held: threading.Event | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A response that never becomes whole."""

    how: Literal["reset", "stall"]
    after_bytes: int | None
    """Bytes of the body that are sent first, after the head; ``None``: not even the head."""
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class PerRequest:
    """One step for each time that the very same request arrives; the last one repeats."""

    steps: tuple[Step, ...]


Step: TypeAlias = Answer | Http | Broken | PerRequest
"""What happens to one request."""

Script: TypeAlias = Sequence[Step] | Callable[[Incoming], Step]
"""Steps by conversation turn, or a function of the request."""

_Delayed = TypeVar("_Delayed", Answer, Http, Broken)

# ── Answers ──────────────────────────────────────────────────────────────────────────────────


def say(text: str, *more_blocks: str) -> Answer:
    """The model answers; each further argument is a text block of its own."""
    return Answer(blocks=tuple(Text(block) for block in (text, *more_blocks)))


def call(tool: str, args: Mapping[str, Any], text: str | None = None) -> Answer:
    """The model calls one tool, offered or not, after saying ``text``."""
    return calls((tool, args), text=text)


def calls(*requests: tuple[str, Mapping[str, Any]], text: str | None = None) -> Answer:
    """The model calls several tools in one reply, after saying ``text``."""
    words = () if text is None else (Text(text),)
    return Answer(
        blocks=(*words, *(Call(tool, args) for tool, args in requests)), stop="tool_calls"
    )


def bad_arguments(tool: str, text: str) -> Answer:
    """The model calls a tool with arguments that are this text instead of a JSON object.

    Messages has no place for such text: its ``input`` becomes the string, as some proxies do, and
    must not come back as one.
    """
    return Answer(blocks=(Call(tool, text),), stop="tool_calls")


def refuse(text: str) -> Answer:
    """The model refuses, in the API's own field for it and not in its words."""
    return Answer(stop="refusal", refusal=text)


def cut(text: str) -> Answer:
    """The answer ends at the token limit."""
    return Answer(blocks=(Text(text),), stop="max_tokens")


def pause(step: Answer) -> Answer:
    """The same answer, paused by the API in the midst of its own tools.

    Of the Messages API only.
    """
    return replace(step, stop="pause")


def empty() -> Answer:
    """A reply with nothing in it: no content, no output, no choices."""
    return Answer(empty=True)


# ── Faults ───────────────────────────────────────────────────────────────────────────────────


def status(code: int, headers: Mapping[str, str] | None = None, body: Any = None) -> Http:
    """An HTTP status, by default with the provider's own error body."""
    return Http(status=code, headers=headers or {}, body=body)


def malformed(text: str) -> Http:
    """Status 200 and ``application/json``, but this text."""
    return Http(status=200, body=text)


def raw(value: Any) -> Http:
    """Status 200 and this JSON value, or these bytes."""
    return Http(status=200, body=value.decode() if isinstance(value, bytes) else json.dumps(value))


def reset(after_bytes: int | None = 20) -> Broken:
    """The connection is reset after so many bytes of the body; ``None``.

    Before anything is sent.
    """
    return Broken(how="reset", after_bytes=after_bytes)


def stall(after_bytes: int | None = 20) -> Broken:
    """Nothing follows after so many bytes of the body, until somebody closes the connection."""
    return Broken(how="stall", after_bytes=after_bytes)


# ── Modifiers ────────────────────────────────────────────────────────────────────────────────


def think(then: Answer, text: str = "Let me think about this.") -> Answer:
    """The same answer, with reasoning before it that must be sent back unchanged."""
    return replace(then, blocks=(Thought(text), *then.blocks))


def usage(
    step: Answer,
    *,
    input: int | None = None,  # noqa: A002 - the API's own word
    output: int | None = None,
    cache_read: int | None = None,
    cache_write: int | None = None,
) -> Answer:
    """The same answer with these token counts, as they stand in the API's own fields.

    So ``input`` excludes what was read from and written to a cache in Messages, and includes it in
    OpenAI's APIs.
    """
    given = {"input": input, "output": output, "cache_read": cache_read, "cache_write": cache_write}
    return replace(step, usage={name: count for name, count in given.items() if count is not None})


def served_by(step: Answer, model: str) -> Answer:
    """The same answer from a model of another name."""
    return replace(step, served_by=model)


def slow(step: _Delayed, seconds: float) -> _Delayed:
    """The same step, so much later."""
    return replace(step, delay_s=seconds)


def held(step: Answer, until: threading.Event) -> Answer:
    """The same answer, as soon as somebody sets the event."""
    return replace(step, held=until)


def sequence(*steps: Step) -> PerRequest:
    """These steps in the order of requests for the same conversation turn; the last one repeats.

    Requests are the same when their bodies are, so retries count and other conversations do not.
    """
    return PerRequest(steps)


# ── Scripts ──────────────────────────────────────────────────────────────────────────────────


def by_prompt(scripts: Mapping[str, Sequence[Step]]) -> Callable[[Incoming], Step]:
    """Choose the steps whose key is part of the first user text; the first such key wins."""

    def choose(request: Incoming) -> Step:
        for part, steps in scripts.items():
            if part in request.prompt:
                return by_turn(steps, request)
        return _scripting_error(f"no script for the prompt {request.prompt!r}")

    return choose


def by_turn(steps: Sequence[Step], request: Incoming) -> Step:
    """Return the step for the request's turn, or an error that says that there is none."""
    return (
        steps[request.turn] if request.turn < len(steps) else _scripting_error("script exhausted")
    )


def _scripting_error(message: str) -> Step:
    # `error.message` is where both providers put their words.
    return status(500, body={"type": "error", "error": {"type": "api_error", "message": message}})
