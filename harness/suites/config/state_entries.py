"""``reset`` and ``queries`` of a server: how to reset its state, and how to read it directly."""

from __future__ import annotations

from typing import Any

from harness.base import (
    Field,
    InvalidValue,
    describe_value,
    did_you_mean,
    parse_mapping,
    parse_single_line,
)
from harness.types import ScriptedCall, StateQuery

_TEXT = {"type": "string", "pattern": r"\S"}
_CALL_KEYS = ("tool", "args")
_QUERY_KEYS = ("sql", "database", "command")
_QUERY_MEANT = "Write 'sql:' with 'database:' (a SQLite file), or 'command:'."


def _parse_reset(value: Any) -> ScriptedCall:
    if not isinstance(value, dict):
        return ScriptedCall(tool=parse_single_line(value))
    _refuse_unknown_keys(value, _CALL_KEYS, ())
    if "tool" not in value:
        raise InvalidValue(
            "'tool' is missing", meant="Write 'reset: tool_name', or {tool: …, args: {…}}."
        )
    return ScriptedCall(
        tool=parse_single_line(value["tool"]), arguments=parse_mapping(value.get("args") or {})
    )


def _parse_queries(value: Any) -> dict[str, StateQuery]:
    return {name: _parse_query(name, given) for name, given in parse_mapping(value).items()}


def _parse_query(name: str, given: Any) -> StateQuery:
    if not isinstance(given, dict):
        raise InvalidValue(
            f"expected a mapping, found {describe_value(given)}", path=(name,), meant=_QUERY_MEANT
        )
    _refuse_unknown_keys(given, _QUERY_KEYS, (name,))
    texts: dict[str, str] = {}
    for key, text in given.items():
        if not isinstance(text, str) or not text.strip():
            raise InvalidValue(f"expected text, found {describe_value(text)}", path=(name, key))
        texts[key] = text
    # Never both, nor halves: which of the two is run would be a guess.
    if texts.keys() not in ({"sql", "database"}, {"command"}):
        raise InvalidValue(
            "a query needs SQL and a database, or a command", path=(name,), meant=_QUERY_MEANT
        )
    return StateQuery(**texts)


def _refuse_unknown_keys(
    given: dict[str, Any], known: tuple[str, ...], path: tuple[str, ...]
) -> None:
    for key in given:
        if key not in known:
            meant = did_you_mean(key, known) or f"It takes {', '.join(known)}."
            raise InvalidValue(f"unknown key {key!r}", path=(*path, key), meant=meant)


STATE = {
    "reset": Field(
        schema={
            "anyOf": [
                _TEXT,
                {
                    "type": "object",
                    "properties": {"tool": _TEXT, "args": {"type": ["object", "null"]}},
                    "required": ["tool"],
                    "additionalProperties": False,
                },
            ],
            "description": (
                "The tool call that resets the server's state before each trial, in place of a "
                "new process. It implies 'isolation: case'."
            ),
        },
        parse=_parse_reset,
    ),
    "queries": Field(
        schema={
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": dict.fromkeys(_QUERY_KEYS, _TEXT),
                "oneOf": [{"required": ["sql", "database"]}, {"required": ["command"]}],
                "additionalProperties": False,
            },
            "description": (
                "Named queries that read its state without the server, for 'end_state:' of a test."
            ),
        },
        parse=_parse_queries,
    ),
}
"""Keys of a server's entry."""
