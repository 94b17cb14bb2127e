"""Make a request that is not a call, and record it like one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.probing.call_facts import MOST_CHARS
from harness.types import JsonObject

READ, PROMPT, COMPLETE = "resources/read", "prompts/get", "completion/complete"
"""The methods that are tried; they stand in the place of a tool's name."""


def read_texts(method: str, answer: JsonObject) -> dict[str, Any]:
    """Return the texts of an answer, as the result of a call."""
    return {"text": "\n".join(_iterate_texts(method, answer))[:MOST_CHARS]}


def _iterate_texts(method: str, result: JsonObject) -> Iterator[str]:
    """Yield the texts of an answer: the content of a resource or a prompt, or completions."""
    if method == COMPLETE:
        completion = result.get("completion")
        values = completion.get("values") if isinstance(completion, Mapping) else ()
        yield from (value for value in _as_list(values) if isinstance(value, str))
        return
    blocks = (
        _as_list(result.get("contents"))
        if method == READ
        else (message.get("content") for message in _select_objects(result.get("messages")))
    )
    for block in blocks:
        for part in _as_list(block) if isinstance(block, list) else (block,):
            if isinstance(part, Mapping):
                inner = part.get("resource")
                own = inner if isinstance(inner, Mapping) else part
                yield from (own[key] for key in ("text", "blob") if isinstance(own.get(key), str))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _select_objects(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in _as_list(value) if isinstance(one, Mapping)]
