"""What the list of runs says of one, kept beside its log so that nobody reads the log for it again.

An index is derived: it holds for a log of one size and time, and for one version of harness. It is
made anew when the log has changed or the index is damaged, and deleting it loses nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

NAME = "index.json"
_FORM = 2
"""Raised when entries of another form are written."""


def read_index(log: Path, facts: os.stat_result) -> dict[str, Any] | None:
    """Return the entry of ``log``, whose file has these ``facts``; ``None``: it is to be made."""
    try:
        with log.with_name(NAME).open("rb") as file:
            head, entry = file.read().split(b"\n", 1)
        if head != _head(facts, entry):
            return None
        found: dict[str, Any] = json.loads(entry)
    except (OSError, ValueError):
        return None
    return found


def write_index(log: Path, facts: os.stat_result, entry: dict[str, Any]) -> None:
    """Keep ``entry`` beside ``log``; where nothing can be written, it is made again next time."""
    text = json.dumps(entry).encode()
    draft = log.with_name(f".{NAME}.{os.getpid()}.{os.urandom(4).hex()}")
    with suppress(OSError):
        try:
            draft.write_bytes(_head(facts, text) + b"\n" + text)
            draft.replace(log.with_name(NAME))
        finally:
            draft.unlink(missing_ok=True)


def _head(facts: os.stat_result, entry: bytes) -> bytes:
    digest = hashlib.sha256(entry).hexdigest()
    return f"{_FORM} {_version()} {facts.st_size} {facts.st_mtime_ns} {digest}".encode()


@cache
def _version() -> str:
    return version("harness")
