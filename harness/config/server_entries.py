"""``server:`` as a mapping in a file: its keys, and how it is read.

Suites and configuration write servers alike; the JSON Schema of suites comes from the same tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.config.identity_entries import IDENTITY, read_identity
from harness.config.state_entries import STATE
from harness.config.transport_entries import HOW_TO_REACH, settle_transport
from harness.documents.document import Steps
from harness.documents.fields import (
    Field,
    Layout,
    as_mapping_or_line,
    choice,
    flag,
    lines,
    number,
)
from harness.documents.reading import Reading
from harness.types import ServerSpec

HANDLING = {
    "isolation": choice("When a fresh process is started: for each user, or for each test.", ("identity", "case")),
    "read_only": flag("Refuse to send calls to tools that are not marked read-only."),
    "block": lines("Tools to which no call is ever sent."),
}
"""How a server is handled: a server's entry says it for all suites, a suite for itself."""

_SERVER_FIELDS = {
    **HOW_TO_REACH,
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
    **STATE,
}
SERVER = Layout(
    fields=_SERVER_FIELDS,
    elsewhere={
        "name": "Servers that have a name stand under 'servers:' in harness.yml; here, write 'server: that_name'.",
        "timeout": "Use 'start_timeout' or 'call_timeout'.",
    },
)
"""``server:`` of a suite, written out."""

_RENAMED = {"start_timeout": "start_timeout_s", "call_timeout": "call_timeout_s"}


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
    settle_transport(reading, path, given, values, called)
    identity = read_identity(reading, (*path, "identity"), values.pop("identity", "meta"))
    if "reset" in values:
        values.setdefault("isolation", "case")
    fields = {_RENAMED.get(key, key): value for key, value in values.items()}
    return ServerSpec(**fields, name=name, identity=identity, at=reading.document.at(path))
