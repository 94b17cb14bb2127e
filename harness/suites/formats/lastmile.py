"""Datasets of mcp-eval of lastmile; `harness.suites.foreign.lastmile` reads them."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from harness.suites.formats import HEAD, SuiteFormat, match_key

_CASES = match_key("cases")
# The original writes these keys into each file; pydantic-evals has neither, nor these evaluators.
_OF_DATASETS = match_key(
    "server_name", "agent_spec", "ToolWasCalled", "ToolSequence", "ResponseContains",
    "MaxIterations", "ToolSuccessRate", "ExactToolCount", "ToolFailed", "ToolCalledWith",
    "NotContains", "ToolOutputMatches", "PathEfficiency", "MultiCriteriaJudge",
)  # fmt: skip


def _is_dataset(_path: Path, file: BinaryIO) -> bool:
    head = file.read(HEAD)
    return bool(_CASES.search(head) and _OF_DATASETS.search(head))


FORMAT = SuiteFormat(
    extensions=(".yml", ".yaml", ".json"),
    recognises=_is_dataset,
    looks_for="'cases:' with 'inputs', and 'server_name:' or evaluators such as 'ToolWasCalled'",
    translates="harness.suites.foreign.lastmile:translate_dataset",
)
"""``dataset.yaml``."""
