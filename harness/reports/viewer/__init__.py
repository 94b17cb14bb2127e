"""The viewer of results: a grid of cases, a search, and the trace of a trial beside it.

The page of `harness serve` and the HTML report show the same viewer. Its data are made here,
figures and their words included; its scripts are ES modules in ``assets``, which the page serves as
they are and the report holds in one piece (`harness.reports.single_page`).

============== ==============================================================
`grid`         the cells and columns, with the rates of each column
`several_runs` the grids of several runs as one
`time_axis`    when the model and the tools were at work
`graded`       the three metrics of a graded case, and its expected calls
`refusals`     who refused a call, in words
`frames`       the JSON-RPC frames of a call
`text_search`  finds words in everything that a log says of its trials
============== ==============================================================
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
_GRID = ("state", "rows", "toolbar", "grid", "trace", "viewer")
TRIAL = tuple((__name__, f"assets/{name}.js") for name in _TRIAL)
"""Shows one trial; needs `ELEMENTS`."""
SCRIPTS = (ELEMENTS, COLOUR, *TRIAL, *((__name__, f"assets/{name}.js") for name in _GRID))
"""All scripts, each after those that it needs."""
