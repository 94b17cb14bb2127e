"""``reset`` and ``queries`` of a server: how to reset its state, and how to read it directly."""

from __future__ import annotations

from typing import Any

from harness.base import Field, InvalidValue, as_line, as_mapping, did_you_mean, found
from harness.types import ScriptedCall, StateQuery

_TEXT = {"type": "string", "pattern": r"\S"}
_CALL_KEYS = ("tool", "args")
_QUERY_KEYS = ("sql", "database", "command")
_QUERY_MEANT = "Write 'sql:' with 'database:' (a SQLite file), or 'command:'."


def _reset(value: Any) -> ScriptedCall:
    if not isinstance(value, dict):
        return ScriptedCall(tool=as_line(value))
    _only(value, _CALL_KEYS, ())
    if "tool" not in value:
        raise InvalidValue(
            "'tool' is missing", meant="Write 'reset: tool_name', or {tool: …, args: {…}}."
        )
    return ScriptedCall(tool=as_line(value["tool"]), arguments=as_mapping(value.get("args") or {}))


def _queries(value: Any) -> dict[str, StateQuery]:
    return {name: _query(name, given) for name, given in as_mapping(value).items()}


def _query(name: str, given: Any) -> StateQuery:
    if not isinstance(given, dict):
        raise InvalidValue(
            f"expected a mapping, found {found(given)}", path=(name,), meant=_QUERY_MEANT
        )
    _only(given, _QUERY_KEYS, (name,))
    texts: dict[str, str] = {}
    for key, text in given.items():
        if not isinstance(text, str) or not text.strip():
            raise InvalidValue(f"expected text, found {found(text)}", path=(name, key))
        texts[key] = text
    if texts.keys() not in ({"sql", "database"}, {"command"}):
        raise InvalidValue(
            "a query needs SQL and a database, or a command", path=(name,), meant=_QUERY_MEANT
        )
    return StateQuery(**texts)


def _only(given: dict[str, Any], known: tuple[str, ...], path: tuple[str, ...]) -> None:
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
        parse=_reset,
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
        parse=_queries,
    ),
}
"""Keys of a server's entry."""
