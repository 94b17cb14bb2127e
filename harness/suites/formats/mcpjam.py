"""Suite files of MCPJam; `harness.suites.foreign.mcpjam` reads them."""

from __future__ import annotations

from harness.suites.formats import SuiteFormat, has_all, match_key

_VERSION, _MODE = match_key("schemaVersion"), match_key("reportingMode")

FORMAT = SuiteFormat(
    extensions=(".yml", ".yaml", ".json"),
    recognises=has_all(_VERSION, _MODE),
    looks_for="'schemaVersion', 'mode' and 'reportingMode'",
    translates="harness.suites.foreign.mcpjam:translate_suite",
)
"""``suite.json``."""
