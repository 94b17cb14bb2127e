"""The coverage of a probe: which parameter of which tool was called as which identity.

A probe without findings proves nothing about calls that it never made. A cell is a tool, an
identity of the suite and a parameter of the tool (or none, if the tool has none). It is covered if
that identity's call with that parameter had an answer that shows a decision: a result or a refusal.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from harness.probing.caller_views import ProbedTrials, bases_of, facts_of, label_of, name_of
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
    def asked(self) -> int:
        """Number of covered cells."""
        return self.cells - len(self.never_asked)

    @property
    def percent(self) -> float:
        """Percentage of covered cells; 100 if there are none."""
        return 100 * self.asked / self.cells if self.cells else 100.0

    @property
    def fault(self) -> str | None:
        """Why the coverage is too low; ``None`` if it is sufficient."""
        if self.wanted is None or self.percent >= self.wanted:
            return None
        return f"Coverage is {self.percent:.1f} %, at least {self.wanted:g} % is wanted"


def measure(
    probed: ProbedTrials, tools: Iterable[Tool], silent: Collection[str], wanted: float | None
) -> Coverage:
    """Return the coverage of ``tools``; calls in ``silent`` show no decision of the policy."""
    identities = dict.fromkeys(name_of(run) for run in probed.runs if not bases_of(run))
    asked = {
        Cell(tool=facts_of(run)["tool"], identity=identity, parameter=parameter)
        for (identity, label), run in probed.answered().items()
        if label not in silent and label_of(run) == label
        for parameter in (*facts_of(run)["arguments"], None)
    }
    cells = [
        Cell(tool=tool.name, identity=identity, parameter=parameter)
        for tool in {tool.name: tool for tool in tools}.values()
        for parameter in (tool.input_schema.get("properties") or {None: None})
        for identity in identities
    ]
    never = tuple(cell for cell in cells if cell not in asked)
    return Coverage(cells=len(cells), never_asked=never, wanted=wanted)


def in_words(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the cells as lines, one for each tool and parameter."""
    for (tool, parameter), same in groupby(cells, key=lambda cell: (cell.tool, cell.parameter)):
        given = "" if parameter is None else f" with {parameter}"
        yield f"{tool}{given}, as {', '.join(cell.identity for cell in same)}"
