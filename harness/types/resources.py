"""What a server sent beside the results of calls: side content, resources, prompts."""

from __future__ import annotations

from collections.abc import Mapping
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

LIST_RESOURCES, READ_RESOURCE = "list_mcp_resources", "read_mcp_resource"
"""The tools by which hosts give a model the resources of servers (`Variant.offer_resources`)."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptUse:
    """A prompt of the server that a test uses, as its user would pick it in a host."""

    name: str
    """The server's name of it."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """Its arguments, which are always text."""

    def __str__(self) -> str:
        """The prompt as a command of a host: ``/review_leave employee=EMP_0031``."""
        return " ".join(
            (f"/{self.name}", *(f"{key}={self.arguments[key]}" for key in self.arguments))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptMessage:
    """One message of a prompt."""

    role: Literal["user", "assistant"]
    """Who says it."""
    text: str = ""
    """Its text, or what stands for content that is no text, within the log's limit."""
    media: tuple[Media, ...] = field(default=(), metadata=left_out_if(()))
    """Its content that is no text."""
    uri: str = field(default="", metadata=left_out_if(""))
    """The resource that it is a copy of; empty for any other message."""
    sha256: str | None = field(default=None, metadata=left_out_if(None))
    """Digest of the whole content, if `text` is only a part of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptGet:
    """A prompt as the server gave it; its messages begin the conversation."""

    use: PromptUse
    """What was asked for."""
    outcome: ReadOutcome = "ok"
    """How it ended."""
    messages: tuple[PromptMessage, ...] = ()
    """What the server returned, in order."""
    error: str = field(default="", metadata=left_out_if(""))
    """Why there are no messages."""
    alone: bool = False
    """Whether the user says nothing else: their words in the record name the prompt (`PromptUse`)
    and are not sent to the model."""
    started_s: float = 0.0
    """When it was asked for, in seconds from the start of the trial."""
    duration_s: float = 0.0
    """Seconds until the answer."""

    @property
    def reads(self) -> tuple[ResourceRead, ...]:
        """The resources that came with it."""
        return tuple(
            ResourceRead(
                uri=one.uri,
                text=one.text,
                media=one.media,
                sha256=one.sha256,
                started_s=self.started_s,
                duration_s=self.duration_s,
            )
            for one in self.messages
            if one.uri
        )

    @property
    def texts(self) -> tuple[str, ...]:
        """Its messages without the resources."""
        return tuple(one.text for one in self.messages if not one.uri)

    @property
    def side_content(self) -> SideContent:
        """The same, to be searched for what this user must not see."""
        return SideContent(place=f"the prompt {self.use.name}", text="\n".join(self.texts))

    def __str__(self) -> str:
        """The prompt, how it ended, and its messages, each behind its role."""
        said = "".join(f"\n{one.role}: {one.text}" for one in self.messages)
        return f"{self.use} → {self.outcome}{said}{self.error and chr(10)}{self.error}"
