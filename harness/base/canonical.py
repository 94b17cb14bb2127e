"""One canonical text for a JSON value, and its digest, for keys, hashes and comparisons."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from harness.base.errors import InvalidValue
from harness.base.json_bounds import load_json


def canonical_json(value: Any) -> str:
    """Return ``value`` as JSON with sorted keys and no spaces: equal values, equal text."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_to_plain
    )


def digest_json(value: Any) -> str:
    """Return the SHA-256, in hex, of the canonical JSON of ``value``."""
    # Half a surrogate pair has no UTF-8, and must still have a digest.
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


def parsed_json(text: Any) -> Any:
    """Return ``text`` parsed as JSON within `json_bounds`; if it is no JSON, unchanged."""
    try:
        return load_json(text) if isinstance(text, str) else text
    except ValueError:
        return text


def json_value(value: Any, *, strict: bool = True) -> Any:
    """Return ``value`` in JSON's types: tuples as lists, for example.

    A value that JSON cannot express is invalid; ``None`` is returned if not ``strict``.
    """
    try:
        # There and back: the result is what a reader of the JSON will have.
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        if not strict:
            return None
        raise InvalidValue(f"contains a value that is not JSON: {error}") from error


def _to_plain(value: Any) -> Any:
    """Turn a read-only mapping into a type that `json` can write."""
    if hasattr(value, "keys"):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
