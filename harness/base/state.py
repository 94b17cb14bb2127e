"""Files in which harness remembers something of its user between runs, readable by nobody else."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of these files: ``$XDG_STATE_HOME/harness``, else below the home."""
    base = Path(environ.get("XDG_STATE_HOME") or "")
    if not base.is_absolute():
        base = Path(environ.get("HOME") or Path.home()) / ".local" / "state"
    return base / "harness"


def write_private_text(path: Path, text: str) -> None:
    """Write ``text`` into ``path``, whole or not at all, for its user alone.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Written aside and moved into place: another process may be reading the file.
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    # Created private before anything is in it.
    beside.touch(0o600)
    beside.write_text(text, "utf-8")
    beside.replace(path)
