"""What the commands of the pages find on their PATH."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from docs.site.pages import ROOT

NODE = Path(os.environ.get("HARNESS_STRANGERS") or ROOT / "tests/strangers/node_modules") / ".bin"
FILESYSTEM = NODE / "mcp-server-filesystem"


@pytest.fixture
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with ``harness``, Python and pytest, and an ``npx`` that needs no network."""
    folder = tmp_path_factory.mktemp("bin")
    for name, command in (
        ("harness", f'{sys.executable} -m harness.cli "$@"'),
        ("python", f'{sys.executable} "$@"'),
        ("pytest", f'{sys.executable} -m pytest "$@"'),
        ("npx", f'{FILESYSTEM} "${{@:3}}"'),  # of: -y PACKAGE@VERSION FOLDER
    ):
        (folder / name).write_text(f"#!/bin/bash\nexec env PYTHONPATH={ROOT} {command}\n")
        (folder / name).chmod(0o755)
    return folder
