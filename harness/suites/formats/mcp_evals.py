"""Evaluations of mcp-evals; `harness.suites.foreign.mcp_evals` reads them."""

from __future__ import annotations

import re

from harness.suites.formats import SuiteFormat, has_all, match_key

_QUESTIONS = re.compile(
    match_key("evals").pattern
    + rb"(?:\s|#[^\n]*\n|[\[{-])*[\"']?(?:name|description|prompt|expected_result)[\"']?[ \t]*:",
    re.MULTILINE,
)

FORMAT = SuiteFormat(
    extensions=(".yml", ".yaml"),
    recognises=has_all(_QUESTIONS),
    looks_for="a list under 'evals:'",
    translates="harness.suites.foreign.mcp_evals:translate_evaluations",
)
"""``evals.yaml``."""
