"""What a server wrote where only MCP is allowed."""

from __future__ import annotations

from collections import deque

_KEPT = 16


class Noise:
    """The texts of one connection that were no MCP, of which the last few are kept."""

    def __init__(self) -> None:
        """Start without any."""
        self.count = 0
        """Number of texts so far."""
        self._last: deque[str] = deque(maxlen=_KEPT)

    def add(self, text: str | None) -> None:
        """Keep ``text``, if there is one."""
        if text is not None:
            self.count += 1
            self._last.append(text)

    def since(self, count: int = 0) -> str | None:
        """Return the first text that is kept of those after the first ``count``."""
        new = min(self.count - count, len(self._last))
        return self._last[-new] if new else None
