"""``server:`` as a mapping: its keys and their parsers.

Suites and configuration share this format; the JSON Schema of suites is made from the same tables.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from harness.base import (
    TEXT,
    DocumentReader,
    InvalidValue,
    Layout,
    Steps,
    Values,
    any_of,
    array_of,
    build_field,
    choice_field,
    decimal_field,
    describe_value,
    did_you_mean,
    find_dropped_keys,
    flag_field,
    mapping_of,
    object_of,
    parse_entries,
    parse_items,
    parse_mapping,
    parse_mapping_or_line,
    parse_single_line,
    refer_to,
    search_pattern,
)
from harness.judging import check_pattern
from harness.sessions import DELIVERIES, NO_ISOLATION, delivery_of
from harness.suites.config.transport_entries import HOW_TO_REACH, read_transport
from harness.types import (
    GuardRails,
    IdentitySpec,
    JsonObject,
    NamedTool,
    ScriptedCall,
    ServerSpec,
    StateQuery,
)


def identity_layout(via: str | None = None) -> Layout:
    """Return the layout of ``identity:`` as a mapping, with the keys of all deliveries.

    With the name of a delivery, its own keys come before those of the same name, and no other
    package is imported.
    """
    # The first one is that of a server that says nothing of it.
    names = tuple(dict.fromkeys((IdentitySpec().via, *DELIVERIES.list_names())))
    wanted = names if via is None else (*DELIVERIES.built_in_names, via)
    # Of keys with one name, the last one counts.
    known = [DELIVERIES.get(name) for name in dict.fromkeys(wanted)]
    known += [] if via is None else [DELIVERIES.get(via)]
    return Layout(
        fields={
            "via": choice_field("How the user_context is sent to the server.", names),
            **{key: field for delivery in known for key, field in delivery.fields.items()},
        },
        elsewhere={key: advice for one in known for key, advice in one.elsewhere.items()},
    )


def read_identity(
    reading: DocumentReader, path: Steps, value: str | dict[str, Any]
) -> IdentitySpec:
    """Return how identities are sent to the server at ``path``: ``value`` is a name or a mapping.

    ``reading`` collects problems.
    """
    given = value if isinstance(value, dict) else {"via": value}
    via = given.get("via")
    # `read_mapping` reports the unknown name; the default's keys make the rest readable.
    if not isinstance(via, str) or via not in DELIVERIES:
        via = IdentitySpec().via
    values = reading.read_mapping(path, given, identity_layout(via), "identity of the server")
    # Further findings would only follow from the key that is wrong.
    if find_dropped_keys(given, values):
        return IdentitySpec()
    delivery = DELIVERIES.get(via)
    own = {key: values[key] for key in values if key in delivery.fields}
    for key in values.keys() - own.keys() - {"via"}:
        right = next(
            name for name in DELIVERIES.built_in_names if key in DELIVERIES.get(name).fields
        )
        reading.add_key_problem(
            (*path, key),
            f"{key!r} has no effect on identity via {via}.",
            f"Write 'via: {right}', or remove it.",
        )
    identity = IdentitySpec(
        via=via,
        settings={key: part for key, part in own.items() if key not in delivery.plain},
        plain={key: part for key, part in own.items() if key in delivery.plain},
    )
    # Each delivery knows which of its keys go together.
    for wrong, message, advice in delivery_of(identity).find_problems(own.keys()):
        if wrong is None:
            reading.add_problem(path, message, advice)
        else:
            reading.add_key_problem((*path, wrong), message, advice)
    return identity


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


def _parse_named_tool(item: Any) -> NamedTool:
    """Parse a tool: its name, or ``{tool, allow_absent}``."""
    if not isinstance(item, dict):
        return NamedTool(tool=parse_single_line(item))
    absent = item.get("allow_absent", False)
    if "tool" not in item or not isinstance(absent, bool) or item.keys() - {"tool", "allow_absent"}:
        message = f"expected a tool's name, found {describe_value(item)}"
        raise InvalidValue(message, meant=_BLOCKED_FORM)
    return NamedTool(tool=parse_single_line(item["tool"]), allow_absent=absent)


_BLOCKED_FORM = (
    "Write the name alone, or {tool: NAME, allow_absent: true} if it is in no server's list."
)
_BLOCK = build_field(
    "Tools to which no call is ever sent.",
    array_of(
        any_of(
            TEXT,
            object_of(
                {
                    "tool": TEXT,
                    "allow_absent": {
                        "type": "boolean",
                        "description": "true: no server is expected to list this tool",
                    },
                },
                "tool",
            ),
        )
    ),
    partial(parse_items, _parse_named_tool),
)


def _parse_refusal(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidValue(f"expected text, found {describe_value(value)}")
    check_pattern(value)
    # Such a pattern would turn every answer of the server into a refusal.
    if search_pattern(value, "") is not None:
        message = "this regular expression matches every text"
        raise InvalidValue(message, meant="Write words that only a refusal has.")
    return value


_REFUSALS = build_field(
    "Regular expressions of the server's own words for refusing a caller.",
    array_of(TEXT),
    partial(parse_items, _parse_refusal),
)


def _parse_allowed(value: Any) -> bool | tuple[NamedTool, ...]:
    """Parse ``true``, or a list of tools as under ``block``."""
    # False is the default, and may be written out.
    if isinstance(value, bool):
        return value
    if not isinstance(value, list):
        message = f"expected true, false or a list of tools, found {describe_value(value)}"
        raise InvalidValue(message, meant="Write the names as a list: [add_note].")
    return parse_items(_parse_named_tool, value)


ALLOW_WRITES = build_field(
    "Tools that harness may call of its own accord although they are not known "
    "to read (by the built-in baseline, a probe, a study): true for all, or their names.",
    any_of({"type": "boolean"}, array_of(_BLOCK.schema["items"])),
    _parse_allowed,
)
"""``allow_writes:`` of a suite."""


def build_guard_rails(reading: DocumentReader, path: Steps, values: Values) -> GuardRails:
    """Return the guard rails of a server or a suite: ``read_only``, ``block``, ``allow_writes``."""

    def locate_tools(key: str) -> tuple[NamedTool, ...]:
        named = values.get(key, ())
        return tuple(
            replace(one, at=reading.document.locate((*path, key, index)))
            for index, one in enumerate(() if isinstance(named, bool) else named)
        )

    blocked = locate_tools("block")
    return GuardRails(
        read_only=values.get("read_only", False),
        block=tuple(one.tool for one in blocked),
        blocked=blocked,
        allow_writes=values.get("allow_writes") is True,
        allowed=locate_tools("allow_writes"),
    )


HANDLING = {
    "isolation": choice_field(
        "Who shares a process: all trials of one user (identity), no two trials (case), or all "
        "users (none; only with identity by 'meta').",
        ("identity", "case", "none"),
    ),
    "read_only": flag_field("Never send calls to tools that are not marked read-only."),
    "block": _BLOCK,
}
"""Settings for the use of a server: in its entry they apply to all suites, in a suite to that
suite."""

SERVER = Layout(
    {
        **HOW_TO_REACH,
        "protocol": choice_field("The MCP protocol revision.", ("auto", "legacy", "2026-07-28")),
        "identity": build_field(
            "How the caller's identity (user_context) is sent to the server.",
            any_of({"$ref": "#/$defs/identity/properties/via"}, refer_to("identity")),
            parse_mapping_or_line,
        ),
        "start_timeout": decimal_field(
            "Seconds from launch to a complete list of tools.", unit="seconds", default=30
        ),
        "call_timeout": decimal_field(
            "Seconds that one tool call may take.", unit="seconds", default=30
        ),
        "refusals": _REFUSALS,
        **HANDLING,
        **STATE,
    },
    {
        "name": (
            "Named servers are defined under 'servers:' in harness.yml; here, write 'server: "
            "that_name'."
        ),
        "timeout": "Use 'start_timeout' or 'call_timeout'.",
    },
)
"""Layout of ``server:`` of a suite, as a mapping."""

_RENAMED = {"start_timeout": "start_timeout_s", "call_timeout": "call_timeout_s"}
_OF_PARTS = {*HOW_TO_REACH, "protocol", "identity", "read_only", "block"}


def read_server(
    reading: DocumentReader,
    path: Steps,
    given: JsonObject,
    name: str,
    *,
    layout: Layout = SERVER,
    called: str = "the server",
) -> ServerSpec:
    """Return the server that the mapping ``given`` at ``path`` describes, named ``name``.

    ``called`` is its name in messages. References such as ``${TOKEN}`` stay unexpanded; ``reading``
    collects problems.
    """
    values = reading.read_mapping(path, given, layout, called)
    transport = read_transport(reading, path, given, values, called)
    identity = read_identity(reading, (*path, "identity"), values.get("identity", "meta"))
    # One process for all users can tell them apart only by each request.
    if values.get("isolation") == "none" and not delivery_of(identity).is_in_each_message:
        message = f"isolation 'none' needs identity 'meta', and this is {identity.via!r}."
        reading.add_problem((*path, "isolation"), message, NO_ISOLATION)
    # A reset takes back what the last trial did: no other may be using the server meanwhile.
    if "reset" in values:
        values.setdefault("isolation", "case")
    own = {_RENAMED.get(key, key): value for key, value in values.items() if key not in _OF_PARTS}
    return ServerSpec(
        **own,
        name=name,
        transport=transport,
        guard=build_guard_rails(reading, path, values),
        identity=identity,
        at=reading.document.locate(path),
    )
