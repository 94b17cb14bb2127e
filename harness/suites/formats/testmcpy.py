"""Suites of testmcpy; `harness.suites.foreign.testmcpy` reads them."""

from __future__ import annotations

from harness.suites.formats import SuiteFormat, has_all, match_key

_EVALUATORS, _ASKS = match_key("evaluators"), match_key("prompt", "auth_only")

FORMAT = SuiteFormat(
    extensions=(".yml", ".yaml", ".json"),
    recognises=has_all(_EVALUATORS, _ASKS),
    looks_for="'prompt:' and 'evaluators:'",
    translates="harness.suites.foreign.testmcpy:translate_suite",
)
"""``tests.yaml``."""
