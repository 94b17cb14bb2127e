"""The categories, their groups, and how they make up the leaderboard's overall score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from harness.base import UsageError, did_you_mean
from harness.types import JsonObject

Judging: TypeAlias = Literal["calls", "no_call", "some_call", "multi_turn", "answer"]
"""The rule of a category: the calls are the expected ones, there is no call, there is a call, every
turn leaves the expected state, or the last message contains the answer."""

Language: TypeAlias = Literal["python", "java", "javascript"]
"""The notation of arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """One category of cases."""

    name: str
    """Upstream's name."""
    cases: int
    """Number of its cases."""
    meaning: str
    """What the cases test, in a few words."""
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


def _define_category(
    name: str, cases: int, group: str, meaning: str, **more: Any
) -> tuple[str, Category]:
    return name, Category(name=name, cases=cases, group=group, meaning=meaning, **more)


MOST_STEPS = 20
"""Replies to one turn after which the official runner stops."""

CATEGORIES: Mapping[str, Category] = dict(
    (
        _define_category("simple_python", 400, "non_live", "one function, one call"),
        _define_category(
            "simple_java", 100, "non_live", "one Java method, one call", language="java"
        ),
        _define_category(
            "simple_javascript",
            50,
            "non_live",
            "one JavaScript function, one call",
            language="javascript",
        ),
        _define_category(
            "multiple", 200, "non_live", "several functions, one call of the right one"
        ),
        _define_category("parallel", 200, "non_live", "one function, several calls at once"),
        _define_category(
            "parallel_multiple", 200, "non_live", "several functions, several calls at once"
        ),
        _define_category(
            "irrelevance",
            240,
            "hallucination",
            "no function fits: none may be called",
            judging="no_call",
        ),
        _define_category("live_simple", 258, "live", "one function that a user wrote, one call"),
        _define_category(
            "live_multiple", 1053, "live", "several functions that users wrote, one call"
        ),
        _define_category(
            "live_parallel", 16, "live", "one function that a user wrote, several calls"
        ),
        _define_category(
            "live_parallel_multiple",
            24,
            "live",
            "several functions that users wrote, several calls",
        ),
        _define_category(
            "live_irrelevance",
            884,
            "hallucination",
            "no function fits, asked by users",
            judging="no_call",
        ),
        _define_category(
            "live_relevance",
            16,
            "hallucination",
            "some function fits: any call counts",
            judging="some_call",
        ),
        _define_category(
            "multi_turn_base",
            200,
            "multi_turn",
            "a conversation that changes a state",
            judging="multi_turn",
        ),
        _define_category(
            "multi_turn_miss_func",
            200,
            "multi_turn",
            "a function comes only later",
            judging="multi_turn",
        ),
        _define_category(
            "multi_turn_miss_param",
            200,
            "multi_turn",
            "a detail comes only later",
            judging="multi_turn",
        ),
        _define_category(
            "multi_turn_long_context",
            200,
            "multi_turn",
            "results flood the context",
            judging="multi_turn",
        ),
        _define_category(
            "web_search_base",
            100,
            "agentic",
            "questions about the web",
            judging="answer",
            file="web_search",
        ),
        _define_category(
            "web_search_no_snippet",
            100,
            "agentic",
            "…with bare result lists",
            judging="answer",
            file="web_search",
        ),
        _define_category(
            "memory_kv",
            155,
            "agentic",
            "answers from a key-value memory",
            judging="answer",
            file="memory",
        ),
        _define_category(
            "memory_vector",
            155,
            "agentic",
            "answers from a vector memory",
            judging="answer",
            file="memory",
        ),
        _define_category(
            "memory_rec_sum",
            155,
            "agentic",
            "answers from a running summary",
            judging="answer",
            file="memory",
        ),
    )
)
"""Category by name, in the leaderboard's order."""


def _names_starting_with(*tests: str) -> tuple[str, ...]:
    return tuple(name for name in CATEGORIES if any(name.startswith(test) for test in tests))


_NON_LIVE = (
    *_names_starting_with("simple_"),
    "multiple",
    "parallel",
    "parallel_multiple",
    "irrelevance",
)

COLLECTIONS: Mapping[str, tuple[str, ...]] = {
    "all": tuple(CATEGORIES),
    "simple": _names_starting_with("simple_"),
    "non_live": _NON_LIVE,
    "live": _names_starting_with("live_"),
    "single_turn": (*_NON_LIVE, *_names_starting_with("live_")),
    "multi_turn": _names_starting_with("multi_turn_"),
    "python": tuple(
        name
        for name in (*_NON_LIVE, *_names_starting_with("live_"))
        if CATEGORIES[name].language == "python"
    ),
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
    for name in (part or "all").split(","):
        known = COLLECTIONS.get(name.strip()) or (
            (name.strip(),) if name.strip() in CATEGORIES else None
        )
        if known is None:
            every = (*CATEGORIES, *COLLECTIONS)
            meant = did_you_mean(name.strip(), every) or f"There are {', '.join(every)}."
            raise UsageError(f"BFCL has no category {name.strip()!r}", meant=meant)
        wanted |= set(known)
    return tuple(category for category in CATEGORIES.values() if category.name in wanted)


# ── Scores ───────────────────────────────────────────────────────────────────────────────────


def _build_leaf(name: str) -> JsonObject:
    return {"name": name, "category": name, "cases": CATEGORIES[name].cases}


def _build_leaves(names: Iterable[str]) -> list[JsonObject]:
    return [_build_leaf(name) for name in names]


def _build_node(
    name: str, parts: Sequence[JsonObject], *, weight: float = 1, mean: str = "equal"
) -> JsonObject:
    return {"name": name, "mean": mean, "weight": weight, "parts": list(parts)}


_AST = [
    _build_node("simple", _build_leaves(COLLECTIONS["simple"])),
    *_build_leaves(("multiple", "parallel", "parallel_multiple")),
]
_LIVE_AST = _build_leaves(
    ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
)

SCORES: JsonObject = {
    "parts": [
        _build_node(
            "overall",
            (
                _build_node("non_live", _AST, weight=10),
                _build_node("live", _LIVE_AST, weight=10, mean="pooled"),
                _build_node(
                    "hallucination", _build_leaves(("irrelevance", "live_irrelevance")), weight=10
                ),
                _build_node("multi_turn", _build_leaves(COLLECTIONS["multi_turn"]), weight=30),
                _build_node(
                    "agentic",
                    (
                        _build_node("web_search", _build_leaves(COLLECTIONS["web_search"])),
                        _build_node("memory", _build_leaves(COLLECTIONS["memory"])),
                    ),
                    weight=40,
                ),
            ),
            mean="weighted",
        ),
        _build_leaf("live_relevance"),
    ]
}
"""Weights of the overall score: 10 % non-live, 10 % live (by cases), 10 % irrelevance, 30 %
multi-turn, 40 % agentic. Relevance is shown and has no weight."""
