"""A comparison as one HTML page: the statistics, and both answers and call sequences of each case.

The statistics are markup, readable without a script. The cases are data (`sides`, `cases`): a
script lists them, and marks what differs in the words, the calls and the arguments of the one that
is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TextIO

from harness.reports import viewer
from harness.reports.comparing import sentences
from harness.reports.comparing.comparison_types import Comparison, Contrast, Side
from harness.reports.comparing.markup import statistics_html
from harness.reports.comparing.page.cases import (
    Opener,
    PageRun,
    PageSide,
    case_row,
    changed_tools,
    encode_pair,
    judged_run,
)
from harness.reports.formats.html_report import BLOCKS, STYLES
from harness.reports.single_page import Block, SinglePage
from harness.reports.viewer.grid import shorten_line

COMPARISON_PAGE = SinglePage(
    markup=(__name__, "page.html"),
    styles=(*STYLES, (__name__, "style.css")),
    scripts=(
        viewer.ELEMENTS,
        viewer.COLOUR,
        BLOCKS,
        *((__name__, f"{name}.js") for name in ("diff", "sides", "effects", "printing", "script")),
    ),
)
"""The page of a comparison."""


def write_comparison_html(
    comparison: Comparison,
    stream: TextIO,
    link: Callable[[Side], str] | None = None,
    opener: Opener = judged_run,
) -> None:
    """Write the page, one case at a time; conversations are read from the logs of the sides.

    ``link`` returns the address of a side's results, for a page that is served beside them.
    ``opener`` opens the runs.

    Raises:
        InvalidInput, OSError: a log cannot be read any more.
    """
    with ExitStack() as stack:
        runs: dict[str, PageRun] = {}
        for side in comparison.sides:
            # Several models of one run are several sides of it, and its log is opened once.
            if side.log not in runs:
                opened = opener(Path(side.log), comparison.by_people)
                runs[side.log] = stack.enter_context(opened)
        sides = {side.name: PageSide(runs[side.log], side.entrant) for side in comparison.sides}
        blocks = _build_blocks(comparison, link, sides)
        COMPARISON_PAGE.write(blocks, stream, parts={"statistics": statistics_html(comparison)})


def _build_blocks(
    comparison: Comparison,
    link: Callable[[Side], str] | None,
    trials: Mapping[str, PageSide],
) -> Iterator[Block]:
    sides = {
        side.name: {
            "model": shorten_line(side.entrant),
            "run": shorten_line(side.run_id),
            "link": link(side) if link else "",
        }
        for side in comparison.sides
    }
    yield (
        "overview",
        {
            "served": link is not None,
            "margin": comparison.margin,
            "sides": sides,
            "contrasts": [_encode_contrast(contrast, trials) for contrast in comparison.contrasts],
        },
    )
    for place, contrast in enumerate(comparison.contrasts):
        before, after = trials[contrast.before.name], trials[contrast.after.name]
        for number, pair in enumerate(contrast.cases):
            yield f"case-{place}-{number}", encode_pair(pair, before, after)


def _encode_contrast(contrast: Contrast, trials: Mapping[str, PageSide]) -> dict[str, Any]:
    before, after = trials[contrast.before.name], trials[contrast.after.name]
    names = [(pair.suite, pair.case) for pair in contrast.cases]
    return {
        "before": contrast.before.name,
        "after": contrast.after.name,
        "verdict": contrast.effects[0].evidence,
        "effects": [
            {
                "title": "all cases" if effect.suite is None else shorten_line(effect.suite),
                "difference": effect.difference,
                "interval": effect.interval,
                "words": f"{sentences.format_points(effect.difference)} points "
                f"({sentences.format_interval(effect)})",
            }
            for effect in contrast.effects
        ],
        "tools": changed_tools(before.select_tools(names), after.select_tools(names)),
        "rows": [case_row(pair, before, after) for pair in contrast.cases],
    }
