"""What each study found, as widgets; a study that is not known here is shown by its facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from harness.workbench.page.cells import (
    Widget,
    line,
    percent,
    table,
)
from harness.workbench.page.generic import raw, tables_of

Facts: TypeAlias = Mapping[str, Any]
_TOLD = frozenset({"headline", "notes", "findings"})
"""What the JSON form adds to the facts of every study."""


def widgets_of(name: str, facts: Facts) -> list[Widget]:
    """Return the widgets of the study of that name; all of its facts come last, folded away."""
    own = {key: value for key, value in facts.items() if key not in _TOLD}
    view = VIEWS.get(name, tables_of)
    return [*view(own), raw(own)] if own else []


def _ablation(facts: Facts) -> Iterator[Widget]:
    """Yield nothing: its facts are the colours of the tool list."""
    yield from () if "parts" in facts else tables_of(facts)


def _decoys(facts: Facts) -> Iterator[Widget]:
    series = [
        {
            "name": line(kind["kind"]),
            "fitted": [
                [point["added"], point["accuracy"], *point["band"]] for point in kind["curve"]
            ],
            "measured": [
                [one["added"], one["pass_rate"]]
                for one in kind["lengths"]
                if one["pass_rate"] is not None
            ],
        }
        for kind in facts.get("kinds", [])
    ]
    if not series:
        return
    yield {
        "kind": "curve",
        "caption": "Pass rate by the number of tools that were added. Line and band: the fitted "
        "curve and its 95 % band. Dots: what was measured.",
        "x": "tools added",
        "y": "pass rate",
        "series": series,
    }
    yield table(
        "The same as figures",
        ["added tools", "added", "pass rate", "cases", "an added tool was called first"],
        [
            [
                line(kind["kind"]),
                f"{one['added']:,}",
                "–" if one["pass_rate"] is None else percent(one["pass_rate"]),
                f"{one['cases']:,}",
                f"{one['decoy_called_first']:,} of {one['trials']:,}",
            ]
            for kind in facts["kinds"]
            for one in kind["lengths"]
        ],
    )


VIEWS: Mapping[str, Callable[[Facts], Iterator[Widget]]] = {
    "ablation": _ablation,
    "decoys": _decoys,
}
"""The studies that the page knows."""
