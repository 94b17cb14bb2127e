"""Verifies fetched data by digests of files and trees."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from harness.base.errors import UsageError


def compute_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hex.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from error


def tree_digest(files: Mapping[str, bytes]) -> str:
    """Return one SHA-256 for files by their names, whatever archive or folder they come from."""
    # In the form in which `sha256sum` lists files.
    lines = (
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in sorted(files.items())
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()
