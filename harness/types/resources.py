"""What a server sent beside the results of calls: side content, and resources that were read."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from harness.types.basics import left_out_if
from harness.types.media import Media
from harness.types.shared_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SideContent:
    """Something that a server sent beside the text and the structured content of results."""

    place: str
    """What it is, in words: ``_meta of the result``, ``the server's instructions``."""
    text: str = ""
    """The text, or the value as JSON, cut to the log's limit."""
    unread: str | None = None
    """Why it was not read, or not to its end, in words that quote nothing."""
    refused: bool = False
    """Whether the server answered with an error instead: its decision, if others may read it."""


PUBLIC = "declared public: "
"""Begins the `SideContent.place` of a list, or of something read, that any cache may give to others
(``cacheScope: public``); its text is a digest of the content."""
STDERR = "the server's stderr"
"""`SideContent.place` of what a server wrote on stderr, which only its operator reads."""

ReadOutcome: TypeAlias = Literal["ok", "refused", "failed"]
"""How reading a resource ended: with its content, with the server's error, or without any answer
that MCP allows (no answer in time, an internal error, no content)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceRead:
    """One reading of a resource of the server, as its host gives it to a model."""

    uri: str
    """The resource."""
    outcome: ReadOutcome = "ok"
    """How it ended."""
    text: str = ""
    """Its texts, each below its URI, within the log's limit; or why there is none."""
    media: tuple[Media, ...] = field(default=(), metadata=left_out_if(()))
    """Its content that is no text."""
    sha256: str | None = field(default=None, metadata=left_out_if(None))
    """Digest of the whole content, if `text` is only a part of it."""
    reply: int = 0
    """The model's reply that asked for it; 0: the test put it there (``context``)."""
    started_s: float = 0.0
    """When it was asked for, in seconds from the start of the trial."""
    duration_s: float = 0.0
    """Seconds until the answer."""

    @property
    def shown_text(self) -> str:
        """What the model reads of it."""
        if self.outcome == "ok":
            return self.text
        return f"[resource {self.uri} could not be read: {self.text}]"

    @property
    def side_content(self) -> SideContent:
        """The same, to be searched for what this user must not see."""
        place = f"the resource {self.uri}"
        if self.outcome == "ok":
            return SideContent(place=place, text=self.text)
        refused = self.outcome == "refused"
        why = "the server answers with an error" if refused else "the request for it failed"
        return SideContent(place=place, text=self.text, unread=why, refused=refused)

    def __str__(self) -> str:
        """The URI and how it ended, in one line."""
        by = f"reply {self.reply}" if self.reply else "the test"
        return f"{self.uri} for {by} → {self.outcome}"
