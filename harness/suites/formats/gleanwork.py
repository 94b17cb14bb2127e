"""Datasets of mcp-server-tester of gleanwork; `harness.suites.foreign.gleanwork` reads them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from harness.suites.formats import HEAD, SuiteFormat

_CASES = re.compile(rb'"cases"\s*:\s*\[')
_OF_CASES = re.compile(
    rb'"(?:toolName|scenario|toolsTriggered|toolCallCount|mcpHostConfig|passesJudge|containsText'
    rb'|clientOptions|passThreshold)"\s*:'
)


def _is_dataset(_path: Path, file: BinaryIO) -> bool:
    head = file.read(HEAD)
    # MCPJam has some of these keys, too.
    is_another = b'"schemaVersion"' in head
    return bool(_CASES.search(head) and _OF_CASES.search(head) and not is_another)


FORMAT = SuiteFormat(
    extensions=(".json",),
    recognises=_is_dataset,
    looks_for="'cases' with 'id', 'input' or 'scenario', and 'assertions' or 'expect'",
    translates="harness.suites.foreign.gleanwork:translate_dataset",
)
"""``eval-dataset.json``."""
