"""The viewer of results: a grid of cases, a search, and the trace of a trial beside it.

The page of `harness serve` and the HTML report show the same viewer. Its data are made here,
figures and their words included; its scripts are ES modules in ``assets``, which the page serves as
they are and the report holds in one piece (`harness.reports.single_page`).

=============== ==============================================================
`grid`          the cells and columns, with the rates of each column; several runs as one
`run_summary`   a run as a whole: pass rates, averages, time and cost
`trace`         frames of calls, who refused one, when model and tools were at work
`graded_checks` the three metrics of a graded case, and its expected calls
=============== ==============================================================
"""

from __future__ import annotations

from pathlib import Path

ASSETS = Path(__file__).with_name("assets")
"""The scripts and the style."""
STYLE = (__name__, "assets/viewer.css")
"""The style."""
ELEMENTS = (__name__, "assets/elements.js")
"""Makes elements of a page; other pages use it, too."""
COLOUR = (__name__, "assets/colour.js")
"""Gives each model its colour; needs `ELEMENTS`."""
_TRIAL = ("copy", "time_axis", "graded", "frames", "trial")
_GRID = ("state", "rows", "toolbar", "charts", "answers", "grid", "trace", "viewer")
TRIAL = tuple((__name__, f"assets/{name}.js") for name in _TRIAL)
"""Shows one trial; needs `ELEMENTS`."""
SCRIPTS = (ELEMENTS, COLOUR, *TRIAL, *((__name__, f"assets/{name}.js") for name in _GRID))
"""All scripts, each after those that it needs."""
