"""Alters answers: for each kind of fault that alters one, what the model is shown instead.

Every change is chosen by a digest of the fault's seed and of the value itself, so equal answers are
altered equally, and the text of a result and its structured content alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, TypeAlias

from harness.base import digest_json
from harness.types import FaultKind, ToolCall, dataclass

_SCALARS = (str, int, float, bool)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w]|\.\d)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LAST_DIGIT = re.compile(r"\d(?=\D*$)")
_LABEL = re.compile(r"^([A-Za-z]\w*)(?=\s*[:=])", re.MULTILINE)
_BROKEN = "\N{REPLACEMENT CHARACTER}"
_EVERY = 7
"""Of a text without JSON, one of so many characters is broken."""


@dataclass(frozen=True, slots=True)
class AlteredAnswer:
    """A result as the model is shown it."""

    text: str
    """Its text."""
    structured: Any = None
    """Its structured content, if it still has some."""


Change: TypeAlias = Callable[[Any], Any]
"""Returns a JSON value as altered."""


def alter_answer(
    kind: FaultKind, call: ToolCall, earlier: Sequence[ToolCall], seed: int
) -> AlteredAnswer | None:
    """Return the good answer of ``call`` as ``kind`` alters it; ``None`` if there is nothing to.

    ``earlier`` are the good answers that the model was shown before, in order.
    """
    if kind == "empty":
        altered = AlteredAnswer("")
    elif kind == "truncated":
        altered = AlteredAnswer(call.text[: len(call.text) // 2])
    elif kind == "corrupt":
        altered = AlteredAnswer(_corrupt_text(call.text))
    elif kind == "partial":
        altered = alter_values(call, _keep_first_rows, _keep_first_lines)
    elif kind == "schema_drift":
        altered = _rename_field(call, seed)
    elif kind == "stale":
        altered = _repeat_earlier(call, earlier)
    else:
        altered = _repeat_other_record(call, earlier) or _falsify_values(call, seed)
    # The text is what every model reads.
    if altered.text == call.text:
        return None
    # SDKs wrap a plain text: ``{"content": …}``. An agent that reads that sees the same.
    whole = _replace_text(altered.structured, call.text, altered.text)
    return AlteredAnswer(altered.text, whole)


def _replace_text(value: Any, old: str, new: str) -> Any:
    if isinstance(value, Mapping):
        return {key: _replace_text(part, old, new) for key, part in value.items()}
    if isinstance(value, list):
        return [_replace_text(item, old, new) for item in value]
    return new if isinstance(value, str) and value == old else value


# ── Values in texts ──────────────────────────────────────────────────────────────────────────


def _read_documents(text: str) -> list[Any] | None:
    """Return the JSON values that ``text`` consists of; ``None`` if it is no JSON.

    SDKs send a list as several texts, one for each item.
    """
    if not text.lstrip().startswith(("{", "[")):
        return None
    decoder, place, found = json.JSONDecoder(), 0, []
    try:
        while rest := text[place:].lstrip():
            place = len(text) - len(rest)
            value, place = decoder.raw_decode(text, place)
            found.append(value)
    except (ValueError, RecursionError):
        return None
    return found


def _write_documents(values: Sequence[Any], like: str) -> str:
    """Return ``values`` as JSON, indented as ``like`` is."""
    indent = 2 if "\n  " in like else None
    close = (",", ":") if indent is None and '":' in like and '": ' not in like else None
    return "\n".join(
        json.dumps(value, ensure_ascii=False, indent=indent, separators=close) for value in values
    )


def alter_values(call: ToolCall, change: Change, reword: Callable[[str], str]) -> AlteredAnswer:
    """Return the answer with ``change`` made to its JSON, or ``reword`` to a text without any."""
    values = _read_documents(call.text)
    structured = None if call.structured is None else change(call.structured)
    if values is None:
        return AlteredAnswer(reword(call.text), structured)
    # Several values are the items of one list.
    now = change(values) if len(values) > 1 else [change(values[0])]
    text = call.text if now == values else _write_documents(now, call.text)
    return AlteredAnswer(text, structured)


# ── Kinds ────────────────────────────────────────────────────────────────────────────────────


def _corrupt_text(text: str) -> str:
    if _read_documents(text) is not None:
        # A key that is not closed, and an end that is missing.
        return text.rstrip()[:-1].replace('":', ":", 1)
    return "".join(
        _BROKEN if place % _EVERY == _EVERY // 2 and not char.isspace() else char
        for place, char in enumerate(text)
    )


def _keep_first_rows(value: Any) -> Any:
    """Return ``value`` with the first half of its outermost list of several rows."""
    if isinstance(value, list):
        if len(value) > 1:
            return value[: len(value) // 2]
        return [_keep_first_rows(item) for item in value]
    if isinstance(value, Mapping):
        for key, part in value.items():
            if (kept := _keep_first_rows(part)) != part:
                return {**value, key: kept}
    return value


def _keep_first_lines(text: str) -> str:
    lines = text.splitlines()
    return "\n".join(lines[: len(lines) // 2]) if len(lines) > 1 else text


def _rename_field(call: ToolCall, seed: int) -> AlteredAnswer:
    values = _read_documents(call.text)
    source = call.structured if values is None else values
    names = sorted(set(_find_fields(source)))
    if values is None:  # a field that the text does not have would be renamed unseen
        names = [name for name in names if re.search(rf"\b{re.escape(name)}\b", call.text)]
    if not names:
        labels = sorted(set(_LABEL.findall(call.text)))
        if not labels:
            return AlteredAnswer(call.text, call.structured)
        label = labels[_choose(seed, labels, len(labels))]
        pattern = re.compile(rf"^{re.escape(label)}(?=\s*[:=])", re.MULTILINE)
        return AlteredAnswer(pattern.sub(_build_other_name(label), call.text), call.structured)
    name = names[_choose(seed, names, len(names))]
    other = _build_other_name(name)

    def rename(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {other if key == name else key: rename(part) for key, part in value.items()}
        return [rename(item) for item in value] if isinstance(value, list) else value

    label = re.compile(rf"\b{re.escape(name)}\b")
    return alter_values(call, rename, lambda text: label.sub(other, text))


def _find_fields(value: Any) -> Iterator[str]:
    """Yield the names of the fields that hold plain values."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            if isinstance(part, _SCALARS):
                yield key
            yield from _find_fields(part)
    elif isinstance(value, list):
        for item in value:
            yield from _find_fields(item)


def _build_other_name(name: str) -> str:
    """Return ``name`` as a later version of a server might spell it: camel case, or a suffix."""
    first, *rest = name.split("_")
    camel = first + "".join(part.capitalize() for part in rest)
    return camel if camel != name else f"{name}_value"


def _repeat_earlier(call: ToolCall, earlier: Sequence[ToolCall]) -> AlteredAnswer:
    """Return the last answer before, of the same tool if there is one, as a cache would."""
    others = [one for one in earlier if one.text != call.text]
    own = [one for one in others if one.tool == call.tool]
    if not others:
        return AlteredAnswer(call.text, call.structured)
    last = (own or others)[-1]
    return AlteredAnswer(last.text, last.structured)


def _repeat_other_record(call: ToolCall, earlier: Sequence[ToolCall]) -> AlteredAnswer | None:
    """Return what the same tool said of something else, if it was asked."""
    for one in reversed(earlier):
        if one.tool == call.tool and one.arguments != call.arguments and one.text != call.text:
            return AlteredAnswer(one.text, one.structured)
    return None


def _falsify_values(call: ToolCall, seed: int) -> AlteredAnswer:
    """Return the answer with other numbers, dates and ids than it had, but for those asked for."""
    asked = set(_list_texts(call.arguments))

    def change_number(found: re.Match[str]) -> str:
        return str(change(json.loads(found[0]))) if _is_number(found[0]) else found[0]

    def reword(text: str) -> str:
        parts = _DATE.split(text)
        dates = [change(found) for found in _DATE.findall(text)]
        told = [_NUMBER.sub(change_number, part) for part in parts]
        return told[0] + "".join(day + part for day, part in zip(dates, told[1:], strict=True))

    def change(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: change(part) for key, part in value.items()}
        if isinstance(value, list):
            return [change(item) for item in value]
        if value is None or str(value) in asked:
            return value
        return _falsify_scalar(value, 1 + _choose(seed, str(value), 6))

    return alter_values(call, change, reword)


def _falsify_scalar(value: Any, step: int) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + step
    if isinstance(value, float):
        return round(value + step, max(2, len(repr(value).partition(".")[2])))
    if _DATE.match(value):
        try:
            return (date.fromisoformat(value[:10]) + timedelta(days=step)).isoformat() + value[10:]
        except (ValueError, OverflowError):
            return value
    return _LAST_DIGIT.sub(lambda found: str((int(found[0]) + step) % 10), value)


def _is_number(text: str) -> bool:
    # JSON has no number with a leading zero; such digits are part of a code or a time.
    return text == "0" or not text.startswith("0") or text.startswith("0.")


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _list_texts(part)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _list_texts(item)
    else:
        yield str(value)


def _choose(seed: int, value: Any, amount: int) -> int:
    """Return a number below ``amount``, by ``seed`` and ``value``."""
    return int(digest_json([seed, value])[:8], 16) % amount


def falls_below(rate: float, parts: Sequence[str | int], /) -> bool:
    """Whether a share ``rate`` of all such ``parts`` includes these."""
    return int(digest_json(list(parts))[:12], 16) < rate * 16**12
