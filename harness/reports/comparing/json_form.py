"""A comparison as JSON: ``{"status": "ok", "result": {"sides", "contrasts", "level", …}}``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TextIO

from harness.reports.comparing.comparison_types import (
    CasePair,
    Comparison,
    Contrast,
    Effect,
    Side,
    Tally,
)
from harness.reports.record_fields import axis_fields


def write_comparison_json(
    comparison: Comparison, stream: TextIO, gate: Mapping[str, Any] | None = None
) -> None:
    """Write one JSON document."""
    result = comparison_json(comparison) | ({"gate": gate} if gate else {})
    stream.write(json.dumps({"status": "ok", "result": result}))  # `json.dump` takes far longer
    stream.write("\n")


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as JSON; rates and differences are from −1 to 1, unknown is null."""
    return {
        "sides": [_encode_side(side) for side in comparison.sides],
        "contrasts": [_encode_contrast(contrast) for contrast in comparison.contrasts],
        "level": comparison.level,
        "tests": comparison.tests,
        "margin": comparison.margin,
        "correction": "holm",
        **({"by_people": True} if comparison.by_people else {}),
    }


def _encode_side(side: Side) -> dict[str, Any]:
    facts = asdict(side)
    del facts["axes"]
    counts = facts["counts"] | {"judged": side.counts.judged_count}
    return facts | axis_fields(side.axes) | {"counts": counts}


def _encode_contrast(contrast: Contrast) -> dict[str, Any]:
    return {
        "before": contrast.before.name,
        "after": contrast.after.name,
        "verdict": contrast.effects[0].evidence,
        "differences": list(contrast.differences),
        "effects": [_encode_effect(effect) for effect in contrast.effects],
        "cases": [_encode_case(pair) for pair in contrast.cases],
        "only_before": list(contrast.only_before),
        "only_after": list(contrast.only_after),
    }


def _encode_effect(effect: Effect) -> dict[str, Any]:
    facts = asdict(effect)
    facts["verdict"] = facts.pop("evidence")
    facts["smallest_difference"] = facts.pop("smallest")
    return facts | {"pairs": effect.pairs, "difference": effect.difference, "unit": effect.unit}


def _encode_case(pair: CasePair) -> dict[str, Any]:
    return {
        "suite": pair.suite,
        "case": pair.case,
        "change": pair.change,
        "before": _encode_tally(pair.before),
        "after": _encode_tally(pair.after),
        "difference": pair.difference,
    }


def _encode_tally(it: Tally) -> dict[str, Any]:
    return {"passed": it.passed, "judged": it.judged, "unjudged": it.unjudged, "rate": it.rate}
