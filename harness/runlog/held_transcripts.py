"""Conversations in memory, for whoever judges a growing log several times.

Equal answers are held once: a server tells many callers the same, and tells one caller the same
many times.
"""

from __future__ import annotations

from harness.types import Transcript

MOST_CHARACTERS = 12_000_000
"""Most characters of all different answers; what comes later is read from the file."""
MOST_HELD = 20_000
"""Most conversations."""


class HeldTranscripts:
    """Conversations by the place of their line in the log."""

    def __init__(self) -> None:
        """Start without any."""
        self._by_offset: dict[int, Transcript] = {}
        self._texts: dict[str, str] = {}
        self._structured: dict[str, object] = {}
        self._offered: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._room = MOST_CHARACTERS

    def keep(self, offset: int, transcript: Transcript) -> None:
        """Hold ``transcript``, just read and known to nobody else, if there is room for it."""
        if self._room <= 0 or len(self._by_offset) >= MOST_HELD:
            return
        for call in transcript.tool_calls:
            object.__setattr__(call, "text", self._share_text(call.text))
            if call.structured is not None:
                # As it is written: 1, 1.0 and true are equal.
                written = repr(call.structured)
                if written not in self._structured:
                    self._room -= len(written)
                shared = self._structured.setdefault(written, call.structured)
                object.__setattr__(call, "structured", shared)
        offered = self._offered.setdefault(transcript.tools, transcript.tools)
        object.__setattr__(transcript, "tools", offered)
        self._by_offset[offset] = transcript

    def _share_text(self, text: str) -> str:
        if text not in self._texts:
            self._room -= len(text)
        return self._texts.setdefault(text, text)

    def find(self, offset: int) -> Transcript | None:
        """Return the conversation in the line at ``offset``, if it is held."""
        return self._by_offset.get(offset)
