"""Evaluations of the skill mcp-builder in XML; `harness.suites.foreign.mcp_builder` reads them."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from harness.suites.formats import HEAD, SuiteFormat


def _is_evaluation(_path: Path, file: BinaryIO) -> bool:
    return b"<qa_pair" in file.read(HEAD)


FORMAT = SuiteFormat(
    extensions=(".xml",),
    recognises=_is_evaluation,
    looks_for="<evaluation> with <qa_pair>",
    translates="harness.suites.foreign.mcp_builder:translate_evaluation",
)
"""``evaluation.xml``."""
