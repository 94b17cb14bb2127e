"""An index of each run, stored next to its log so that the log need not be read again.

``index.json`` has what the list of runs says of it. It is derived: it holds for a log of one size
and time, and for one version of harness. It is made anew when the log has changed or it is damaged,
and deleting it loses nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.version import __version__

NAME = "index.json"
_FORM = 6
"""Raised when entries of another form are written."""


def read_index(log: Path, facts: os.stat_result) -> dict[str, Any] | None:
    """Return the entry of ``log``, whose file has these ``facts``; ``None``: it is to be made."""
    body = read_kept(log, NAME, facts)
    try:
        found: dict[str, Any] | None = None if body is None else json.loads(body)
    except ValueError:
        return None
    return found


def write_index(log: Path, facts: os.stat_result, entry: dict[str, Any]) -> None:
    """Store ``entry`` next to ``log``; if it cannot be written, it is made again next time."""
    write_kept(log, NAME, facts, json.dumps(entry).encode())


def read_kept(log: Path, name: str, facts: os.stat_result) -> bytes | None:
    """Return the content of the file ``name`` next to ``log``; ``None`` if missing or outdated."""
    try:
        with log.with_name(name).open("rb") as file:
            head, body = file.read().split(b"\n", 1)
    except (OSError, ValueError):
        return None
    return body if head == _build_head(facts, body) else None


def write_kept(log: Path, name: str, facts: os.stat_result, body: bytes) -> None:
    """Store ``body`` in the file ``name`` next to ``log``, if it can be written."""
    draft = log.with_name(f".{name}.{os.getpid()}.{os.urandom(4).hex()}")
    with suppress(OSError):
        try:
            draft.write_bytes(_build_head(facts, body) + b"\n" + body)
            draft.replace(log.with_name(name))
        finally:
            draft.unlink(missing_ok=True)


def _build_head(facts: os.stat_result, body: bytes) -> bytes:
    holds_for = f"{_FORM} {__version__} {facts.st_size} {facts.st_mtime_ns}"
    return f"{holds_for} {hashlib.sha256(body).hexdigest()}".encode()
