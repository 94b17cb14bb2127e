"""A suite's own check: its code, and the case that it judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class UserCheck:
    """A suite's own ``check`` and the case that it judges."""

    suite: str
    """Name of the suite."""
    function: Callable[[Any, Any], Any]
    """The suite's ``check``; may be a coroutine function."""
    case: Any
    """The case, as the suite returned it."""
    threshold: float
    """Lowest passing score."""


def get_entry(given: Any, name: str) -> Any:
    """Return the entry or attribute ``name`` of ``given``; ``None`` if it has none."""
    return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)
