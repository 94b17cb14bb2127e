"""A server's state, as it was read for the checks of the end state."""

from __future__ import annotations

from typing import Any

from harness.types.basics import JsonObject
from harness.types.shared_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StateReading:
    """A server's state, read after a conversation or after a list of reference calls."""

    source: JsonObject
    """Where it was read: ``{"resource": URI}``, ``{"tool": name, "args": {…}}`` or
    ``{"query": name}``."""
    after: tuple[JsonObject, ...] | None = None
    """The reference calls (``{"tool", "args"}``) made on a fresh copy before it was read; ``None``
    means the trial itself."""
    digest: str | None = None
    """SHA-256 of its canonical JSON: equal digests, equal states. ``None`` if it could not be
    read."""
    value: Any = None
    """The state as JSON, or as text if it is not JSON, within the log's limit."""
    cut: bool = False
    """Whether the state exceeded that limit, and `value` is missing."""
    error: str | None = None
    """Why there is no state."""
