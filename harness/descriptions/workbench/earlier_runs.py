"""Variability from earlier runs of a suite: correlation of trials, and how often they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import TypeAlias

from harness.base import Trials, intraclass_correlation, measure_discordance, own_discordance
from harness.descriptions.workbench.measurements import count_by_case
from harness.runlog import RunLog

DEFAULT_DISCORDANCE = 0.2
"""ψ if no earlier run shows otherwise: one pair of trials in five ends differently."""
DEFAULT_ICC = 0.79
"""ICC without earlier runs, measured on three models: trials of a case are highly correlated."""

_Side: TypeAlias = Mapping[str, Trials]
"""Case → its trials with one model in one run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variability:
    """The variability of a suite's results, and the source of the figures."""

    discordance: float
    """ψ: the share of pairs of trials of one case, one a side, that end differently."""
    discordance_source: str
    """The source of `discordance`, in words."""
    icc: float
    """The correlation of a case's trials, from 0 to 1."""
    icc_source: str
    """The source of `icc`, in words."""


def estimate_variability(suite: str, cases: Iterable[str], logs: Sequence[RunLog]) -> Variability:
    """Return the variability of ``cases`` of ``suite``, estimated from ``logs`` (oldest first).

    Two runs with the same model give the discordance; a single run with repeats gives that of two
    trials of one run. Repeats give the ICC.
    """
    wanted = set(cases)
    by_model: dict[str, list[_Side]] = {}
    for log in logs:
        for model, side in _trials_by_model(suite, wanted, log).items():
            by_model.setdefault(model, []).append(side)
    sides = [list(side.values()) for sides in by_model.values() for side in sides]
    # Neighbours only, so that each run is compared with the one before it.
    pairs = [
        [(before[case], after[case]) for case in before if case in after]
        for sides in by_model.values()
        for before, after in pairwise(sides)
    ]
    between = _drop_unknown(map(measure_discordance, pairs))
    within = _drop_unknown(map(own_discordance, sides))
    icc = _drop_unknown(map(intraclass_correlation, sides))
    source = "assumed: no two earlier runs with the same model, and none with repeats"
    if between:
        source = _format_times("pair of earlier runs", len(between))
    elif within:
        source = _format_times("run with repeats", len(within))
    return Variability(
        discordance=fmean(between or within or [DEFAULT_DISCORDANCE]),
        discordance_source=source,
        icc=fmean(icc or [DEFAULT_ICC]),
        icc_source=_format_times("run with repeats", len(icc))
        if icc
        else "assumed: no earlier run repeats its cases with different results",
    )


def _drop_unknown(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _trials_by_model(suite: str, wanted: set[str], log: RunLog) -> dict[str, _Side]:
    """Return the trials with a verdict of each entrant of ``log``, case by case."""
    found: dict[str, list[tuple[str, bool]]] = {}
    for result in log.results:
        if result.suite == suite and result.case.name in wanted and result.is_comparable:
            outcome = result.case.name, result.status == "passed"
            found.setdefault(result.entrant, []).append(outcome)
    return {entrant: count_by_case(outcomes) for entrant, outcomes in found.items()}


def _format_times(what: str, count: int) -> str:
    return f"measured: {count} {what.replace(' ', 's ', 1) if count > 1 else what}"
