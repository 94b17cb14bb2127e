"""``server:`` as a mapping: its keys and their parsers.

Suites and configuration share this format; the JSON Schema of suites is made from the same tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from harness.base import (
    TEXT,
    DocumentReader,
    InvalidValue,
    Layout,
    Steps,
    any_of,
    array_of,
    build_field,
    choice_field,
    decimal_field,
    describe_value,
    flag_field,
    object_of,
    parse_items,
    parse_mapping_or_line,
    parse_single_line,
    refer_to,
    search_pattern,
)
from harness.judging import check_pattern
from harness.sessions import NO_ISOLATION, delivery_of
from harness.suites.config.identity_entries import read_identity
from harness.suites.config.state_entries import STATE
from harness.suites.config.transport_entries import HOW_TO_REACH, read_transport
from harness.types import GuardRails, NamedTool, ServerSpec


def _parse_named_tool(item: Any) -> NamedTool:
    """Parse a tool: its name, or ``{tool, allow_absent}``."""
    if not isinstance(item, dict):
        return NamedTool(tool=parse_single_line(item))
    absent = item.get("allow_absent", False)
    if "tool" not in item or not isinstance(absent, bool) or item.keys() - {"tool", "allow_absent"}:
        raise InvalidValue(
            f"expected a tool's name, found {describe_value(item)}", meant=_BLOCKED_FORM
        )
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
        raise InvalidValue(
            "this regular expression matches every text",
            meant="Write words that only a refusal has.",
        )
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
        raise InvalidValue(
            f"expected true, false or a list of tools, found {describe_value(value)}",
            meant="Write the names as a list: [add_note].",
        )
    return parse_items(_parse_named_tool, value)


ALLOW_WRITES = build_field(
    "Tools that harness may call of its own accord although they are not known "
    "to read (by the built-in baseline, a probe, a study): true for all, or their names.",
    any_of({"type": "boolean"}, array_of(_BLOCK.schema["items"])),
    _parse_allowed,
)
"""``allow_writes:`` of a suite."""


def build_guard_rails(
    reading: DocumentReader, path: Steps, values: Mapping[str, Any]
) -> GuardRails:
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
    given: Mapping[str, Any],
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
