"""Datasets of mcp-eval of lastmile; `harness.suites.foreign.lastmile` reads them."""

from __future__ import annotations

from harness.suites.formats import SuiteFormat, has_all, match_key

_CASES = match_key("cases")
# The original writes these keys into each file; pydantic-evals has neither, nor these evaluators.
_OF_DATASETS = match_key(
    "server_name", "agent_spec", "ToolWasCalled", "ToolSequence", "ResponseContains",
    "MaxIterations", "ToolSuccessRate", "ExactToolCount", "ToolFailed", "ToolCalledWith",
    "NotContains", "ToolOutputMatches", "PathEfficiency", "MultiCriteriaJudge",
)  # fmt: skip

FORMAT = SuiteFormat(
    extensions=(".yml", ".yaml", ".json"),
    recognises=has_all(_CASES, _OF_DATASETS),
    looks_for="'cases:' with 'inputs', and 'server_name:' or evaluators such as 'ToolWasCalled'",
    translates="harness.suites.foreign.lastmile:translate_dataset",
)
"""``dataset.yaml``."""
