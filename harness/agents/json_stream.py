"""Reads a program's output as one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from harness.agents.program import FinishedProgram
from harness.base import AgentError, load_json
from harness.types import JsonObject

_LONGEST_SHOWN = 200
_MOST = 10**12
"""Most tokens of a turn; a larger or negative count is treated as unknown."""


def parse_json_object(line: str, name: str, what: str, stderr: str) -> JsonObject:
    """Return the object that ``line``, written by the program ``name``, is.

    Raises:
        AgentError: it is none; the message says that it is no ``what``.
    """
    try:
        value = load_json(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        # As JSON, which shows control characters instead of sending them to the terminal.
        shown = json.dumps(line[:_LONGEST_SHOWN])
        raise AgentError(f"{name} wrote a line that is no {what}: {shown}", detail=stderr)
    return value


def parse_json_lines(done: FinishedProgram) -> Iterator[JsonObject]:
    """Yield each JSON object that ``done`` wrote on stdout.

    Raises:
        AgentError: a line is not a JSON object, or there is no output.
    """
    lines = [line for line in done.out.splitlines() if line.strip()]
    if not lines:
        raise done.build_error("it wrote nothing on stdout")
    for line in lines:
        yield parse_json_object(line, done.name, "JSON object", done.stderr)


def parse_token_count(value: Any) -> int | None:
    """Return a number of tokens; ``None`` if ``value`` is not one."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value <= _MOST else None


def filter_texts(value: Any) -> list[str]:
    """Return the texts of a list; empty for anything else."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
