"""Scores that a suite defines over its categories: means of means, weighted as by its leaderboard.

A suite's ``scores`` are ``{"parts": [PART, …]}``. A PART is a category,
``{"name", "category", "cases"}``, whose cases are those with that ``category`` in their metadata,
and whose score is the share that passed; or a mean, ``{"name", "mean", "weight", "parts"}``, where
``mean`` is ``equal``, ``weighted`` (by the parts' ``weight``) or ``pooled`` (by their cases).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import Any

from harness.reports.record_fields import axis_fields
from harness.types import CaseResult, HasEntrant, JsonObject, Report, TrialResult, dataclass


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
            scores = (line for part in defined["parts"] for line in _score_part(part, rates))
            lines = [line for line in scores if line.judged]
            if lines:
                model, axes = cases[0].model, cases[0].axes
                yield ScoreTable(suite=suite, model=model, axes=axes, scores=tuple(lines))


def find_scores(report: Report, suite: str, entrant: str) -> Iterator[tuple[str, str]]:
    """Yield each score of an entrant in a suite: its name, and the score in words."""
    for table in score_tables(report):
        if (table.suite, table.entrant) == (suite, entrant):
            yield from ((line.name, _format_score(line).strip()) for line in table.scores)


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


def _score_part(
    part: JsonObject, rates: Mapping[str, Sequence[float]], depth: int = 0
) -> list[Score]:
    """Return the score of a part, and behind it those of its own parts."""
    name = part["name"]
    if "category" in part:
        found = rates.get(part["category"], ())
        score = sum(found) / len(found) if found else 0.0
        # Turns that are counted as cases may be more than the cases.
        return [Score(name, depth, score, len(found), max(part["cases"], len(found)))]
    inner = [_score_part(one, rates, depth + 1) for one in part["parts"]]
    own = [scores[0] for scores in inner]
    given = [one.get("weight", 1) for one in part["parts"]]
    weights = {
        "equal": [1.0 for _ in own],
        "weighted": given,
        # A category without any verdict weighs as much as all of its cases, and lowers the mean.
        "pooled": [float(one.judged or one.cases) for one in own],
    }[part["mean"]]
    score = sum(share * one.score for share, one in zip(weights, own, strict=True)) / sum(weights)
    if part["mean"] == "weighted":
        for scores, weight in zip(inner, given, strict=True):
            scores[0] = replace(scores[0], weight=weight / sum(given))
    mean = Score(name, depth, score, sum(it.judged for it in own), sum(it.cases for it in own))
    return [mean, *chain.from_iterable(inner)]
