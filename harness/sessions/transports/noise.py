"""What a server wrote where only MCP is allowed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

_KEPT = 16


class Noise:
    """The texts of one connection that were no MCP, of which the last few are kept."""

    def __init__(self, where: str, unfinished: Callable[[], str] = str) -> None:
        """``where`` says in a message where they stood.

        ``unfinished`` returns the beginning of a line without an end, if there is one.
        """
        self.count = 0
        """Number of texts so far."""
        self._where = where
        self._unfinished = unfinished
        self._last: deque[str] = deque(maxlen=_KEPT)

    def add(self, text: str | None) -> None:
        """Keep ``text``, if there is one."""
        if text is not None:
            self.count += 1
            self._last.append(text)

    def get_first_since(self, count: int = 0) -> str | None:
        """Return the first text that is kept of those after the first ``count``."""
        new = min(self.count - count, len(self._last))
        return self._last[-new] if new else None

    def quote_since(self, count: int = 0) -> str:
        """Return the same, or else an unfinished line, for the end of a message; may be empty."""
        text, what = (self.get_first_since(count) or "").strip(), "text that is not MCP"
        if not text:
            text, what = self._unfinished().strip(), "a line without an end"
        return f"; {self._where} it wrote {what}: {text}" if text else ""
