"""Evaluations of mcp-evals; `harness.suites.foreign.mcp_evals` reads them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from harness.suites.formats import HEAD, SuiteFormat, match_key

_QUESTIONS = re.compile(
    match_key("evals").pattern
    + rb"(?:\s|#[^\n]*\n|[\[{-])*[\"']?(?:name|description|prompt|expected_result)[\"']?[ \t]*:",
    re.MULTILINE,
)


def _has_questions(_path: Path, file: BinaryIO) -> bool:
    return bool(_QUESTIONS.search(file.read(HEAD)))


FORMAT = SuiteFormat(
    extensions=(".yml", ".yaml"),
    recognises=_has_questions,
    looks_for="a list under 'evals:'",
    translates="harness.suites.foreign.mcp_evals:translate_evaluations",
)
"""``evals.yaml``."""
