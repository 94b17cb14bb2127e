"""Rules for tool schemas and for files that the providers share."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from tests.fake_provider.incoming import Rejected
from tests.fake_provider.memory import Memory


def problem_2020_12(schema: Any) -> str | None:
    """Return what makes ``schema`` invalid in JSON Schema draft 2020-12, if anything."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return error.message
    return None


def check_once(tools: list[Any], memory: Memory, check: Callable[[list[Any]], None]) -> None:
    """Run ``check`` on tools that were not accepted before.

    Judging schemas takes most of a request's time.
    """
    key = hashlib.blake2b(
        f"{check.__module__} {json.dumps(tools)}".encode(), digest_size=16
    ).digest()
    if key not in memory.accepted_tools:
        check(tools)
        memory.accepted_tools.add(key)


def duplicates(names: list[str]) -> list[str]:
    """Return the names that occur more than once."""
    return sorted({name for name in names if names.count(name) > 1})


def words(text: str) -> frozenset[str]:
    """Return a set of names from one blank-separated text: ``words("model messages")``."""
    return frozenset(text.split())


IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_BEGINNINGS = {
    "image/png": b"\x89PNG",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
    "application/pdf": b"%PDF-",
    "audio/wav": b"RIFF",
}
_DATA_URL = re.compile(r"data:([a-z]+/[a-z0-9.+-]+);base64,(.+)", re.DOTALL)


def check_file(path: str, mime: str, data: Any) -> None:
    """Hold a file in base64: it begins as its type does."""
    try:
        content = base64.b64decode(data, validate=True)
    except (TypeError, ValueError):
        raise Rejected(f"{path}.data: Input should be valid base64") from None
    if not content.startswith(_BEGINNINGS.get(mime, b"")) or not content:
        raise Rejected(f"{path}: Could not process {mime.partition('/')[0]}")


def check_data_url(path: str, url: Any, types: tuple[str, ...]) -> None:
    """Hold a file as a URL; an address of the web would be fetched, which nobody does here."""
    found = _DATA_URL.fullmatch(url) if isinstance(url, str) else None
    if found is None or found[1] not in types:
        raise Rejected(
            f"Invalid '{path}': expected a data URL of {' or '.join(types)}.", param=path
        )
    check_file(path, found[1], found[2])
