"""The coverage of a probe: which parameter of which tool was called as which identity.

A probe without findings proves nothing about calls that it never made. A cell is a tool, an
identity of the suite and a parameter of the tool (or none, if the tool has none). It is covered if
that identity's call with that parameter had an answer that shows a decision: a result or a refusal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from harness.probing.caller_views import (
    ProbedTrials,
    get_caller_name,
    get_facts,
    get_label,
)
from harness.types import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A combination of tool, identity and parameter."""

    tool: str
    """Name of the tool."""
    identity: str
    """The caller."""
    parameter: str | None
    """Name of the parameter; ``None`` for a tool without any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The covered share of all cells."""

    cells: int = 0
    """All cells."""
    never_asked: tuple[Cell, ...] = ()
    """Cells without an answer."""
    wanted: float | None = None
    """The required percentage, if any."""

    @property
    def covered_cells(self) -> int:
        """Number of covered cells."""
        return self.cells - len(self.never_asked)

    @property
    def percent(self) -> float:
        """Percentage of covered cells; 100 if there are none."""
        return 100 * self.covered_cells / self.cells if self.cells else 100.0

    @property
    def failure(self) -> str | None:
        """Why the coverage is too low; ``None`` if it is sufficient."""
        if self.wanted is None or self.percent >= self.wanted:
            return None
        return f"Coverage is {self.percent:.1f} %, at least {self.wanted:g} % is wanted"


def measure_coverage(
    probed: ProbedTrials, tools: Iterable[Tool], silent: Collection[str], wanted: float | None
) -> Coverage:
    """Return the coverage of ``tools``; calls in ``silent`` show no decision of the policy."""
    identities = dict.fromkeys(map(get_caller_name, probed.own))
    asked = {
        Cell(tool=get_facts(run)["tool"], identity=identity, parameter=parameter)
        for (identity, label), run in probed.collect_answered().items()
        if label not in silent and get_label(run) == label
        for parameter in (*get_facts(run)["arguments"], None)
    }
    cells = [
        Cell(tool=tool.name, identity=identity, parameter=parameter)
        # Each identity has a list of its own, and most tools are in several.
        for tool in {tool.name: tool for tool in tools}.values()
        for parameter in (tool.input_schema.get("properties") or {None: None})
        for identity in identities
    ]
    never = tuple(cell for cell in cells if cell not in asked)
    return Coverage(cells=len(cells), never_asked=never, wanted=wanted)


def format_cells(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the cells as lines, one for each tool and parameter."""
    # Neighbours are enough, since `measure_coverage` goes through the identities last.
    for (tool, parameter), same in groupby(cells, key=lambda cell: (cell.tool, cell.parameter)):
        given = "" if parameter is None else f" with {parameter}"
        yield f"{tool}{given}, as {', '.join(cell.identity for cell in same)}"
