"""What a workbench found, of all its models; also as one JSON document."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from harness.base import canonical_json
from harness.descriptions.workbench.arms import ServerTexts, tool_json
from harness.descriptions.workbench.study import StudyResult
from harness.types import JsonObject, Usage, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResults:
    """The answers of all studies for one model."""

    model: str
    """Name of the model."""
    baseline: bool
    """Whether it is the baseline, which is not an LLM."""
    studies: tuple[StudyResult, ...]
    """The answers, in the order of reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkbenchResult:
    """All findings of a workbench, read from its logs."""

    run_id: str
    """Folder of the first stage; empty if nothing was run."""
    suite: str
    """Name of the suite."""
    texts: ServerTexts
    """The tools and the instructions, with the server's words."""
    models: tuple[ModelResults, ...]
    """The results of each model."""
    logs: tuple[Path, ...]
    """The log of each stage."""
    reason: str
    """Why the last stage ended: ``complete``, ``interrupted``, ``budget`` …"""
    recorded: int
    """Recorded trials, in all stages."""
    not_judged: int
    """Number of these without a verdict."""
    spent: Usage
    """What the trials used."""
    notes: tuple[str, ...] = ()
    """Limits of the results as a whole."""


def build_workbench_document(result: WorkbenchResult) -> JsonObject:
    """Return ``result`` as JSON: everything that the page and the console show."""
    return {
        "run_id": result.run_id,
        "suite": result.suite,
        "reason": result.reason,
        "trials": {"recorded": result.recorded, "not_judged": result.not_judged},
        "usage": asdict(result.spent),
        "notes": list(result.notes),
        "logs": [str(path) for path in result.logs],
        "tools": list(map(tool_json, result.texts.tools)),
        "instructions": list(map(dict, result.texts.instructions)),
        "models": [
            {
                "model": model.model,
                "baseline": model.baseline,
                "studies": {
                    study.study: {
                        "headline": study.headline,
                        "notes": list(study.notes),
                        "findings": [asdict(finding) for finding in study.findings],
                        **json.loads(canonical_json(study.facts)),
                    }
                    for study in model.studies
                },
            }
            for model in result.models
        ],
    }
