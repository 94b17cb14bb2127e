"""A workbench as one JSON document, for CI and for pages."""

from __future__ import annotations

import json
from dataclasses import asdict

from harness.base import canonical_json
from harness.descriptions.workbench.parts import tool_json
from harness.descriptions.workbench.workbench_result import WorkbenchResult
from harness.types import JsonObject


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
        "tools": list(map(tool_json, result.tools)),
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
