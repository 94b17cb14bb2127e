"""The mutation scores of a run's suites: the command's options and its output."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from rich.console import Console

from harness import probing  # the room alone: few runs load what is in it
from harness.base import make_printable
from harness.runlog import RunLog
from harness.types import Case

Scores: TypeAlias = "Mapping[str, probing.SuiteScore]"
"""Suite → its score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRequest:
    """Whether faults are planted in the recorded answers."""

    mutate: bool = False
    """Whether to say which of them a suite would miss."""
    min_score: float | None = None
    """The percentage that each suite must notice, if any."""

    @property
    def is_requested(self) -> bool:
        """Whether any score is wanted."""
        return self.mutate or self.min_score is not None

    def measure_scores(self, log: RunLog, cases: Iterable[tuple[str, Case]]) -> Scores | None:
        """Return the scores of the suites of ``log``, if they are asked for."""
        return probing.score_run(log, cases, self.min_score) if self.is_requested else None


def find_low_scores(scores: Scores | None) -> list[str] | None:
    """Return which scores are too low; ``None`` if no minimum was asked for."""
    held = {name: score for name, score in (scores or {}).items() if score.is_required}
    low = [f"{name}: {score.fault}" for name, score in held.items() if score.fault is not None]
    return low if held else None


def scores_json(scores: Scores | None) -> dict[str, Any]:
    """Return ``{"mutants": {suite: score}}``; nothing where no scores were asked for."""
    return (
        {} if scores is None else {"mutants": {name: one.document for name, one in scores.items()}}
    )


def print_scores(scores: Scores | None, console: Console) -> None:
    """Print the score of each suite: survivors, the lines that are missing, and the sums."""
    for name, score in (scores or {}).items():
        console.print(make_printable(f"Planted faults, judged by {name}:"), soft_wrap=True)
        for line, style in score.lines:
            console.print(make_printable(line), style=style, soft_wrap=True)
