"""Scores that a suite defines over its categories: means of means, weighted as by its leaderboard.

A suite's ``scores`` are ``{"parts": [PART, …]}``. A PART is a category,
``{"name", "category", "cases"}``, whose cases are those with that ``category`` in their metadata,
and whose score is the share that passed; or a mean, ``{"name", "mean", "weight", "parts"}``, where
``mean`` is ``equal``, ``weighted`` (by the parts' ``weight``) or ``pooled`` (by their cases).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.reports.record_fields import axis_fields
from harness.types import CaseResult, HasEntrant, JsonObject, Report, TrialResult


@dataclass(frozen=True, slots=True)
class Score:
    """One line of a score table."""

    name: str
    """The name of the category or mean."""
    depth: int
    """How far it is indented: a mean stands above its parts."""
    score: float
    """0 to 1. In a mean, a category of which nothing was judged counts as 0."""
    judged: int
    """Cases with a verdict."""
    cases: int
    """Cases that there are."""
    weight: float | None = None
    """Its share in a weighted mean, 0 to 1."""

    @property
    def is_complete(self) -> bool:
        """Whether every case was judged."""
        return self.judged >= self.cases


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTable(HasEntrant):
    """The scores of one entrant in one suite."""

    suite: str
    """Name of the suite."""
    model: str
    """Name of the model."""
    axes: Mapping[str, str]
    """`Trial.axes`."""
    scores: tuple[Score, ...]
    """Means above their parts; parts of which nothing was judged are left out."""


INCOMPLETE = (
    "*: not every case was judged. In a mean, a category without any counts as 0, as a "
    "leaderboard would have it."
)


def score_tables(report: Report) -> Iterator[ScoreTable]:
    """Yield a table for each model in each suite that defines scores and has a verdict."""
    for suite, facts in report.suites.items():
        defined: JsonObject = facts.get("scores") or {}
        for entrant in report.entrants if defined else ():
            cases = [one for one in report.cases if (one.suite, one.entrant) == (suite, entrant)]
            rates = _group_rates(cases)
            lines = [
                line
                for part in defined["parts"]
                for line in _ScorePart.from_json(part, rates).iterate_scores(0, None)
                if line.judged
            ]
            if lines:
                model, axes = cases[0].model, cases[0].axes
                yield ScoreTable(suite=suite, model=model, axes=axes, scores=tuple(lines))


def score_lines(table: ScoreTable) -> list[str]:
    """Return a table in lines of text, aligned."""
    names = [f"{'  ' * line.depth}{line.name}" for line in table.scores]
    width = max(map(len, names))
    rows = [
        f"{name:<{width}}  {_format_score(line)}".rstrip()
        for name, line in zip(names, table.scores, strict=True)
    ]
    return rows if all(line.is_complete for line in table.scores) else [*rows, INCOMPLETE]


def scores_json(report: Report) -> list[dict[str, Any]]:
    """Return all tables as JSON."""
    return [
        {
            "suite": table.suite,
            "model": table.model,
            **axis_fields(table.axes),
            "scores": [{**asdict(line), "complete": line.is_complete} for line in table.scores],
        }
        for table in score_tables(report)
    ]


def _format_score(line: Score) -> str:
    mark = " " if line.is_complete else "*"
    share = "" if line.weight is None else f", weighs {line.weight:.0%}"
    return f"{line.score:>7.2%}{mark}  {line.judged:,} of {line.cases:,} cases{share}"


def _group_rates(cases: Iterable[CaseResult]) -> dict[str, list[float]]:
    """Return the pass rate of each judged case, by category; counted turns are cases themselves."""
    rates: dict[str, list[float]] = {}
    for case in cases:
        judged = [result for result in case.trials if result.status in {"passed", "failed"}]
        category = case.trials[0].case.metadata.get("category")
        if judged and isinstance(category, str):
            each = [_list_verdicts(result) for result in judged]
            # Trials may have ended at different turns: only those that each of them reached are
            # counted.
            found = [sum(verdicts) / len(verdicts) for verdicts in zip(*each, strict=False)]
            rates.setdefault(category, []).extend(found)
    return rates


def _list_verdicts(result: TrialResult) -> list[bool]:
    """Return whether the run passed, or, where its turns are counted, whether each of them did."""
    if not any("counts_turns" in check.traits for check in result.checks):
        return [result.status == "passed"]
    turns: dict[int, bool] = {}
    for check in result.checks:
        if check.turn is not None:
            turns[check.turn] = turns.get(check.turn, True) and check.verdict == "passed"
    return list(turns.values())


@dataclass(frozen=True, slots=True)
class _ScorePart:
    """A category or a mean, worked out."""

    name: str
    score: float
    judged: int
    cases: int
    weight: float = 1.0
    weighted: bool = False
    parts: tuple[_ScorePart, ...] = ()

    @classmethod
    def from_json(cls, part: JsonObject, rates: Mapping[str, Sequence[float]]) -> _ScorePart:
        weight = part.get("weight", 1)
        if "category" in part:
            found = rates.get(part["category"], ())
            score = sum(found) / len(found) if found else 0.0
            # Turns that are counted as cases may be more than the cases.
            return cls(part["name"], score, len(found), max(part["cases"], len(found)), weight)
        parts = tuple(cls.from_json(one, rates) for one in part["parts"])
        weights = {
            "equal": [1.0 for _ in parts],
            "weighted": [part.weight for part in parts],
            # A category without any verdict weighs as much as all of its cases, and lowers the
            # mean.
            "pooled": [float(part.judged or part.cases) for part in parts],
        }[part["mean"]]
        total = sum(share * one.score for share, one in zip(weights, parts, strict=True))
        score = total / sum(weights)
        judged, cases = sum(part.judged for part in parts), sum(part.cases for part in parts)
        return cls(part["name"], score, judged, cases, weight, part["mean"] == "weighted", parts)

    def iterate_scores(self, depth: int, share: float | None) -> Iterator[Score]:
        yield Score(self.name, depth, self.score, self.judged, self.cases, share)
        total = sum(part.weight for part in self.parts)
        for part in self.parts:
            own = part.weight / total if self.weighted else None
            yield from part.iterate_scores(depth + 1, own)
