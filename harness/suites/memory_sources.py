"""How MemoryAgentBench scores each of its sources, and which competency the source measures.

Source: the table of metrics in the README of HUST-AI-HYZ/MemoryAgentBench.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.base import InvalidValue
from harness.types import Case, JsonObject


@dataclass(frozen=True, slots=True)
class MemorySource:
    """One source of the dataset, or several whose names begin alike."""

    prefix: str
    """How its names begin, in small letters."""
    competency: str
    """What its questions measure, in the dataset's words."""
    by: str | None
    """The measure of `remembers`; ``None`` if harness does not have the official one."""
    official: str = ""
    """The official measure that harness does not have."""


_RETRIEVAL, _LEARNING = "Accurate Retrieval", "Test-Time Learning"
_RANGE, _CONFLICTS = "Long-Range Understanding", "Conflict Resolution"
_SOURCES = (
    MemorySource("eventqa", _RETRIEVAL, "substring"),
    MemorySource("ruler_niah", _RETRIEVAL, "recall"),
    MemorySource("ruler_qa", _RETRIEVAL, "substring"),
    MemorySource("longmemeval", _RETRIEVAL, None, "judged by a model"),
    MemorySource("icl_", _LEARNING, "exact"),
    MemorySource("recsys", _LEARNING, None, "recall of film ids"),
    MemorySource("detective_qa", _RANGE, "exact"),
    MemorySource("infbench", _RANGE, None, "an F1 that a model judges"),
    MemorySource("factconsolidation", _CONFLICTS, "substring"),
)


def find_source(source: object) -> MemorySource | None:
    """Return what is known of ``metadata.source``; ``None`` for a source of somebody's own."""
    name = source.strip().lower() if isinstance(source, str) else ""
    return next((known for known in _SOURCES if name.startswith(known.prefix)), None)


def choose_measure(source: MemorySource | None, given: str | None) -> str:
    """Return the measure: that of the column ``metric``, else the source's official one.

    Raises:
        InvalidValue: the official one is not supported, and the line names no other.
    """
    if given is not None or source is None:
        return given or "substring"
    if source.by is None:
        raise InvalidValue(
            f"the answers of {source.prefix} are officially {source.official}, "
            "which is not supported",
            path=("source",),
            meant="Leave these lines out, or name a 'metric' of your own; its figures are not the "
            "benchmark's.",
        )
    return source.by


def list_scores(cases: Iterable[Case]) -> JsonObject | None:
    """Return a suite's scores: one for each competency among ``cases``; ``None`` without any."""
    questions: dict[str, int] = {}
    for case in cases:
        category = case.metadata.get("category")
        if category in (_RETRIEVAL, _LEARNING, _RANGE, _CONFLICTS):
            asked = sum(bool(turn.checks) for turn in case.turns)
            questions[category] = questions.get(category, 0) + asked
    parts = [{"name": name, "category": name, "cases": count} for name, count in questions.items()]
    return {"parts": parts} if parts else None
