"""Tasks of mcpchecker; `harness.suites.foreign.mcpchecker` reads them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from harness.suites.formats import HEAD, SuiteFormat, match_key

_TASK = re.compile(match_key("kind").pattern + rb"[ \t]*[\"']?Task\b", re.MULTILINE)
_STEPS, _VERSION = match_key("steps"), match_key("apiVersion")


def _is_task(_path: Path, file: BinaryIO) -> bool:
    head = file.read(HEAD)
    # Others, such as Tekton, have files of that kind, too; the first version names no tool.
    is_first = _STEPS.search(head) and not _VERSION.search(head)
    return bool(_TASK.search(head) and (b"mcpchecker/v1" in head or is_first))


FORMAT = SuiteFormat(
    extensions=(".yml", ".yaml", ".json"),
    recognises=_is_task,
    looks_for="'kind: Task' with 'apiVersion: mcpchecker/…' or 'steps:'",
    translates="harness.suites.foreign.mcpchecker:translate_task",
)
"""``create-pod.yaml``."""
