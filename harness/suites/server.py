"""Reads a server that is written out: how to start it, and how it is told who asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.suites.document import Steps
from harness.suites.fields import Layout
from harness.suites.layout import IDENTITY, SERVER
from harness.suites.reading import Reading, dropped
from harness.types import IdentitySpec, ServerSpec

_RENAMED = {"start_timeout": "start_timeout_s", "call_timeout": "call_timeout_s"}
_VIA = {"variables": "env", "json_variable": "env", "headers": "header"}


def read_server(
    reading: Reading, path: Steps, given: Mapping[str, Any], name: str, layout: Layout = SERVER
) -> ServerSpec:
    """Return the server that the mapping ``given`` at ``path`` describes, to be called ``name``.

    References such as ``${TOKEN}`` are kept as they stand; problems are kept by ``reading``.
    """
    values = reading.record(path, given, layout, "the server")
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
