"""Reads the fields of a response, and what an API says is wrong, in whichever shape it says so.

Shapes that APIs and gateways use: ``{"error": {…}}`` or a text there, the error itself as the body,
a list of them (Gemini), ``choices[0].error`` (OpenRouter), an event of a stream (``data: {…}``), a
failed response inside an event, a number other than 0 beside a reply (MiniMax), ``success: false``
(Cloudflare), and the error of the provider behind a gateway as JSON or Python's own form in a text.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from harness.base import load_json
from harness.models.failure_events import MEANINGS, Event, find_ending_event
from harness.types import ReplyStop, dataclass

_STATUSES = frozenset(map(str, range(400, 600)))
"""The HTTP statuses of errors."""
_DEEPEST = 6
"""Most levels of errors within errors that are read."""
_CODE_FIELDS = (
    "code", "status", "reason", "error_type", "type", "error_code", "__type", "status_code"
)  # fmt: skip
_WORD_FIELDS = (
    "message", "msg", "detail", "raw", "error", "error_description", "status_msg",
    "failed_generation",
)  # fmt: skip
_REPLY_FIELDS = ("choices", "output", "content", "response")
_WITHIN = (
    "metadata", "innererror", "error", "errors", "raw", "details", "provider_specific_fields"
)  # fmt: skip
_WITHIN_TEXT = ("message", "detail")
"""Fields whose text may hold the error of the provider behind."""


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


def parse_body(content: bytes) -> Any:
    """Return the JSON of an error's body, an error in a stream, or ``None``."""
    try:
        return load_json(content)
    except ValueError:
        return find_error_event(content)


def find_error_event(content: bytes) -> Any:
    """Return the first event of a stream that tells an error; ``None`` if there is none."""
    named = b""
    for line in content.removeprefix(b"\xef\xbb\xbf").splitlines():
        # The name comes in the line before the data, and holds until the next one.
        if line.startswith(b"event:"):
            named = line[6:].strip()
        if line.startswith(b"data:"):
            try:
                event = load_json(line[5:])
            except ValueError:
                continue
            if find_error(event):
                return event
            if named == b"error":
                return {"error": event}
    return None


def find_error(body: Any) -> Any:
    """Return the error that a body tells, whatever its status; ``None`` if it tells none."""
    # Gemini's form; its first error is the one that counts.
    if isinstance(body, list):
        body = body[0] if body else None
    if not isinstance(body, Mapping):
        return None
    if told := body.get("error"):
        return told if isinstance(told, Mapping | list) else body  # a text has its code beside it
    if "error" in (body.get("object"), body.get("type")) or body.get("success") is False:
        return body
    # MiniMax puts the number beside every reply: 0 says that all went well.
    answered = body.get("base_resp")
    if isinstance(answered, Mapping) and answered.get("status_code"):
        return answered
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    for within in (first, body.get("response")):
        if isinstance(within, Mapping) and within.get("error"):
            return within["error"]
    return None


def find_error_in_reply(reply: Mapping[str, Any]) -> Any:
    """Return the error in the body of a status 200, also one that is nothing but words."""
    told = find_error(reply)
    # A reply may have a field `message`, too: words alone count only where nothing is answered.
    if told or any(name in reply for name in _REPLY_FIELDS):
        return told
    return reply if any(isinstance(reply.get(name), str) for name in _WORD_FIELDS) else None


def parse_error(error: Any) -> ReportedError:
    """Return what ``error`` says."""
    if not isinstance(error, Mapping):
        return ReportedError(codes=(), words=_get_text(error), status=None)
    levels = list(_iterate_levels(error, _DEEPEST))
    # The innermost first: it is the provider's own, and the gateway's is often just "error".
    named = [level.get(name) for level in reversed(levels) for name in _CODE_FIELDS]
    words: list[str] = []
    for level in levels:
        texts = (
            _get_text(level.get(name))
            for name in _WORD_FIELDS
            if name not in (*_WITHIN, *_WITHIN_TEXT) or not _is_all_error(level.get(name))
        )
        # Gateways repeat the words of the provider within their own.
        words += [text for text in texts if text and not any(text in other for other in words)]
    fields = (level.get("param") for level in levels)
    tops = (re.split(r"[.[]", field)[0] for field in fields if isinstance(field, str))
    return ReportedError(
        codes=tuple(code for code in named if isinstance(code, str)),
        words=" ".join(words),
        status=next((int(code) for code in named if _is_status(code)), None),
        field=next(tops, None),
    )


def _iterate_levels(error: Mapping[str, Any], left: int) -> Iterator[Mapping[str, Any]]:
    """Yield an error and those within it, the outermost first."""
    yield error
    texts = (text for name in _WITHIN_TEXT if isinstance(text := error.get(name), str))
    inner = map(_find_inner, (*map(error.get, _WITHIN), *texts)) if left else ()
    for level in filter(None, inner):
        yield from _iterate_levels(level, left - 1)


def _find_inner(value: object) -> Mapping[str, Any] | None:
    """Return the error within another, also as the first of a list or within a text."""
    if isinstance(value, str):
        parsed = _parse_object(value)
        return _find_inner(find_error(parsed) or (parsed if _is_all_error(value) else None))
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, Mapping) else None


def _is_all_error(value: object) -> bool:
    """Whether nothing but an error is in it: then its own words are the words."""
    if isinstance(value, str):
        inner = _parse_object(value) if value.lstrip()[:1] in ("{", "[") else None
        return bool(find_error(inner)) or (
            isinstance(inner, Mapping) and not inner.keys().isdisjoint(_WITHIN_TEXT)
        )
    return _find_inner(value) is not None and not _is_validation(value)


def _is_validation(value: object) -> bool:
    """Whether it says which fields of the request are wrong, as pydantic does."""
    if isinstance(value, Mapping):
        return "msg" in value or _is_validation(value.get("detail"))
    return isinstance(value, list) and any(map(_is_validation, value))


def _parse_object(text: str) -> Any:
    """Return the first object in ``text``, written as JSON or by Python; ``None``: there is none.

    LiteLLM writes ``GroqException - {"error": …}`` and ``Error code: 400 - {'error': …}``.
    """
    start = text.find("{")
    if start < 0:
        return None
    try:
        # `raw_decode` allows words behind the object, such as an id of the request.
        return json.JSONDecoder().raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        pass
    try:
        # Python's form of a dictionary, as LiteLLM writes it; literals alone, nothing is run.
        return ast.literal_eval(text[start : text.rfind("}") + 1])
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _is_status(code: object) -> bool:
    # APIs write 429 as a number or as a text.
    return str(code) in _STATUSES and not isinstance(code, float)


def _get_text(value: object) -> str:
    if _is_validation(value):
        if isinstance(value, list):
            return "; ".join(map(_get_text, value))
        if isinstance(value, Mapping) and "msg" in value:  # without the request, which it quotes
            place = value.get("loc")
            where = ".".join(map(str, place)) if isinstance(place, list) else ""
            return f"{where}: {value['msg']}"
        return _get_text(value["detail"]) if isinstance(value, Mapping) else ""
    return value if isinstance(value, str) else json.dumps(value) if value else ""


Json = dict[str, Any]

MAX_WORD = 100
"""Most characters of an API's own word that a message quotes."""


class UnusableResponse(Exception):
    """A successful response that is no valid reply; the text says why."""

    def __init__(self, message: str, event: Event = "unexplained") -> None:
        """``event`` is what happened, where the response has a word for it."""
        super().__init__(message)
        self.event: Event = event


T = TypeVar("T")


def _get_typed(record: Json, name: str, path: str, kind: type[T], in_words: str) -> T:
    value = record.get(name)
    if value is None:
        return kind()
    if not isinstance(value, kind):
        raise UnusableResponse(f"{path}{name} is {describe_kind(value)}, not {in_words}")
    return value


def get_text(record: Json, name: str, path: str = "") -> str:
    """Return the text in a field; empty if absent."""
    return _get_typed(record, name, path, str, "a text")


def get_object(record: Json, name: str, path: str = "") -> Json:
    """Return the object in a field; empty if absent."""
    return _get_typed(record, name, path, dict, "an object")


def get_objects(record: Json, name: str, path: str = "") -> list[Json]:
    """Return the list of objects in a field; empty if absent."""
    value = _get_typed(record, name, path, list, "a list")
    for place, item in enumerate(value):
        if not isinstance(item, dict):
            raise UnusableResponse(f"{path}{name}[{place}] is {describe_kind(item)}, not an object")
    return value


def get_type(record: Json, path: str) -> str:
    """Return the type of a block, part or item, which is required."""
    if not (kind := get_text(record, "type", path)):
        raise UnusableResponse(f"{path}type is missing")
    return kind


def get_name(record: Json, path: str) -> str:
    """Return the name of the called tool; a call without one is malformed."""
    if not (name := get_text(record, "name", path)):
        problem = f"{path.rstrip('.')} is a call without the name of a tool"
        raise UnusableResponse(problem, "malformed_call")
    return name


def check_role(record: Json, path: str = "") -> None:
    """Accept only messages with the role of the assistant."""
    if (role := get_text(record, "role", path)) not in ("", "assistant"):
        raise UnusableResponse(f"{path}role is {quote_word(role)}, and not 'assistant'")


def read_ending(
    word: str,
    known: Mapping[str, ReplyStop],
    field: str,
    *,
    text: str,
    calls: bool,
    refusal: str = "",
) -> ReplyStop:
    """Return why a reply ended, by its ``field``'s ``word`` in any case and what it holds.

    Calls count even if the word does not announce them; a cut or refused reply stays so. A full
    context cuts a reply that has begun; without a beginning the conversation did not fit.

    Raises:
        Unusable: the word is unknown, or it announces calls but there is none.
    """
    own = known.get(word.lower())
    event = find_ending_event(word) if own is None else None
    own = own or (MEANINGS[event].stop if event else None)
    # What has begun to be said did fit: the reply was cut, as by its own limit.
    if own == "context_limit" and (text.strip() or calls):
        own = "max_tokens"
    # No reply came of these: as errors they are judged like the same words in an error's body.
    if own in (None, "malformed_call", "context_limit"):
        problem = f"{field} is {quote_word(word)}" if word else f"it has no {field}"
        unknown = ", which is not a known ending" if word and event is None else ""
        raise UnusableResponse(problem + unknown, event or "unexplained")
    # A text of refusal counts more than an ending that knows nothing of it.
    stop = "refusal" if refusal else own
    # A cut reply may have cut its last call, too.
    if calls and stop not in ("max_tokens", "refusal"):
        return "tool_calls"
    if stop == "tool_calls":
        raise UnusableResponse(f"{field} is {quote_word(word)}, but there is no call in it")
    return stop


def quote_word(word: str) -> str:
    """Return an API's own word for a message, bounded and on one line."""
    return repr(word if len(word) <= MAX_WORD else word[: MAX_WORD - 1] + "…")


def describe_kind(value: object) -> str:
    """Return the kind of a JSON value in words."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds = {int: "a number", float: "a number", str: "a text", list: "a list"}
    return kinds.get(type(value), "an object")
