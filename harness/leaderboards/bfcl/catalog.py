"""The categories, their groups, and how they make up the leaderboard's overall score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from harness.base import UsageError, did_you_mean
from harness.types import JsonObject, dataclass

Judging: TypeAlias = Literal["calls", "no_call", "some_call", "multi_turn", "answer"]
"""The rule of a category: the calls are the expected ones, there is no call, there is a call, every
turn leaves the expected state, or the last message contains the answer."""

Language: TypeAlias = Literal["python", "java", "javascript"]
"""The notation of arguments."""


@dataclass(frozen=True, slots=True)
class Category:
    """One category of cases."""

    name: str
    """Upstream's name."""
    cases: int
    """Number of its cases."""
    group: str
    """The leaderboard's group."""
    judging: Judging = "calls"
    """The rule by which its cases are judged."""
    language: Language = "python"
    """The notation of its arguments."""
    file: str = ""
    """The data file's name without prefix and suffix, if it differs from the category's name."""

    @property
    def source(self) -> str:
        """The data file's name without prefix and suffix."""
        return self.file or self.name

    @property
    def is_live(self) -> bool:
        """Whether its cases can be run here, not only judged from recorded outputs."""
        return self.judging != "answer"

    @property
    def needs_memory(self) -> bool:
        """Whether its cases ask about earlier conversations (`leaderboards.bfcl.memory`)."""
        return self.source == "memory"


MOST_STEPS = 20
"""Replies to one turn after which the official runner stops."""

CATEGORIES: Mapping[str, Category] = {
    category.name: category
    for category in (
        Category("simple_python", 400, "non_live"),
        Category("simple_java", 100, "non_live", language="java"),
        Category("simple_javascript", 50, "non_live", language="javascript"),
        Category("multiple", 200, "non_live"),
        Category("parallel", 200, "non_live"),
        Category("parallel_multiple", 200, "non_live"),
        Category("irrelevance", 240, "hallucination", "no_call"),
        Category("live_simple", 258, "live"),
        Category("live_multiple", 1053, "live"),
        Category("live_parallel", 16, "live"),
        Category("live_parallel_multiple", 24, "live"),
        Category("live_irrelevance", 884, "hallucination", "no_call"),
        Category("live_relevance", 16, "hallucination", "some_call"),
        Category("multi_turn_base", 200, "multi_turn", "multi_turn"),
        Category("multi_turn_miss_func", 200, "multi_turn", "multi_turn"),
        Category("multi_turn_miss_param", 200, "multi_turn", "multi_turn"),
        Category("multi_turn_long_context", 200, "multi_turn", "multi_turn"),
        Category("web_search_base", 100, "agentic", "answer", file="web_search"),
        Category("web_search_no_snippet", 100, "agentic", "answer", file="web_search"),
        Category("memory_kv", 155, "agentic", "answer", file="memory"),
        Category("memory_vector", 155, "agentic", "answer", file="memory"),
        Category("memory_rec_sum", 155, "agentic", "answer", file="memory"),
    )
}
"""Category by name, in the leaderboard's order."""


def _names_starting_with(*starts: str) -> tuple[str, ...]:
    return tuple(name for name in CATEGORIES if name.startswith(starts))


_SIMPLE, _LIVE = _names_starting_with("simple_"), _names_starting_with("live_")
_NON_LIVE = (*_SIMPLE, "multiple", "parallel", "parallel_multiple", "irrelevance")
_SINGLE_TURN = (*_NON_LIVE, *_LIVE)

COLLECTIONS: Mapping[str, tuple[str, ...]] = {
    "all": tuple(CATEGORIES),
    "simple": _SIMPLE,
    "non_live": _NON_LIVE,
    "live": _LIVE,
    "single_turn": _SINGLE_TURN,
    "multi_turn": _names_starting_with("multi_turn_"),
    "python": tuple(name for name in _SINGLE_TURN if CATEGORIES[name].language == "python"),
    "non_python": ("simple_java", "simple_javascript"),
    "memory": _names_starting_with("memory_"),
    "web_search": _names_starting_with("web_search_"),
    "agentic": _names_starting_with("web_search_", "memory_"),
}
"""Names that stand for several categories."""


def select_categories(part: str | None) -> tuple[Category, ...]:
    """Return the categories that ``part`` names, separated by commas, in the leaderboard's order.

    Raises:
        UsageError: there is no such category.
    """
    wanted: set[str] = set()
    for name in map(str.strip, (part or "all").split(",")):
        if name not in CATEGORIES and name not in COLLECTIONS:
            every = (*CATEGORIES, *COLLECTIONS)
            meant = did_you_mean(name, every) or f"There are {', '.join(every)}."
            raise UsageError(f"BFCL has no category {name!r}", meant=meant)
        wanted.update(COLLECTIONS.get(name, (name,)))
    return tuple(category for category in CATEGORIES.values() if category.name in wanted)


# ── Scores ───────────────────────────────────────────────────────────────────────────────────


def _build_leaves(*names: str) -> list[JsonObject]:
    return [{"name": name, "category": name, "cases": CATEGORIES[name].cases} for name in names]


def _build_node(
    name: str, parts: Sequence[JsonObject], *, weight: float = 1, mean: str = "equal"
) -> JsonObject:
    return {"name": name, "mean": mean, "weight": weight, "parts": list(parts)}


_AST = [
    _build_node("simple", _build_leaves(*_SIMPLE)),
    *_build_leaves("multiple", "parallel", "parallel_multiple"),
]
_LIVE_AST = _build_leaves("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
_HALLUCINATION = _build_leaves("irrelevance", "live_irrelevance")
_MULTI_TURN = _build_leaves(*COLLECTIONS["multi_turn"])
_AGENTIC = [
    _build_node(name, _build_leaves(*COLLECTIONS[name])) for name in ("web_search", "memory")
]
_OVERALL = [
    _build_node("non_live", _AST, weight=10),
    _build_node("live", _LIVE_AST, weight=10, mean="pooled"),
    _build_node("hallucination", _HALLUCINATION, weight=10),
    _build_node("multi_turn", _MULTI_TURN, weight=30),
    _build_node("agentic", _AGENTIC, weight=40),
]

SCORES: JsonObject = {
    "parts": [_build_node("overall", _OVERALL, mean="weighted"), *_build_leaves("live_relevance")]
}
"""Weights of the overall score: 10 % non-live, 10 % live (by cases), 10 % irrelevance, 30 %
multi-turn, 40 % agentic. Relevance is shown and has no weight."""
