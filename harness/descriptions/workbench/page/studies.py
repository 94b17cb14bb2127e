"""The findings of each study as widgets; a study without widgets is shown by its facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from harness.descriptions.workbench.page import choices, curves, proposals, versions
from harness.descriptions.workbench.page.cells import Widget
from harness.descriptions.workbench.page.generic import generic_tables, raw_json

Facts: TypeAlias = Mapping[str, Any]
View: TypeAlias = Callable[[Facts], Iterator[Widget]]
_TOLD = frozenset({"headline", "notes", "findings"})
"""Keys that the JSON form adds to the facts of every study."""


def study_widgets(name: str, facts: Facts) -> list[Widget]:
    """Return the widgets of the study of that name; all of its facts come last, folded away."""
    own = {key: value for key, value in facts.items() if key not in _TOLD}
    key, view = VIEWS.get(name, ("", generic_tables))
    if key not in own:  # an unknown study, or nothing was measured
        view = generic_tables
    return [*view(own), raw_json(own)] if own else []


def _refer_to_tool_list(_facts: Facts) -> Iterator[Widget]:
    """Yield where to look: the facts are the colours of the tool list."""
    yield {"kind": "text", "text": "The tool list above shows each part with its effect."}


VIEWS: Mapping[str, tuple[str, View]] = {
    "ab": ("variants", versions.ab_widgets),
    "ablation": ("parts", _refer_to_tool_list),
    "confusion": ("cells", choices.confusion_widgets),
    "coverage": ("tools", choices.coverage_widgets),
    "decoys": ("kinds", curves.decoys_widgets),
    "cost": ("parts", curves.cost_widgets),
    "paraphrase": ("others", curves.paraphrase_widgets),
    "order": ("passing", curves.order_widgets),
    "steering": ("contests", curves.steering_widgets),
    "kill-score": ("mutants", proposals.kill_score_widgets),
    "improve": ("rewrite", proposals.improve_widgets),
}
"""Study → the fact that exists if anything was measured, and its view."""
