"""Suites of testmcpy; `harness.suites.foreign.testmcpy` reads them."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from harness.suites.formats import HEAD, SuiteFormat, match_key

_EVALUATORS, _ASKS = match_key("evaluators"), match_key("prompt", "auth_only")


def _has_evaluators(_path: Path, file: BinaryIO) -> bool:
    head = file.read(HEAD)
    return bool(_EVALUATORS.search(head) and _ASKS.search(head))


FORMAT = SuiteFormat(
    extensions=(".yml", ".yaml", ".json"),
    recognises=_has_evaluators,
    looks_for="'prompt:' and 'evaluators:'",
    translates="harness.suites.foreign.testmcpy:translate_suite",
)
"""``tests.yaml``."""
