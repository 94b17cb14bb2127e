"""The fields of a JSON value, at any depth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class JsonField(NamedTuple):
    """One field of an object somewhere in a value."""

    path: str
    """Its keys from the outside in, joined by dots; list indexes are left out."""
    name: str
    """Its own key."""
    value: Any
    """The field's value."""


def every_field(value: Any) -> Iterator[JsonField]:
    """Yield every field within ``value``, also fields with empty values."""
    waiting = [("", value)]
    while waiting:
        path, part = waiting.pop()
        if isinstance(part, Mapping):
            for key, each in part.items():
                inner = f"{path}.{key}" if path else str(key)
                yield JsonField(inner, str(key), each)
                waiting.append((inner, each))
        elif isinstance(part, list | tuple):
            waiting.extend((path, each) for each in part)
