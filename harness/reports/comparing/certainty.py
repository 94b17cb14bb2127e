"""Subjects that always answer the same: what changes between two runs of one is no chance."""

from __future__ import annotations

from collections.abc import Sequence

from harness.models import get_traits
from harness.reports.comparing.comparison_types import CasePair
from harness.runlog import Header
from harness.types import JsonObject


def list_subjects(header: Header, entrant: str) -> list[JsonObject]:
    """Return the settings of everything that answers: the model, the judges, simulated users."""
    others = (header.settings.get(key) or {} for key in ("judge_models", "user_models"))
    model = header.models[header.entrants[entrant]["model"]]
    subjects = [model, *(one for named in others for one in named.values())]
    return [_identify_subject(one) for one in subjects]


def _identify_subject(facts: JsonObject) -> JsonObject:
    """Return what makes a subject the same: of a recording what it holds, not where it lies."""
    if get_traits(facts.get("provider", "")).answers not in {"replies", "outputs"}:
        return facts
    return {name: facts.get(name) for name in ("provider", "digest")}


def is_certain(
    before: Sequence[JsonObject], after: Sequence[JsonObject], pairs: Sequence[CasePair]
) -> bool:
    """Return whether two sides are the same subjects, none of which ever varies."""
    kinds = {get_traits(subject.get("provider", "")).answers for subject in before}
    # Two recordings of a model are two samples of it, though neither ever changes.
    if list(before) != list(after) or "llm" in kinds:
        return False
    # Nobody knows whether a recording that could not be read is the same.
    if any("digest" in one and one["digest"] is None for one in before):
        return False
    # The trials of a recording are its own. Those of the baseline differ only if its server varies.
    sides = (side for pair in pairs for side in (pair.before, pair.after))
    return "baseline" not in kinds or all(side.rate in {None, 0, 1} for side in sides)
