"""Finds the fields in a server's own words on invalid arguments.

Two libraries write almost all of them, each over many lines of which a report shows the first:

- Pydantic (`docs.pydantic.dev/latest/errors/validation_errors`)::

      1 validation error for get_orderArguments
      filter.size
        Input should be a valid integer [type=int_parsing, input_value='x', input_type=str]

- Zod (`zod.dev/error-formatting`), a JSON list of issues with ``path`` and ``message``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

_PYDANTIC = re.compile(r"\d+ validation errors? for ")
_PYDANTIC_FIELD = re.compile(
    r"^(?P<field>\S.*)\n[ \t]+(?P<message>\S.*?)(?: \[type=[^\n]*)?$", re.MULTILINE
)
_MOST_READ = 20_000  # characters; the text is the server's, and may have any length


def invalid_fields(text: str) -> str | None:
    """Return ``field: message; field: message``; ``None`` for a text of another form."""
    text = text[:_MOST_READ]
    found = [*(_parse_pydantic(text) if _PYDANTIC.search(text) else _parse_zod(text))]
    return "; ".join(f"{field}: {message}" for field, message in found) or None


def _parse_pydantic(text: str) -> Iterator[tuple[str, str]]:
    for match in _PYDANTIC_FIELD.finditer(text):
        # The heading has the form of a field where the error is one of all arguments together.
        if not _PYDANTIC.search(match["field"]):
            yield match["field"], match["message"]


def _parse_zod(text: str) -> Iterator[tuple[str, str]]:
    start = text.find("[")
    try:
        # Zod's list may stand behind words of the server, and before others.
        issues: Any = json.JSONDecoder().raw_decode(text, start)[0] if start >= 0 else []
    except (ValueError, RecursionError):
        return
    for issue in issues:
        if isinstance(issue, dict) and isinstance(issue.get("path"), list) and "message" in issue:
            yield ".".join(map(str, issue["path"])) or "the arguments", str(issue["message"])
