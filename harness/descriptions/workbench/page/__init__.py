"""The page of a workbench: one HTML file that works alone and fetches nothing.

The page knows a few shapes (*widgets*): tables with intervals, a heat map, curves, texts to paste,
changes side by side. `study_widgets` turns the findings of each study into widgets; an unknown
study is shown by its own words and tables of its facts.
"""

from __future__ import annotations

from typing import TextIO

from harness.descriptions.workbench.page.overview import (
    build_overview,
    collect_conversations,
    conversation_keys,
)
from harness.descriptions.workbench.workbench_result import WorkbenchResult
from harness.reports import SCRIPTS, STYLES, SinglePage

_MODULES = ("data", "widgets", "tools", "script")
WORKBENCH_PAGE = SinglePage(
    markup=(__name__, "page.html"),
    styles=(*STYLES, (__name__, "style.css")),
    scripts=(*SCRIPTS, *((__name__, f"{name}.js") for name in _MODULES)),
)
"""The page of a workbench."""


def write_page(result: WorkbenchResult, stream: TextIO) -> None:
    """Write the page of ``result``, with the conversations that it opens."""
    whole = build_overview(result)
    known, blocks = collect_conversations(result, conversation_keys(whole))
    WORKBENCH_PAGE.write([("overview", {**whole, "conversations": known}), *blocks], stream)
