"""The faults that pass in silence, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping

_NOT_ASKED = "the record that leaks is one that no call of the suite asks for"
_NO_NAME = "what opens has a name that nothing suggests: no schema, list or answer holds it"
_CONCLUDED = "a conclusion from other data: it needs data that can be changed (--non-interference)"

SILENT: Mapping[str, str] = {
    "who_am_i": _NOT_ASKED,
    "refusal_names_hidden": _NOT_ASKED,
    "old_tool_unlisted": _NO_NAME,
    "resource_traversal": "addresses with `..` of resources are not tried",
}
"""Fault → why no probe finds it."""
