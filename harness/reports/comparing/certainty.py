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
    return [model, *(one for named in others for one in named.values())]


def is_certain(
    before: Sequence[JsonObject], after: Sequence[JsonObject], pairs: Sequence[CasePair]
) -> bool:
    """Return whether two sides are the same subjects, none of which ever varies."""
    kinds = {get_traits(subject.get("provider", "")).answers for subject in before}
    # Two recordings of a model are two samples of it, though neither ever changes.
    if list(before) != list(after) or "llm" in kinds:
        return False
    # The trials of a recording are its own. Those of the baseline differ only if its server varies.
    sides = (side for pair in pairs for side in (pair.before, pair.after))
    return "baseline" not in kinds or all(side.rate in {None, 0, 1} for side in sides)
