"""Suites of mcp-server-tester of steviec; `harness.suites.foreign.steviec` reads them."""

from __future__ import annotations

import re

from harness.suites.formats import SuiteFormat, has_all, match_key

# As a mapping: mcp-evals has a list there.
_KEYS = rb"(?:models|timeout|max_steps|tests|expected_tool_list)"
_TESTS = re.compile(
    match_key("evals", "tools").pattern
    + rb"(?:\s|#[^\n]*\n|\{)*[\"']?" + _KEYS + rb"[\"']?[ \t]*:|steviec/mcp-server-tester",
    re.MULTILINE,
)  # fmt: skip

FORMAT = SuiteFormat(
    extensions=(".yml", ".yaml", ".json"),
    recognises=has_all(_TESTS),
    looks_for="'evals:' with 'tests:'",
    translates="harness.suites.foreign.steviec:translate_tests",
)
"""``evals.yaml``."""
