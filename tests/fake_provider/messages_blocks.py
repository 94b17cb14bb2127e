"""What Anthropic's Messages API accepts as one content block."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.fake_provider.incoming import Json, Rejected
from tests.fake_provider.schemas import IMAGES, check_file, words

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
TOOL_USE_ID = re.compile(r"[a-zA-Z0-9_-]+")

# Block type → roles that may say it, required keys, optional keys.
BLOCKS: Mapping[str, tuple[tuple[str, ...], frozenset[str], frozenset[str]]] = {
    kind: (tuple(roles.split()), words(required), words(optional))
    for kind, roles, required, optional in (
        ("text", "user assistant", "text", "cache_control citations"),
        ("image", "user", "source", "cache_control transformations"),
        ("document", "user", "source", "cache_control citations context title"),
        ("search_result", "user", "content source title", "cache_control citations"),
        ("tool_result", "user", "tool_use_id", "cache_control content is_error toolset_name"),
        ("tool_use", "assistant", "id input name", "cache_control caller toolset_name"),
        ("thinking", "assistant", "signature thinking", ""),
        ("redacted_thinking", "assistant", "data", ""),
    )
}


def check_block(path: str, block: Any, role: str) -> None:
    """Hold one block of a message of ``role``: its type, its keys, and what its type asks for."""
    if not isinstance(block, dict) or block.get("type") not in BLOCKS:
        raise Rejected(
            f"{path}: Input tag found using 'type' does not match any of the expected tags"
        )
    kind = block["type"]
    roles, required, optional = BLOCKS[kind]
    if role not in roles:
        raise Rejected(f"{path}: `{kind}` blocks can only be in `{roles[0]}` messages")
    check_keys(f"{path}.{kind}", block, required, required | optional | {"type"})
    check_mark(block, f"{path}.{kind}")
    if role == "user" and kind == "text" and block.get("citations"):
        raise Rejected(f"{path}.text.citations: Extra inputs are not permitted")
    if special := SPECIAL.get(kind):
        special(f"{path}.{kind}", block)


def _check_text(path: str, block: Json) -> None:
    if not isinstance(block["text"], str):
        raise Rejected(f"{path}.text: Input should be a valid string")
    if not block["text"]:
        raise Rejected("messages: text content blocks must be non-empty")
    if not block["text"].strip():
        raise Rejected("messages: text content blocks must contain non-whitespace text")


def _check_tool_use(path: str, block: Json) -> None:
    if not isinstance(block["id"], str) or not TOOL_USE_ID.fullmatch(block["id"]):
        raise Rejected(f"{path}.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
    if not isinstance(block["name"], str) or not TOOL_NAME.fullmatch(block["name"]):
        raise Rejected(f"{path}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    if not isinstance(block["input"], dict):
        raise Rejected(f"{path}.input: Input should be a valid dictionary")
    if not isinstance(block.get("caller", {}), dict):
        raise Rejected(
            f"{path}.caller: Input should be a valid dictionary or object to extract fields from"
        )


def _check_tool_result(path: str, block: Json) -> None:
    content = block.get("content", "")
    if not isinstance(block.get("is_error", False), bool):
        raise Rejected(f"{path}.is_error: Input should be a valid boolean")
    if not isinstance(content, str | list):
        raise Rejected(f"{path}.content: Input should be a valid list")
    for number, inner in enumerate(content if isinstance(content, list) else []):
        if not isinstance(inner, dict) or inner.get("type") not in (
            "text",
            "image",
            "document",
            "search_result",
        ):
            raise Rejected(
                f"{path}.content.{number}: Input tag does not match any of the expected tags"
            )
        if block.get("is_error") and inner["type"] != "text":
            raise Rejected(f"{path}: all content must be type `text` if `is_error` is true")
        check_block(f"{path}.content.{number}", inner, "user")


def _check_image(path: str, block: Json) -> None:
    _check_source(path, block["source"], IMAGES)


def _check_document(path: str, block: Json) -> None:
    _check_source(path, block["source"], ("application/pdf",))


def _check_source(path: str, source: Any, types: tuple[str, ...]) -> None:
    if not isinstance(source, dict) or source.get("type") != "base64":
        raise Rejected(f"{path}.source: this fake provider serves only base64")
    check_keys(
        f"{path}.source.base64", source, words("data media_type"), words("type data media_type")
    )
    if source["media_type"] not in types:
        raise Rejected(f"{path}.source.base64.media_type: Input should be {' or '.join(types)}")
    check_file(f"{path}.source.base64", source["media_type"], source["data"])


SPECIAL: Mapping[str, Callable[[str, Json], None]] = {
    "text": _check_text,
    "tool_use": _check_tool_use,
    "tool_result": _check_tool_result,
    "image": _check_image,
    "document": _check_document,
}


# ── Small parts ──────────────────────────────────────────────────────────────────────────────


def content_of(message: Json) -> list[Json]:
    """Return a message's blocks; a plain string is one text block."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def check_keys(path: str, value: Json, required: frozenset[str], allowed: frozenset[str]) -> None:
    """Hold an object's keys: all that are required, none but those allowed."""
    if missing := required - value.keys():
        raise Rejected(f"{path}.{min(missing)}: Field required")
    if extra := value.keys() - allowed:
        raise Rejected(f"{path}.{min(extra)}: Extra inputs are not permitted")


def check_mark(value: Json, path: str) -> None:
    """Hold the cache breakpoint on ``value``, if there is one."""
    mark = value.get("cache_control")
    if mark is None:
        return
    if (
        not isinstance(mark, dict)
        or mark.get("type") != "ephemeral"
        or mark.keys() - {"type", "ttl"}
    ):
        raise Rejected(
            f"{path}.cache_control: Input should be an object of type 'ephemeral'".lstrip(".")
        )
    if mark.get("ttl", "5m") not in ("5m", "1h"):
        raise Rejected(
            f"{path}.cache_control.ephemeral.ttl: Input should be '5m' or '1h'".lstrip(".")
        )
