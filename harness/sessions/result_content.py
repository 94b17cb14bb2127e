"""A tool's result as text for the model and the log, within bounds."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from harness.base import MAX_DEPTH, digest_json, find_shortcoming, is_deep
from harness.types import JsonObject, Media, dataclass

TEXT_CHARS = 100_000
"""Most characters of one result's text; about 25,000 tokens."""

STRUCTURED_BYTES = 100_000
"""Largest structured content that the log keeps."""

MEDIA_CHARS = 4_000_000
"""Most letters of base64 of one result that are kept: 3 MB, and below what every API takes."""

_UNKNOWN = "of unknown type"
# Four characters stand for three bytes.
_BASE64_RATIO = 0.75
_EXCERPT_CHARS = 100
# Results before revision 2026-07-28 have no type.
_RESULT_TYPES = (None, "complete", "input_required")
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultContent:
    """A result as the model and the log get it."""

    text: str
    """All its text, with placeholders for other content, cut at `TEXT_CHARS` with a notice."""
    structured: Any
    """``structuredContent``; ``None`` if there is none or it is larger than `STRUCTURED_BYTES`."""
    size: int
    """Bytes of the whole result as JSON."""
    sha256: str | None
    """Digest of the whole result, if ``text`` and ``structured`` are only a part of it."""
    media: tuple[Media, ...]
    """The content that no text can stand for: pictures, sound, binary resources."""
    cut: str | None
    """Why a part of the result was not read."""
    problems: tuple[str, ...]
    """Violations of MCP; with any of them it is not a valid result."""


def render_result(result: JsonObject) -> ResultContent:
    """Return a ``tools/call`` result as the model and the log get it."""
    size = count_json_bytes(result)
    structured = result.get("structuredContent")
    parts, problems = [], _find_violations(result)
    media: list[Media] = []
    room = MEDIA_CHARS
    whole = True
    # MCP wants content in any case; without it, the model gets structured content as text.
    blocks = result.get("content", [] if structured is not None else None)
    if not isinstance(blocks, list):
        found = f"its content is not a list: {_format_excerpt(blocks)}"
        problems.append(found if "content" in result else "it has no content")
        blocks = []
    for block in blocks:
        text, data, mime = _render_block(block)
        if text is None:
            what = "it contains a content block of an unknown kind"
            problems.append(f"{what}: {_format_excerpt(block)}")
        else:
            parts.append(text)
        if text is not None and data is not None:
            media.append(_keep_media(text[1:-1], data, mime, room))
            room -= len(media[-1].data)
        whole = whole and text is not None and data is None
    if structured is not None and not parts:
        parts.append(json.dumps(structured, ensure_ascii=False))
    text = "\n".join(parts)
    may_be_json = structured is None and text.lstrip()[:1] in ("{", "[")
    why = None if structured is None else find_shortcoming(structured)
    if why is not None:
        structured, whole, why = None, False, f"of structuredContent: {why}"
    elif may_be_json and len(text) <= TEXT_CHARS and is_deep(text):
        why = f"of the text: it is JSON that nests deeper than {MAX_DEPTH} levels"
    # The part is not larger than the whole, so most results need not be encoded twice.
    may_exceed = structured is not None and size > STRUCTURED_BYTES
    if may_exceed and count_json_bytes(structured) > STRUCTURED_BYTES:
        structured, whole = None, False
    whole = whole and len(text) <= TEXT_CHARS
    sha256 = None if whole else digest_json(result)
    return ResultContent(
        text=limit_text(text, f"{size:,} bytes in all, sha256 {sha256}"),
        structured=structured,
        size=size,
        sha256=sha256,
        media=tuple(media),
        cut=why,
        # Each problem once: a thousand blocks may have the same.
        problems=tuple(dict.fromkeys(problems)),
    )


def _find_violations(result: JsonObject) -> list[str]:
    """Return a result's fields with values that MCP does not allow; ``null`` counts as absent."""
    problems = []
    if not isinstance(is_error := result.get("isError"), bool | None):
        problems.append(f"its isError is neither true nor false: {_format_excerpt(is_error)}")
    if (kind := result.get("resultType")) not in _RESULT_TYPES:
        problems.append(f"its resultType is unknown: {_format_excerpt(kind)}")
    return problems


def _format_excerpt(value: Any) -> str:
    return _COMPACT.encode(value)[:_EXCERPT_CHARS]


def limit_text(text: str, whole: str = "") -> str:
    """Return ``text``, cut at `TEXT_CHARS` with a notice that describes the ``whole``."""
    if len(text) <= TEXT_CHARS:
        return text
    return f"{text[:TEXT_CHARS]}\n[… cut by harness: {whole or f'{len(text):,} characters in all'}]"


def count_json_bytes(value: Any) -> int:
    """Return the size of ``value`` as JSON in UTF-8."""
    return len(_COMPACT.encode(value).encode())


def _keep_media(words: str, data: str, mime: str, room: int) -> Media:
    """Return binary content, with its bytes if there are so many letters of ``room``."""
    try:
        content = base64.b64decode(data, validate=True)
    except ValueError:
        return Media(words=f"{words}, which is not base64", mime=mime)
    kept = data if len(data) <= room else ""
    note = ", too large to keep" if len(data) > room else ""
    digest = hashlib.sha256(content).hexdigest()
    return Media(words=f"{words}{note}", mime=mime, data=kept, sha256=digest)


def _render_block(block: Any) -> tuple[str | None, str | None, str]:
    """Return a content block as text (``None`` if unreadable), and what the text does not say.

    That is binary data in base64 (``None`` if there is none), and its type.
    """
    match block:
        case {"type": "text", "text": str(text)}:
            return text, None, ""
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            mime = _read_mime(block)
            return f"[{kind} {mime or _UNKNOWN}, {_format_size(data)}]", data, mime
        case {"type": "resource_link", "uri": str(uri)}:
            name = block.get("name", "")
            return f"[resource link {name} {uri}]".replace("  ", " "), None, ""
        case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
            return f"[resource {uri}]\n{text}", None, ""
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(blob)} as resource}:
            mime = _read_mime(resource)
            return f"[resource {uri} {mime or _UNKNOWN}, {_format_size(blob)}]", blob, mime
        case _:
            return None, None, ""


def _read_mime(block: JsonObject) -> str:
    mime = block.get("mimeType")
    # Without parameters, as the APIs of models name types.
    return mime.partition(";")[0].strip().lower() if isinstance(mime, str) else ""


def _format_size(data: str) -> str:
    count = len(data) * _BASE64_RATIO
    return f"{count:.0f} bytes" if count < 1000 else f"{count / 1000:.0f} kB"  # noqa: PLR2004 - a kilobyte
