"""``reset`` and ``queries`` of a server: how to reset its state, and how to read it directly."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.base import (
    TEXT,
    InvalidValue,
    any_of,
    build_field,
    describe_value,
    did_you_mean,
    mapping_of,
    object_of,
    parse_entries,
    parse_mapping,
    parse_single_line,
)
from harness.types import ScriptedCall, StateQuery

_QUERY_KEYS = ("sql", "database", "command")
_QUERY_MEANT = "Write 'sql:' with 'database:' (a SQLite file), or 'command:'."


def _parse_reset(value: Any) -> ScriptedCall:
    if not isinstance(value, dict):
        return ScriptedCall(tool=parse_single_line(value))
    _refuse_unknown_keys(value, ("tool", "args"))
    if "tool" not in value:
        meant = "Write 'reset: tool_name', or {tool: …, args: {…}}."
        raise InvalidValue("'tool' is missing", meant=meant)
    arguments = parse_mapping(value.get("args") or {})
    return ScriptedCall(tool=parse_single_line(value["tool"]), arguments=arguments)


def _parse_query(given: Any) -> StateQuery:
    if not isinstance(given, dict):
        raise InvalidValue(f"expected a mapping, found {describe_value(given)}", meant=_QUERY_MEANT)
    _refuse_unknown_keys(given, _QUERY_KEYS)
    for key, text in given.items():
        if not isinstance(text, str) or not text.strip():
            raise InvalidValue(f"expected text, found {describe_value(text)}", path=(key,))
    # Never both, nor halves: which of the two is run would be a guess.
    if given.keys() not in ({"sql", "database"}, {"command"}):
        raise InvalidValue("a query needs SQL and a database, or a command", meant=_QUERY_MEANT)
    return StateQuery(**given)


def _refuse_unknown_keys(given: dict[str, Any], known: tuple[str, ...]) -> None:
    for key in given:
        if key not in known:
            meant = did_you_mean(key, known) or f"It takes {', '.join(known)}."
            raise InvalidValue(f"unknown key {key!r}", path=(key,), meant=meant)


STATE = {
    "reset": build_field(
        "The tool call that resets the server's state before each trial, in place of a new "
        "process. It implies 'isolation: case'.",
        any_of(TEXT, object_of({"tool": TEXT, "args": {"type": ["object", "null"]}}, "tool")),
        _parse_reset,
    ),
    "queries": build_field(
        "Named queries that read its state without the server, for 'end_state:' of a test.",
        mapping_of(
            {
                **object_of(dict.fromkeys(_QUERY_KEYS, TEXT)),
                "oneOf": [{"required": ["sql", "database"]}, {"required": ["command"]}],
            }
        ),
        partial(parse_entries, _parse_query),
    ),
}
"""Keys of a server's entry."""
