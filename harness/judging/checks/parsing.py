"""Readers for the values of checks, with errors that say what is wrong and what was meant.

One rule for all kinds: whatever has a short form (a text, a number, a name, a list) also has a long
one, a mapping with the same value under its own key, which additionally takes ``severity: warn``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from harness.base import SHARE as A_SHARE
from harness.base import InvalidValue, did_you_mean, parse_share
from harness.judging.matching.json_values import format_value, is_number, to_plain_json, type_name
from harness.judging.matching.matchers import check_matcher
from harness.judging.matching.texts import fold_text
from harness.types import JsonObject, JsonPath

SEVERITY: JsonObject = {
    "enum": ["fail", "warn"],
    "description": "warn: a failure is shown and decides nothing",
}
"""Schema of ``severity``."""

TEXT: JsonObject = {"type": "string", "pattern": r"\S"}
"""Schema of a text that is not blank."""

ALLOW_ABSENT: JsonObject = {
    "type": "boolean",
    "description": "true: it is meant that no server lists such a tool",
}
"""Schema of ``allow_absent``, which stands beside ``tool``."""

CALL: JsonObject = {
    "anyOf": [
        TEXT,
        {
            "type": "object",
            "properties": {"tool": TEXT, "args": {"type": "object"}, "allow_absent": ALLOW_ABSENT},
            "required": ["tool"],
            "additionalProperties": False,
        },
    ]
}
"""Schema of a call in a list: a tool's name, or ``{tool, args}``."""

# Other words for these keys, too unlike them for `did_you_mean`.
_MEANT_KEYS = {
    **dict.fromkeys(("arguments", "params", "parameters", "with", "input"), "args"),
    **dict.fromkeys(("name", "tool_name", "function", "expected_tool"), "tool"),
    **dict.fromkeys(("count", "exactly"), "times"),
    **dict.fromkeys(("regex", "matches"), "pattern"),
}


def long_form(properties: JsonObject, required: Sequence[str]) -> JsonObject:
    """Return the schema of a mapping with these keys and ``severity``.

    With a ``tool`` among the keys, ``allow_absent`` is allowed, too.
    """
    absent = {"allow_absent": ALLOW_ABSENT} if "tool" in properties else {}
    return {
        "type": "object",
        "properties": {**properties, **absent, "severity": SEVERITY},
        "required": list(required),
        "additionalProperties": False,
    }


def either_form(key: str, value: JsonObject, **more: JsonObject) -> JsonObject:
    """Return the schema of a value, or of a mapping with it under ``key`` and with ``more``."""
    return {
        "anyOf": [*value.get("anyOf", [value]), long_form({key: value, **more}, required=(key,))]
    }


CALL_CHECK = either_form("tool", TEXT, args={"type": "object"})
"""Schema of a check of one call: as `CALL`, and with a severity."""


def read_either_form(
    value: Any,
    path: JsonPath,
    key: str,
    read: Callable[[Any, JsonPath], Any],
    *,
    optional: Sequence[str] = (),
) -> dict[str, Any]:
    """Return ``{key: …}``, read from a value or from a mapping, with what else it has.

    Raises:
        InvalidValue: it is neither.
    """
    if not isinstance(value, Mapping):
        return {key: read(value, path)}
    found = read_mapping(value, path, required=(key,), optional=optional)
    return found | {key: read(found[key], (*path, key))}


def read_mapping(
    value: Any, path: JsonPath, *, required: Sequence[str] = (), optional: Sequence[str] = ()
) -> dict[str, Any]:
    """Return ``value`` as a dict of plain JSON with all required keys and no unknown one.

    Raises:
        InvalidValue: it is not a mapping, a key is missing or unknown, or a value is not JSON.
    """
    if not isinstance(value, Mapping):
        raise InvalidValue(f"this is {describe_type(value)} where a mapping belongs", path=path)
    found: dict[str, Any] = to_plain_json(value, path)
    known = [*required, *optional]
    known += ["allow_absent", "severity"] if "tool" in known else ["severity"]
    for key in found:
        if key not in known:
            meant = _suggest_key(key, known)
            raise InvalidValue(f"unknown key {key!r}", path=(*path, key), meant=meant)
    for key in required:
        if key not in found:
            meant = f"It takes {', '.join(known)}."
            raise InvalidValue(f"{key!r} is missing", path=path, meant=meant)
    if (severity := found.get("severity", "fail")) not in ("fail", "warn"):
        words = f"severity is fail or warn, not {format_value(severity)}"
        raise InvalidValue(words, path=(*path, "severity"))
    if not isinstance(absent := found.get("allow_absent", False), bool):
        words = f"allow_absent is true or false, not {format_value(absent)}"
        raise InvalidValue(words, path=(*path, "allow_absent"))
    if "allow_absent" in found and "tool" not in found:
        words = "allow_absent needs the tool that may be absent"
        raise InvalidValue(words, path=(*path, "allow_absent"))
    return found


def _suggest_key(key: str, known: Sequence[str]) -> str:
    if _MEANT_KEYS.get(key) in known:
        return f"Did you mean {_MEANT_KEYS[key]!r}?"
    if near := did_you_mean(key, known):
        return near
    # A key like no other is often the name of a tool, with its arguments as the value.
    if "tool" in known:
        return f"If {key!r} is a tool, write `tool: {key}` and its arguments under `args:`."
    return f"It takes {', '.join(known)}."


def describe_type(value: Any) -> str:
    """Return the type of a YAML value in words: ``a list``, ``a number`` …"""
    names = {"array": "a list", "object": "a mapping", "null": "empty", "boolean": "true or false"}
    try:
        name = type_name(to_plain_json(value))
    # YAML has types that JSON does not have, such as dates.
    except InvalidValue:
        name = type(value).__name__
    return names.get(name, f"a {name}")


def read_text(value: Any, path: JsonPath, what: str = "text") -> str:
    """Return ``value``, which must be a string that is not blank.

    Raises:
        InvalidValue: it is not.
    """
    if not isinstance(value, str):
        scalar = isinstance(value, bool | int | float)
        meant = f'Quote it: "{format_value(value)}".' if scalar else None
        words = f"this is {describe_type(value)} where a {what} belongs"
        raise InvalidValue(words, path=path, meant=meant)
    # Called for what it refuses: half of a surrogate pair.
    to_plain_json(value, path)
    # Folded, as it is compared: of hidden characters alone, nothing is left to be found.
    if not fold_text(value):
        raise InvalidValue(f"this {what} is empty", path=path)
    return value


def read_texts(value: Any, path: JsonPath, what: str = "text") -> list[str]:
    """Return ``value``, which must be a list of at least one text.

    Raises:
        InvalidValue: it is not.
    """
    if not isinstance(value, list | tuple) or not value:
        words = f"this is {describe_type(value)} where a list of {what}s belongs"
        raise InvalidValue(words, path=path)
    return [read_text(item, (*path, index), what) for index, item in enumerate(value)]


def read_number(value: Any, path: JsonPath, *, at_least: float | None = None) -> float:
    """Return ``value``, which must be a number, and not less than ``at_least``.

    Raises:
        InvalidValue: it is not.
    """
    if not is_number(value):
        raise InvalidValue(f"this is {describe_type(value)} where a number belongs", path=path)
    # It refuses infinity, NaN and whole numbers that no float can hold.
    found: float = to_plain_json(value, path)
    if at_least is not None and found < at_least:
        raise InvalidValue(f"{format_value(value)} is less than {at_least:g}", path=path)
    return found


def read_whole_number(value: Any, path: JsonPath, *, at_least: int) -> int:
    """Return ``value``, which must be a whole number from ``at_least`` on.

    Raises:
        InvalidValue: it is not.
    """
    found = read_number(value, path, at_least=at_least)
    if found != int(found):
        raise InvalidValue(f"{format_value(value)} is not a whole number", path=path)
    return int(found)


SHARE: JsonObject = {**A_SHARE, "default": 1}
"""Schema of what `read_share` reads."""


def read_share(value: Any, path: JsonPath) -> float:
    """Return ``value``, which must be a number above 0 and up to 1.

    Raises:
        InvalidValue: it is not.
    """
    try:
        return parse_share(
            value, lambda other: format_value(other) if is_number(other) else describe_type(other)
        )
    except InvalidValue as error:
        # The same error, with the place of this value.
        raise InvalidValue(error.message, path=path, meant=error.meant) from error


def read_call(value: Any, path: JsonPath, *, more: Sequence[str] = ()) -> dict[str, Any]:
    """Return ``{"tool": …, "args": {…}}``, with severity and keys of ``more`` if given.

    ``value`` is a name or a mapping.

    Raises:
        InvalidValue: it is neither, the name is blank, or the arguments are not a mapping of values
            and matchers.
    """
    if not isinstance(value, Mapping):
        return {"tool": read_text(value, path, "tool name"), "args": {}}
    found = read_mapping(value, path, required=("tool",), optional=("args", *more))
    read_text(found["tool"], (*path, "tool"), "tool name")
    return found | {"args": read_arguments(found.get("args", {}), (*path, "args"))}


def read_calls(value: Any, path: JsonPath, *, at_least: int) -> list[dict[str, Any]]:
    """Return a list of calls, none of which carries a severity.

    Raises:
        InvalidValue: it is not a list, shorter than ``at_least``, or an item is not a call.
    """
    if not isinstance(value, list | tuple):
        words = f"this is {describe_type(value)} where a list of tools belongs"
        raise InvalidValue(words, path=path)
    if len(value) < at_least:
        words = f"this list needs at least {at_least} tool{'s' if at_least > 1 else ''}"
        raise InvalidValue(words, path=path)
    found = [read_call(item, (*path, index)) for index, item in enumerate(value)]
    for index, item in enumerate(found):
        if "severity" in item:
            raise InvalidValue(
                "a severity belongs to the whole check, not to one of its tools",
                path=(*path, index, "severity"),
                meant="Write {calls: […], severity: warn}.",
            )
    return found


def call_list(value: Any, *, more: Sequence[str] = (), at_least: int = 1) -> dict[str, Any]:
    """Return ``{"calls": […]}``, with severity and keys of ``more`` if given.

    ``value`` is a list or ``{calls: […]}``.

    Raises:
        InvalidValue: it is neither, or a call in it is invalid.
    """
    return read_either_form(
        value, (), "calls", partial(read_calls, at_least=at_least), optional=more
    )


def check_model(found: JsonObject) -> JsonObject:
    """Return ``found``, whose ``model``, if it has one, must be the name of a judge.

    Raises:
        InvalidValue: it is not.
    """
    if "model" in found:
        read_text(found["model"], ("model",), "model")
    return found


def check_tool(found: dict[str, Any], path: JsonPath) -> dict[str, Any]:
    """Return ``found``, whose ``tool`` and ``args``, if it has them, must be a call's.

    Raises:
        InvalidValue: they are not, or there are arguments without a tool.
    """
    if "args" in found and "tool" not in found:
        raise InvalidValue("args need a tool to belong to", path=(*path, "args"))
    if "tool" in found:
        read_text(found["tool"], (*path, "tool"), "tool name")
    if "args" in found:
        read_arguments(found["args"], (*path, "args"))
    return found


def read_arguments(value: Any, path: JsonPath) -> dict[str, Any]:
    """Return the arguments of a call: a mapping of names to values, or a matcher for all of them.

    Raises:
        InvalidValue: it is not a mapping, or a matcher in it is invalid.
    """
    if not isinstance(value, Mapping):
        raise InvalidValue(
            f"args is {describe_type(value)} where a mapping of names to values belongs",
            path=path,
            meant="Leave it out, or write {}, to accept any arguments; for none, {$equals: {}}."
            if value is None
            else None,
        )
    found: dict[str, Any] = to_plain_json(value, path)
    check_matcher(found, path)
    return found


def true_or_tool(value: Any) -> JsonObject:
    """Return the params of a check on all calls (``true``) or on one tool's (``{tool: name}``).

    Raises:
        InvalidValue: it is neither.
    """
    if value is True:
        return {}
    if not isinstance(value, Mapping):
        meant = "Leave it out if it is not asked for." if value is False else None
        words = f"this is {describe_type(value)} where `true` or {{tool: …}} belongs"
        raise InvalidValue(words, meant=meant)
    return check_tool(read_mapping(value, (), optional=("tool",)), ())


TRUE_OR_TOOL: JsonObject = {"anyOf": [{"const": True}, long_form({"tool": TEXT}, required=())]}
"""Schema of what `true_or_tool` reads."""
