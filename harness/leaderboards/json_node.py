"""JSON of others, read field by field: every mistake names its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from harness.base import UsageError
from harness.types import dataclass

_T = TypeVar("_T")

_NAMES: Mapping[type, str] = {
    str: "a text",
    list: "a list",
    dict: "an object",
    bool: "true or false",
    int: "a number",
}


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A value and its path: ``results.json: simulations[3].messages``."""

    value: Any
    """The JSON value."""
    place: str
    """Its file and path."""

    def get(self, key: str, kind: type[_T]) -> _T:
        """Return the required field ``key``.

        Raises:
            UsageError: the field is missing, or not a ``kind``.
        """
        found = self.get_optional(key, kind)
        if found is None:
            raise UsageError(f"{self.place} has no {key!r}")
        return found

    def get_optional(self, key: str, kind: type[_T]) -> _T | None:
        """Return the field ``key``, or ``None`` if it is null or missing.

        Raises:
            UsageError: the field is not a ``kind``.
        """
        if not isinstance(self.value, dict):
            raise UsageError(f"{self.place} is not an object")
        found = self.value.get(key)
        if found is not None and not isinstance(found, kind):
            raise UsageError(f"{self.place}.{key} is not {_NAMES.get(kind, kind.__name__)}")
        return found

    def get_node(self, key: str) -> JsonNode | None:
        """Return the object under ``key``, or ``None``."""
        found = self.get_optional(key, dict)
        return None if found is None else JsonNode(found, f"{self.place}.{key}")

    def get_nodes(self, key: str) -> tuple[JsonNode, ...]:
        """Return the items of the list under ``key``; empty if it is null or missing."""
        items = self.get_optional(key, list) or []
        return tuple(
            JsonNode(item, f"{self.place}.{key}[{number}]") for number, item in enumerate(items)
        )

    def get_texts(self, key: str) -> tuple[str, ...]:
        """Return the strings in the list under ``key``; empty if it is null or missing.

        Raises:
            UsageError: an item is not a string.
        """
        found: Sequence[Any] = self.get_optional(key, list) or ()
        if not all(isinstance(text, str) for text in found):
            raise UsageError(f"{self.place}.{key} has an item that is not a string")
        return tuple(found)
