"""Writes settings as TOML, which Python's library can only read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def format_toml(settings: Mapping[str, Any]) -> str:
    """Return a document with one line for each setting; mappings in it are inline tables.

    Raises:
        ValueError: a value has no form in TOML, such as null.
    """
    return "".join(
        f"{_format_string(name)} = {_format_value(at, name)}\n" for name, at in settings.items()
    )


def _format_value(value: Any, name: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _format_string(value)
    if isinstance(value, Mapping):
        parts = (
            f"{_format_string(str(key))} = {_format_value(at, str(key))}"
            for key, at in value.items()
        )
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_format_value(at, name) for at in value) + "]"
    raise ValueError(f"{name}: TOML has no form of {json.dumps(value, default=str)}")


def _format_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
