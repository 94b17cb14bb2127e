"""Reads what an API says is wrong, in whichever shape it says so.

Shapes that APIs and gateways use: ``{"error": {…}}`` or a text there, the error itself as the body,
a list of them (Gemini), ``choices[0].error`` (OpenRouter), an event of a stream (``data: {…}``), a
failed response inside an event, and the error of the provider behind a gateway as JSON in a text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.json_bounds import loads

_STATUSES = frozenset(map(str, range(400, 600)))
"""The HTTP statuses of errors."""
_DEEPEST = 4
"""Most levels of errors within errors that are read."""
_CODE_FIELDS = ("code", "status", "reason", "error_type", "type", "error_code")
_WORD_FIELDS = ("message", "detail", "raw", "error", "error_description", "failed_generation")
_WITHIN = ("metadata", "innererror", "error", "raw", "details")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedError:
    """What an API says is wrong."""

    codes: tuple[str, ...]
    """Its codes, from the innermost error outwards."""
    words: str
    """Its words, each once."""
    status: int | None
    """The HTTP status that it names as a number."""
    field: str | None = None
    """The field of the request that it is about, at its top."""


def body_of(content: bytes) -> Any:
    """Return the JSON of an error's body, an error in a stream, or ``None``."""
    try:
        return loads(content)
    except ValueError:
        return event_with_error(content)


def event_with_error(content: bytes) -> Any:
    """Return the first event of a stream that tells an error; ``None`` if there is none."""
    for line in content.removeprefix(b"\xef\xbb\xbf").splitlines():
        if line.startswith(b"data:"):
            try:
                event = loads(line[5:])
            except ValueError:
                continue
            if error_in(event):
                return event
    return None


def error_in(body: Any) -> Any:
    """Return the error that a body tells, whatever its status; ``None`` if it tells none."""
    if isinstance(body, list):
        return error_in(body[0]) if body and isinstance(body[0], Mapping) else None
    if not isinstance(body, Mapping):
        return None
    if body.get("error"):
        return body["error"]
    if "error" in (body.get("object"), body.get("type")):
        return body
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    for within in (first, body.get("response")):
        if isinstance(within, Mapping) and within.get("error"):
            return within["error"]
    return None


def reported(error: Any) -> ReportedError:
    """Return what ``error`` says."""
    if not isinstance(error, Mapping):
        return ReportedError(codes=(), words=_text_of(error), status=None)
    levels = list(_levels(error, _DEEPEST))
    named = [level.get(name) for level in reversed(levels) for name in _CODE_FIELDS]
    words: list[str] = []
    for level in levels:
        texts = (
            _text_of(level.get(name))
            for name in _WORD_FIELDS
            if name not in _WITHIN or not _inner(level.get(name))
        )
        words += [text for text in texts if text and not any(text in other for other in words)]
    fields = [level.get("param") for level in levels]
    return ReportedError(
        codes=tuple(code for code in named if isinstance(code, str)),
        words=" ".join(words),
        status=next((int(code) for code in named if _is_status(code)), None),
        field=next((re.split(r"[.[]", one)[0] for one in fields if isinstance(one, str)), None),
    )


def _levels(error: Mapping[str, Any], left: int) -> Iterator[Mapping[str, Any]]:
    """Yield an error and those within it, the outermost first."""
    yield error
    inner = (_inner(error.get(name)) for name in _WITHIN) if left else ()
    for level in filter(None, inner):
        yield from _levels(level, left - 1)


def _inner(value: object) -> Mapping[str, Any] | None:
    """Return the error within another, also as the first of a list or as JSON in a text."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = loads(value)
        except ValueError:
            return None
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, Mapping) else None


def _is_status(code: object) -> bool:
    return str(code) in _STATUSES and not isinstance(code, float)


def _text_of(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value) if value else ""
