"""Suite files of MCPJam; `harness.suites.foreign.mcpjam` reads them."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from harness.suites.formats import HEAD, SuiteFormat, match_key

_VERSION, _MODE = match_key("schemaVersion"), match_key("reportingMode")


def _is_suite_file(_path: Path, file: BinaryIO) -> bool:
    head = file.read(HEAD)
    return bool(_VERSION.search(head) and _MODE.search(head))


FORMAT = SuiteFormat(
    extensions=(".yml", ".yaml", ".json"),
    recognises=_is_suite_file,
    looks_for="'schemaVersion', 'mode' and 'reportingMode'",
    translates="harness.suites.foreign.mcpjam:translate_suite",
)
"""``suite.json``."""
