"""JSON of others, read within bounds, and the one canonical text of a JSON value."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal, InvalidOperation
from itertools import accumulate
from typing import Any

from harness.base.errors import InvalidValue

MAX_DEPTH = 100
"""Levels of arguments, structured results and schemas that are used and kept: ``{"a": [1]}`` has
two."""

WIRE_DEPTH = MAX_DEPTH + 20
"""Levels of a whole message that are read: a value of `MAX_DEPTH` levels and what encloses it."""

MAX_DIGITS = 4_300
"""Most digits of an integer that is kept: Python neither reads nor writes a longer one."""

_SHOWN_DIGITS = 20
_SHOWN = 200
_BRACKETS = b"[]{}"
_STEPS = bytes.maketrans(_BRACKETS, b"\x01\xff\x01\xff")  # as signed bytes: one up, one down
_NO_MARK = bytes(set(range(256)) - set(_BRACKETS + b'"'))
# A text that never ends is the last.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[][{}]', re.DOTALL)


class Cut(str):
    """A text that replaces what Python or JSON cannot hold; text from outside is never a `Cut`.

    A value that nests too deeply needs none: what is left of it still has more than `MAX_DEPTH`
    levels.
    """

    __slots__ = ()


def load_json(text: str | bytes, *, strict: bool = False) -> Any:
    """Return the JSON ``text``, within the bounds above.

    ``strict``: whether it will be sent on, so that whatever JSON cannot hold has to be told apart
    from a text.

    Raises:
        ValueError: it is no JSON.
    """
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    # Python's parser refuses a byte order mark, which some writers put first.
    text = text.removeprefix("\ufeff")
    # A cheap bound first: few texts have so many brackets, and only those are measured.
    if text.count("[") + text.count("{") > WIRE_DEPTH:
        data = text.encode("utf-8", "surrogatepass")
        if measure_depth(data) > WIRE_DEPTH:
            text = b"".join(_iterate_shallow(data)).decode("utf-8", "surrogatepass")
    value = _decode_json(text, Cut if strict else str)
    # Half a pair comes as an escape, or raw: without either, nothing need be looked at.
    halves = "\\ud" in text or "\\uD" in text or not (text.isascii() or _is_text(text))
    return _whole_characters(value, Cut if strict else str) if halves else value


def joined_documents(text: str) -> Iterator[str]:
    """Yield the JSON documents that stand behind each other in ``text``; the rest is the last.

    Only arrays and objects end by themselves, so text before one is a part of it.
    """
    start = depth = 0
    data = text.encode("utf-8", "surrogatepass")
    for token in _TOKEN.finditer(data):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(token[0], 0)
        if depth == 0 and token[0] in b"]}":
            yield data[start : token.end()].decode("utf-8", "surrogatepass")
            start = token.end()
    if rest := data[start:].strip():
        yield rest.decode("utf-8", "surrogatepass")


def measure_depth(data: bytes) -> int:
    """Return how many levels the JSON ``data`` nests; every step is one fast pass."""
    if b"\\" in data:
        # Backslashes first, so that the quote in `\\"` still ends its text.
        data = data.replace(rb"\\", b"").replace(rb"\"", b"")
    marks = data.translate(None, _NO_MARK).replace(b'""', b"")
    if b'"' in marks:  # texts with brackets in them
        marks = re.sub(rb'"[^"]*"?', b"", marks)
    return max(accumulate(memoryview(marks.translate(_STEPS)).cast("b")), default=0)


def is_deep(text: str, limit: int = MAX_DEPTH) -> bool:
    """Whether the JSON ``text`` nests more than ``limit`` levels."""
    if text.count("[") + text.count("{") <= limit:
        return False
    return measure_depth(text.encode("utf-8", "surrogatepass")) > limit


def find_shortcoming(value: Any) -> str | None:
    """Return why ``value`` cannot be kept as it is (too deep, or not fully read), or ``None``."""
    # Level by level, since a value may nest deeper than Python can recurse.
    level: list[Any] = [value] if isinstance(value, _TELLING) else []
    for _ in range(MAX_DEPTH):
        if cut := next((item for item in level if type(item) is Cut), None):
            return f"it holds what is not read: {cut[:_SHOWN]}"
        inner: list[Any] = []
        for container in level:
            inner += container.values() if isinstance(container, Mapping) else container
        level = [item for item in inner if isinstance(item, _TELLING)]
        if not level:
            return None
    return f"it nests deeper than {MAX_DEPTH} levels"


_TELLING = (Cut, dict, list, tuple, Mapping)


def _get_fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def trim_depth(
    value: Any, depth: int, object_of: Callable[[Any], dict[str, Any]] = _get_fields
) -> Any:
    """Return ``value`` with a `Cut` for all that lies deeper than ``depth`` levels.

    A dataclass becomes the object that ``object_of`` makes of it: by default its fields.
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = object_of(value)
    if not isinstance(value, Mapping | list | tuple):
        return _make_writable(value)
    if depth <= 0:
        return Cut("[… cut by harness: nested too deeply for the run log]")
    if isinstance(value, Mapping):
        return {
            _make_writable(str(key)): trim_depth(item, depth - 1, object_of)
            for key, item in value.items()
        }
    return [trim_depth(item, depth - 1, object_of) for item in value]


def _make_writable(value: Any) -> Any:
    """Return a scalar in a form that every JSON reader accepts."""
    if isinstance(value, str):
        return value if _is_text(value) else _mend_text(value)
    # Only its size can be told: Python refuses to write it out.
    if type(value) is int and abs(value) >= _TOO_LARGE:
        return Cut(f"[… cut by harness: an integer of {value.bit_length():,} bits]")
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


_TOO_LARGE = 10**MAX_DIGITS


def _whole_characters(value: Any, mark: Callable[[str], str]) -> Any:
    """Return ``value``, whose depth is bounded, with U+FFFD for every half of a surrogate pair."""
    match value:
        case str():
            return value if _is_text(value) else mark(_mend_text(value))
        case list():
            return [_whole_characters(item, mark) for item in value]
        case dict():
            return {
                _whole_characters(key, mark): _whole_characters(item, mark)
                for key, item in value.items()
            }
    return value


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _mend_text(text: str) -> str:
    # In UTF-16 two halves in a row are one character again; only a lone one is replaced.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _decode_json(text: str, constant: Callable[[str], Any]) -> Any:
    decoder = _DECODER
    if constant is not str:
        decoder = json.JSONDecoder(parse_constant=constant, parse_float=_parse_float)
    try:
        return decoder.decode(text)
    except json.JSONDecodeError:
        raise
    # An integer that Python refuses to read: now each is looked at, which takes longer.
    except ValueError:
        return json.loads(
            text, parse_constant=constant, parse_float=_parse_float, parse_int=_parse_integer
        )


def _parse_float(text: str) -> Any:
    # `float` makes infinity of 1e400, which no JSON can hold.
    number = float(text)
    if math.isfinite(number):
        return number
    try:
        exact = Decimal(text)
    except InvalidOperation:  # its exponent has twenty digits
        return Cut(f"[… cut by harness: the number {text[:_SHOWN_DIGITS]}…]")
    return int(exact) if exact.adjusted() < MAX_DIGITS else _cut_number(text, exact.adjusted() + 1)


_DECODER = json.JSONDecoder(parse_constant=str, parse_float=_parse_float)


def _parse_integer(text: str) -> Any:
    digits = len(text.lstrip("-"))
    return int(text) if digits <= MAX_DIGITS else _cut_number(text, digits)


def _cut_number(text: str, digits: int) -> Cut:
    return Cut(f"[… cut by harness: a number of {digits:,} digits, {text[:_SHOWN_DIGITS]}…]")


def _iterate_shallow(data: bytes) -> Iterator[bytes]:
    """Yield ``data`` in pieces, a text for every value that lies deeper than `WIRE_DEPTH`."""
    depth = kept = 0
    for token in _TOKEN.finditer(data):
        match token[0]:
            case b"[" | b"{":
                depth += 1
                if depth == WIRE_DEPTH + 1:
                    yield data[kept : token.start()]
                    kept = token.start()
            case b"]" | b"}":
                depth -= 1
                if depth == WIRE_DEPTH:
                    part = data[kept : token.end()]
                    size = f"{len(part):,} bytes, sha256 {hashlib.sha256(part).hexdigest()}"
                    what = f"nested deeper than {WIRE_DEPTH} levels, {size}"
                    yield json.dumps(f"[… cut by harness: {what}]").encode()
                    kept = token.end()
    # What was cut off has no end, so nothing valid would be left.
    if depth > WIRE_DEPTH:
        raise ValueError("what is nested too deeply is never closed")
    yield data[kept:]


def canonical_json(value: Any) -> str:
    """Return ``value`` as JSON with sorted keys and no spaces: equal values, equal text."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_to_plain
    )


def digest_json(value: Any) -> str:
    """Return the SHA-256, in hex, of the canonical JSON of ``value``."""
    # Half a surrogate pair has no UTF-8, and must still have a digest.
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


def parsed_json(text: Any) -> Any:
    """Return ``text`` parsed as JSON within `json_bounds`; if it is no JSON, unchanged."""
    try:
        return load_json(text) if isinstance(text, str) else text
    except ValueError:
        return text


def json_value(value: Any, *, strict: bool = True) -> Any:
    """Return ``value`` in JSON's types: tuples as lists, for example.

    A value that JSON cannot express is invalid; ``None`` is returned if not ``strict``.
    """
    try:
        # There and back: the result is what a reader of the JSON will have.
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        if not strict:
            return None
        raise InvalidValue(f"contains a value that is not JSON: {error}") from error


def _to_plain(value: Any) -> Any:
    """Turn a dataclass or a read-only mapping into a type that `json` can write."""
    if is_dataclass(value) and not isinstance(value, type):
        # Level by level: `asdict` would copy every value first.
        return _get_fields(value)
    if hasattr(value, "keys"):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
