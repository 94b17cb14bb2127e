"""Pictures, sound and files: what a tool returned, or a prompt carries, that is no text."""

from __future__ import annotations

from dataclasses import field
from typing import Literal, TypeAlias

from harness.types.basics import left_out_if
from harness.types.shared_dataclass import dataclass

MediaKind: TypeAlias = Literal["image", "audio", "file"]
"""What a model may be able to take beside text."""

MEDIA_KINDS: tuple[MediaKind, ...] = ("image", "audio", "file")
"""All of them."""

_KINDS: dict[str, MediaKind] = {
    "image/png": "image",
    "image/jpeg": "image",
    "image/gif": "image",
    "image/webp": "image",
    "audio/wav": "audio",
    "audio/x-wav": "audio",
    "audio/mpeg": "audio",
    "audio/mp3": "audio",
    "application/pdf": "file",
}
"""The types that the APIs of models take (their SDKs' types of 2026-11)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """One picture, sound or file."""

    words: str
    """What it is: ``image image/png, 4 kB``."""
    mime: str = ""
    """Its type, as whoever sent it says; empty if nothing was said."""
    data: str = field(default="", metadata=left_out_if(""), repr=False)
    """Its bytes in base64; empty if they were too many to keep."""
    sha256: str = ""
    """Digest of the bytes."""
    given: bool = field(default=False, metadata=left_out_if(default=False))
    """Whether a model was given it; otherwise the model read `words`."""

    @property
    def kind(self) -> MediaKind | None:
        """What a model must be able to take; ``None`` if no API takes this type, or no bytes."""
        return _KINDS.get(self.mime) if self.data else None
