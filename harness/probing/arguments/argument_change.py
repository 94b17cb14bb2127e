"""One change of the arguments of a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentChange:
    """A change of the arguments of a call, or of what is sent with them."""

    words: str
    """What is changed: ``'person_id' in other case``."""
    changed: JsonObject = field(default_factory=dict)
    """The changed arguments; the others stay."""
    wild: tuple[str, ...] = ()
    """Those of them that name no record, so that the answer may be about any."""
    same: bool = False
    """Whether the changed call still asks for the same record."""
    is_risky: bool = False
    """Whether a simple server may end on it: no schema allows its arguments, or no tool has its
    name."""
    meta: JsonObject = field(default_factory=dict)
    """Entries that are added to ``_meta`` of the request."""
    tool: str | None = None
    """Another name under which the tool is called."""


def get_argument_schema(schema: JsonObject, name: str) -> Mapping[str, Any]:
    """Return what an input schema says of the argument ``name``; empty if nothing."""
    declared = schema.get("properties")
    part = declared.get(name) if isinstance(declared, Mapping) else None
    return part if isinstance(part, Mapping) else {}


def get_argument_type(part: Mapping[str, Any]) -> str | None:
    """Return the type of a declared argument, ignoring ``null``; ``None`` if it has none."""
    return next((kind for kind in _list_types(part) if kind != "null"), None)


def takes_null(part: Mapping[str, Any]) -> bool:
    """Whether a declared argument may be ``null``: it is then no more than left out."""
    return "null" in _list_types(part) or ("default" in part and part["default"] is None)


def _list_types(part: Mapping[str, Any]) -> list[str]:
    # Pydantic declares an optional argument as "anyOf", with its types one level below.
    options = [part, *(one for one in part.get("anyOf") or () if isinstance(one, Mapping))]
    found: list[str] = []
    for one in options:
        kinds = one.get("type")
        found += [
            kind
            for kind in (kinds if isinstance(kinds, list) else [kinds])
            if isinstance(kind, str)
        ]
    return found
