"""The findings of each study as widgets; a study without widgets is shown by its facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from harness.descriptions.workbench.page import choices, growth, proposals, versions
from harness.descriptions.workbench.page.cells import Widget
from harness.descriptions.workbench.page.generic import raw, tables_of

Facts: TypeAlias = Mapping[str, Any]
View: TypeAlias = Callable[[Facts], Iterator[Widget]]
_TOLD = frozenset({"headline", "notes", "findings"})
"""Keys that the JSON form adds to the facts of every study."""


def widgets_of(name: str, facts: Facts) -> list[Widget]:
    """Return the widgets of the study of that name; all of its facts come last, folded away."""
    own = {key: value for key, value in facts.items() if key not in _TOLD}
    key, view = VIEWS.get(name, ("", tables_of))
    if key not in own:  # an unknown study, or nothing was measured
        view = tables_of
    return [*view(own), raw(own)] if own else []


def _in_the_tool_list(_facts: Facts) -> Iterator[Widget]:
    """Yield where to look: the facts are the colours of the tool list."""
    yield {"kind": "text", "text": "The tool list above shows each part with its effect."}


VIEWS: Mapping[str, tuple[str, View]] = {
    "ab": ("variants", versions.ab),
    "ablation": ("parts", _in_the_tool_list),
    "confusion": ("cells", choices.confusion),
    "coverage": ("tools", choices.coverage),
    "decoys": ("kinds", growth.decoys),
    "cost": ("parts", growth.cost),
    "paraphrase": ("others", growth.paraphrase),
    "order": ("passing", growth.order),
    "steering": ("contests", growth.steering),
    "kill-score": ("mutants", proposals.kill_score),
    "improve": ("rewrite", proposals.improve),
}
"""Study → the fact that exists if anything was measured, and its view."""
