"""``server:`` as a mapping in a file: its keys, and how it is read.

Suites and configuration write servers alike; the JSON Schema of suites comes from the same tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.documents.document import Steps
from harness.documents.fields import (
    Field,
    Layout,
    arguments,
    as_mapping_or_line,
    choice,
    flag,
    line,
    lines,
    number,
    texts_by_name,
)
from harness.documents.reading import Reading, dropped
from harness.types import IdentitySpec, ServerSpec

IDENTITY = Layout(
    fields={
        "via": choice("How the user_context travels.", ("meta", "env", "header", "bearer")),
        "variables": texts_by_name("via env: variable → template, such as {role}."),
        "json_variable": line("via env: the variable that holds the whole user_context as JSON."),
        "headers": texts_by_name("via header: HTTP header → template, such as {role}."),
    },
    elsewhere={},
)
"""``identity:`` of a server, written out."""


HANDLING = {
    "isolation": choice("When a fresh process is started: for each user, or for each test.", ("identity", "case")),
    "read_only": flag("Refuse to send calls to tools that are not marked read-only."),
    "block": lines("Tools to which no call is ever sent."),
}
"""How a server is handled: a server's entry says it for all suites, a suite for itself."""

_SERVER_FIELDS = {
    "command": line("The program to start; it speaks MCP on its stdin and stdout.", required=True),
    "args": arguments("Its arguments."),
    "env": texts_by_name("Variables added to the few that a server inherits; ${NAME} takes one of yours."),
    "cwd": line("The folder it is started in; without it, the current one."),
    "protocol": choice("The revision of MCP to speak.", ("auto", "legacy", "2026-07-28")),
    "identity": Field(
        schema={
            "anyOf": [IDENTITY.fields["via"].schema, {"$ref": "#/$defs/identity"}],
            "description": "How the server is told who asks (user_context).",
        },
        parse=as_mapping_or_line,
    ),
    "start_timeout": number("Seconds from launch to a complete list of tools.", unit="seconds", default=30),
    "call_timeout": number("Seconds that one tool call may take.", unit="seconds", default=30),
    **HANDLING,
}
_BY_COMMAND = "A suite's server is started as a process: give 'command' and 'args'."
SERVER = Layout(
    fields=_SERVER_FIELDS,
    elsewhere={
        "url": _BY_COMMAND,
        "headers": _BY_COMMAND,
        "type": _BY_COMMAND,
        "transport": _BY_COMMAND,
        "name": "Servers that have a name stand under 'servers:' in harness.yml; here, write 'server: that_name'.",
        "timeout": "Use 'start_timeout' or 'call_timeout'.",
    },
)
"""``server:`` of a suite, written out."""

_RENAMED = {"start_timeout": "start_timeout_s", "call_timeout": "call_timeout_s"}
_VIA = {"variables": "env", "json_variable": "env", "headers": "header"}


def read_server(
    reading: Reading,
    path: Steps,
    given: Mapping[str, Any],
    name: str,
    *,
    layout: Layout = SERVER,
    called: str = "the server",
) -> ServerSpec:
    """Return the server that the mapping ``given`` at ``path`` describes, to be named ``name``.

    Messages speak of it as ``called``.
    References such as ``${TOKEN}`` are kept as they stand; problems are kept by ``reading``.
    """
    values = reading.record(path, given, layout, called)
    identity = _identity(reading, (*path, "identity"), values.pop("identity", "meta"))
    fields = {_RENAMED.get(key, key): value for key, value in values.items()}
    return ServerSpec(**fields, name=name, identity=identity, at=reading.document.at(path))


def _identity(reading: Reading, path: Steps, value: str | dict[str, Any]) -> IdentitySpec:
    given = value if isinstance(value, dict) else {"via": value}
    values = reading.record(path, given, IDENTITY, "identity of the server")
    identity = IdentitySpec(**values)
    if not dropped(given, values):
        _require_effect(reading, path, given, identity)
    return identity


def _require_effect(reading: Reading, path: Steps, given: Mapping[str, Any], identity: IdentitySpec) -> None:
    """Refuse settings that another way of telling would need, and a way that lacks its own."""
    for key, via in _VIA.items():
        if key in given and identity.via != via:
            message = f"{key!r} has no effect on identity via {identity.via}."
            reading.problem(reading.document.at_key((*path, key)), message, f"Write 'via: {via}', or remove it.")
    if identity.via == "env" and not (identity.variables or identity.json_variable):
        message = "identity via env names no variable."
        reading.problem(reading.document.at(path), message, "Add 'json_variable: NAME', or 'variables:'.")
    if identity.via == "header" and not identity.headers:
        reading.problem(reading.document.at(path), "identity via header names no header.", "Add 'headers:'.")
