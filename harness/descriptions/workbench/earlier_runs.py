"""Variability from earlier runs of a suite: correlation of trials, and how often they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import TypeAlias

from harness.base import Trials, intraclass_correlation, measure_discordance, own_discordance
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
    shares, source = _find_discordances(by_model)
    correlations = [
        icc
        for sides in by_model.values()
        for side in sides
        if (icc := intraclass_correlation(list(side.values()))) is not None
    ]
    return Variability(
        discordance=fmean(shares) if shares else DEFAULT_DISCORDANCE,
        discordance_source=source,
        icc=fmean(correlations) if correlations else DEFAULT_ICC,
        icc_source=_format_times("run with repeats", len(correlations))
        if correlations
        else "assumed: no earlier run repeats its cases with different results",
    )


def _trials_by_model(suite: str, wanted: set[str], log: RunLog) -> dict[str, _Side]:
    """Return the trials with a verdict of each entrant of ``log``, case by case."""
    found: dict[str, dict[str, Trials]] = {}
    for result in log.results:
        if result.suite == suite and result.case.name in wanted and result.is_comparable:
            side = found.setdefault(result.entrant, {})
            passed, judged = side.get(result.case.name, (0, 0))
            side[result.case.name] = passed + (result.status == "passed"), judged + 1
    return dict(found)


def _find_discordances(by_model: Mapping[str, Sequence[_Side]]) -> tuple[list[float], str]:
    between = [
        share
        for sides in by_model.values()
        # Neighbours only, so that each run is compared with the one before it.
        for before, after in pairwise(sides)
        if (
            share := measure_discordance(
                [(before[case], after[case]) for case in before if case in after]
            )
        )
        is not None
    ]
    if between:
        return between, _format_times("pair of earlier runs", len(between))
    within = [
        share
        for sides in by_model.values()
        for side in sides
        if (share := own_discordance(list(side.values()))) is not None
    ]
    if within:
        return within, _format_times("run with repeats", len(within))
    return [], "assumed: no two earlier runs with the same model, and none with repeats"


def _format_times(what: str, count: int) -> str:
    return f"measured: {count} {what.replace(' ', 's ', 1) if count > 1 else what}"
