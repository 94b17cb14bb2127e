"""JSON of the leaderboard's files, field by field: what does not fit is told with its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.errors import UsageError

_T = TypeVar("_T")

_NAMES: Mapping[type, str] = {
    str: "a text",
    list: "a list",
    dict: "an object",
    bool: "true or false",
    int: "a number",
}


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands: ``results.json: simulations[3].messages``."""

    value: Any
    """JSON."""
    place: str
    """File and path."""

    def get(self, key: str, kind: type[_T]) -> _T:
        """Return the field ``key``, which has to be there.

        Raises:
            UsageError: it is not there, or something else than a ``kind``.
        """
        found = self.maybe(key, kind)
        if found is None:
            raise UsageError(f"{self.place} has no {key!r}")
        return found

    def maybe(self, key: str, kind: type[_T]) -> _T | None:
        """Return the field ``key``, or ``None`` where it is null or missing.

        Raises:
            UsageError: it is something else than a ``kind``.
        """
        if not isinstance(self.value, dict):
            raise UsageError(f"{self.place} is not an object")
        found = self.value.get(key)
        if found is not None and not isinstance(found, kind):
            raise UsageError(f"{self.place}.{key} is not {_NAMES.get(kind, kind.__name__)}")
        return found

    def node(self, key: str) -> Node | None:
        """Return the object under ``key``, or ``None``."""
        found = self.maybe(key, dict)
        return None if found is None else Node(found, f"{self.place}.{key}")

    def nodes(self, key: str) -> tuple[Node, ...]:
        """Return what stands in the list under ``key``; nothing where it is null or missing."""
        items = self.maybe(key, list) or []
        return tuple(
            Node(item, f"{self.place}.{key}[{number}]") for number, item in enumerate(items)
        )

    def texts(self, key: str) -> tuple[str, ...]:
        """Return the texts in the list under ``key``; nothing where it is null or missing.

        Raises:
            UsageError: one is no text.
        """
        found: Sequence[Any] = self.maybe(key, list) or ()
        if not all(isinstance(text, str) for text in found):
            raise UsageError(f"{self.place}.{key} holds something that is not a text")
        return tuple(found)
