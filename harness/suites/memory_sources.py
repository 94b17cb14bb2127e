"""How MemoryAgentBench scores each of its sources, and which competency the source measures.

Source: the table of metrics in the README of HUST-AI-HYZ/MemoryAgentBench.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

from harness.base import InvalidValue, describe_value, shorten_text
from harness.types import Case, JsonObject, dataclass


@dataclass(frozen=True, slots=True)
class MemorySource:
    """One source of the dataset, or several whose names begin alike."""

    name: str
    """How its names begin, as the dataset writes them."""
    competency: str
    """What its questions measure, in the dataset's words."""
    by: str | None
    """The measure of `remembers`; ``None`` if harness does not have the official one."""
    official: str = ""
    """The official measure that harness does not have."""

    def has(self, source: str) -> bool:
        """Return whether ``source`` is one of its names, however it is spelt."""
        # "Detective QA", "detective-qa" and "detectiveqa" are one name, "eventqavil" is another.
        letters = r"[\W_]*".join(self.name.replace("_", ""))
        return re.match(rf"\s*{letters}(?![^\W\d_])", source, re.IGNORECASE) is not None


_RETRIEVAL, _LEARNING = "Accurate Retrieval", "Test-Time Learning"
_RANGE, _CONFLICTS = "Long-Range Understanding", "Conflict Resolution"
_COMPETENCIES = (_RETRIEVAL, _LEARNING, _RANGE, _CONFLICTS)
_SOURCES = (
    MemorySource("eventqa", _RETRIEVAL, "substring"),
    MemorySource("ruler_niah", _RETRIEVAL, "recall"),
    MemorySource("ruler_qa", _RETRIEVAL, "substring"),
    MemorySource("longmemeval", _RETRIEVAL, None, "judged by a model"),
    MemorySource("icl", _LEARNING, "exact"),
    MemorySource("recsys", _LEARNING, None, "recall of film ids"),
    MemorySource("detective_qa", _RANGE, "exact"),
    MemorySource("infbench", _RANGE, None, "an F1 that a model judges"),
    MemorySource("factconsolidation", _CONFLICTS, "substring"),
)
_SHOWN = 60
"""Characters of a name in a message."""
_ALIKE = 0.6
"""Likeness from which a name may be a known one that is misspelt, 0 to 1."""


def choose_measure(name: object, given: str | None) -> tuple[str, str | None]:
    """Return the measure of answers, and the competency in whose score they count, if in any.

    The measure is that of the column ``metric``, else the official one of the source with the
    ``name``.

    Raises:
        InvalidValue: the line names no measure, and its source has none that is known.
    """
    if name is None or (isinstance(name, str) and not name.strip()):
        return given or "substring", None
    if not isinstance(name, str):
        raise InvalidValue(f"expected a text, found {describe_value(name)}", path=("source",))
    source = next((known for known in _SOURCES if known.has(name)), None)
    shown = shorten_text(name.strip(), _SHOWN)
    if source is not None and source.by is not None and given in (source.by, None):
        return source.by, source.competency
    if given is not None:
        return given, None
    if source is None:
        names = ", ".join(known.name for known in _SOURCES)
        raise InvalidValue(
            f"{shown!r} is no source of MemoryAgentBench, so it has no official measure",
            path=("source",),
            meant=f"{_find_near(shown)}The sources are {names}. For a source of your own, name its "
            "'metric': substring, exact or recall.",
        )
    raise InvalidValue(
        f"the answers of {shown} are officially {source.official}, which is not supported",
        path=("source",),
        meant="Leave these lines out, or name a 'metric' of your own; its figures are not the "
        "benchmark's.",
    )


def _find_near(name: str) -> str:
    """Return "Did you mean …? ", if ``name`` begins nearly as a known source does."""
    likeness = {
        known.name: SequenceMatcher(None, known.name, name.lower()[: len(known.name)]).ratio()
        for known in _SOURCES
    }
    nearest = max(likeness, key=lambda known: likeness[known])
    return f"Did you mean {nearest!r}? " if likeness[nearest] >= _ALIKE else ""


def check_category(category: object) -> None:
    """Refuse a category that would count answers in a competency's score.

    Raises:
        InvalidValue: it is the name of a competency.
    """
    if category in _COMPETENCIES:
        raise InvalidValue(
            f"{category!r} is the score of MemoryAgentBench's own sources by their own measures",
            path=("category",),
            meant="Choose another name for answers that are compared otherwise.",
        )


def list_scores(cases: Iterable[Case]) -> JsonObject | None:
    """Return a suite's scores: one for each competency among ``cases``; ``None`` without any."""
    questions: dict[str, int] = {}
    for case in cases:
        category = case.metadata.get("category")
        if category in _COMPETENCIES:
            asked = sum(bool(turn.checks) for turn in case.turns)
            questions[category] = questions.get(category, 0) + asked
    parts = [{"name": name, "category": name, "cases": count} for name, count in questions.items()]
    return {"parts": parts} if parts else None
