"""``python:my.module:function``: a Python function that answers in place of a model.

It is called with the whole conversation and the tools, ``function(messages, tools)``::

    messages  [{"role": "system" | "user" | "assistant" | "tool", "content": "…"}, …]
              an assistant's may have "tool_calls": [{"id", "name", "arguments"}], a tool's has
              "tool_call_id", "name" and "is_error"
    tools     [{"name", "description", "input_schema"}, …]

and returns the answer as text, or ``{"content": "…", "tool_calls": [{"name", "arguments"}]}``, or a
`harness.types.Reply`. Coroutine functions work as well.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from harness.base import (
    ModelError,
    UsageError,
    call_user_code,
    find_function_reference,
    find_shortcoming,
    format_error,
    import_object,
    json_value,
    make_one_line,
    shorten_text,
)
from harness.models.conversation import parse_arguments
from harness.types import (
    AssistantMessage,
    JsonObject,
    Message,
    ModelSpec,
    Reply,
    ToolList,
    ToolRequest,
    UserMessage,
)

if TYPE_CHECKING:
    from pydantic import TypeAdapter

PROVIDER = "python"
"""The provider of such models."""

_LONGEST = 200
"""Characters of a value in a message."""
_MEANT = 'Return text, or {"content": "…", "tool_calls": [{"name": "…", "arguments": {…}}]}.'


def build_function_spec(function: Callable[..., Any]) -> ModelSpec:
    """Return ``function`` as a model, named by where it is found; of a class, an instance.

    Raises:
        UsageError: no instance can be made of that class.
    """
    own_name = getattr(function, "__qualname__", None) or type(function).__qualname__
    name = find_function_reference(function) or str(own_name)
    return ModelSpec(
        name=f"{PROVIDER}:{name}",
        provider=PROVIDER,
        model_id=name,
        function=_require_callable(function, name),
    )


def load_function(reference: str) -> Callable[..., Any]:
    """Return the function of that name; of a class, an instance.

    Raises:
        UsageError: there is none, or it cannot be called.
    """
    return _require_callable(import_object(reference), reference)


def _require_callable(found: Any, name: str) -> Callable[..., Any]:
    try:
        function = found() if inspect.isclass(found) else found
    except (Exception, SystemExit) as error:  # boundary to users' code
        raise UsageError(f"{name} cannot be made: {format_error(error)}") from error
    meant = "Name a function (messages, tools) that returns the reply."
    if not callable(function):
        raise UsageError(f"{name} cannot be called", meant=meant)
    try:
        inspect.signature(function).bind([], [])
    except (TypeError, ValueError) as error:
        # A signature that is not known is no reason: not all functions are written in Python.
        if isinstance(error, TypeError) or inspect.ismethod(function):
            message = f"{name} cannot be called with messages and tools: {error}"
            raise UsageError(message, meant=meant) from error
    return function  # type: ignore[no-any-return]


class FunctionModel:
    """A function that answers; its replies cost nothing."""

    def __init__(self, spec: ModelSpec) -> None:
        """Take the function of ``spec``, or import the one that its id names."""
        self._name = spec.model_id
        self._function = spec.function or load_function(spec.model_id)

    async def answer(
        self, conversation: Sequence[Message], tools: ToolList, system: str | None
    ) -> Reply:
        """Return what the function makes of the conversation.

        Raises:
            ModelError: it raised an error, or returned no reply.
        """
        listed = [
            {"name": one.name, "description": one.description, "input_schema": one.input_schema}
            for one in tools.tools
        ]
        # Copies, since the function may change what it is given.
        given = deepcopy((list(_list_messages(conversation, system)), listed))
        try:
            returned = await call_user_code(self._function, *given)
        except (Exception, SystemExit) as error:  # boundary to users' code
            message = f"the function {self._name} raised an error: {format_error(error)}"
            raise ModelError(message) from error
        number = 1 + sum(isinstance(message, AssistantMessage) for message in conversation)
        reply = _read_reply(returned, number)
        if reply is None:
            message = f"the function {self._name} returned no reply: {_format_value(returned)}"
            raise ModelError(f"{message}. {_MEANT}")
        return replace(reply, served_by=reply.served_by or self._name)

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""


def _read_reply(returned: Any, number: int) -> Reply | None:
    """Return what a function ``returned`` as its reply of that ``number``; ``None`` if it is none.

    Nothing of the function's own is kept: its objects may do anything when they are looked at.
    """
    try:
        if isinstance(returned, Reply):
            return _copy_reply(returned)
        whole = {"content": returned} if isinstance(returned, str) else returned
        given = json_value(dict(whole)) if isinstance(whole, Mapping) else {}
    except Exception:  # noqa: BLE001 - boundary to users' code
        return None
    return _build_reply(given, number)


def _build_reply(given: JsonObject, number: int) -> Reply | None:
    text, calls = given.get("content") or "", given.get("tool_calls") or []
    if (
        not given
        or given.keys() - {"content", "tool_calls"}
        or not isinstance(text, str)
        or not isinstance(calls, list)
    ):
        return None
    requests = [_read_call(call, f"py_{number}_{place}") for place, call in enumerate(calls, 1)]
    if None in requests:
        return None
    return Reply(
        text=text,
        tool_requests=tuple(filter(None, requests)),
        stop="tool_calls" if requests else "end",
    )


@cache
def _get_adapter() -> TypeAdapter[Reply]:
    from pydantic import TypeAdapter

    return TypeAdapter(Reply)


def _copy_reply(reply: Reply) -> Reply:
    """Return ``reply`` as a reader of the log will have it; raise an error if it is not valid."""
    adapter = _get_adapter()
    plain = adapter.dump_python(reply, mode="json", warnings="error")
    if shortcoming := find_shortcoming(plain):
        raise ValueError(shortcoming)
    return adapter.validate_python(plain)


def _read_call(call: Any, own_id: str) -> ToolRequest | None:
    match call:
        case {"name": str(name), **others} if not others.keys() - {"id", "arguments"}:
            arguments, given_id = others.get("arguments") or {}, others.get("id")
            if isinstance(arguments, dict):
                shown = own_id if given_id in (None, "") else str(given_id)
                sent, malformed = parse_arguments(arguments)
                return ToolRequest(id=shown, tool=name, arguments=sent, malformed=malformed)
    return None


def _format_value(value: Any) -> str:
    try:
        shown = repr(value)
    except Exception:  # noqa: BLE001 - boundary to users' code
        shown = type(value).__name__
    return shorten_text(make_one_line(shown), _LONGEST)


def _list_messages(conversation: Sequence[Message], system: str | None) -> Iterator[JsonObject]:
    if system:
        yield {"role": "system", "content": system}
    names: dict[str, str] = {}
    for message in conversation:
        if isinstance(message, UserMessage):
            yield {"role": "user", "content": message.text}
        elif isinstance(message, AssistantMessage):
            requests = message.reply.tool_requests
            names = {request.id: request.tool for request in requests}
            calls = [
                {"id": request.id, "name": request.tool, "arguments": dict(request.arguments)}
                for request in requests
            ]
            said = {"role": "assistant", "content": message.reply.text}
            yield {**said, "tool_calls": calls} if calls else said
        else:
            for answer in message.answers:
                yield {
                    "role": "tool",
                    "tool_call_id": answer.request_id,
                    "name": names.get(answer.request_id, ""),
                    "content": answer.text,
                    "is_error": answer.is_error,
                }
