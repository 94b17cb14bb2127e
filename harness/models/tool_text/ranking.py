"""Ranks tools for a request by BM25 over all text of the tools.

A tool's *fields* have weights: its name and description say what it is for, its parameters only
what it needs. The BM25 score ranks the tools. The *coverage* of a `ToolMatch`, the share of the
request's meaning that occurs in the tool's text, decides whether any tool is meant at all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from harness.models.tool_text.actions import Action, find_action
from harness.models.tool_text.parameters import Param, read_params
from harness.models.tool_text.permission import is_marked_reading, is_read_only
from harness.models.tool_text.terms import extract_terms, find_synonyms, first_sentence, term_set
from harness.types import Tool, ToolList, dataclass

_NAME, _TITLE, _SUMMARY, _DETAILS = 1.5, 1.0, 2.0, 1.0
_PARAM, _PARAM_DETAILS, _CHOICE = 0.6, 0.4, 0.6
"""Weights of the fields. The description weighs more than the name, because it is what a server's
author can improve."""

_SYNONYM = 0.6  # weight of a synonym
_SATURATION = 1.2  # BM25's k1
_LENGTH = 0.4  # BM25's b; low, because a long description is not a fault
_BACKGROUND = 8  # tools added to the count, so that a term of the only tool has weight too
_UNKNOWN = 0.5  # a word unknown to all tools may be part of the request, or of the story around it
_MOST_UNKNOWN = 3.5  # limit of that part, however long the story is
_VERB = 0.5  # verbs such as "show" and "find" fit many tools
_LONGEST_DESCRIPTION = 8_000
_WEAK_TERMS = term_set(
    "show get find list give display view read look see check information data "
    "new full "
    "print present fetch "
    "retrieve obtain describe search lookup tell happen last first latest recent next "
    "previous current number"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedTool:
    """A tool in the index."""

    tool: Tool
    """The tool itself."""
    params: tuple[Param, ...]
    """Its parameters."""
    action: Action | None
    """What the tool does, by its words; ``None`` if they do not say it."""
    reads: bool
    """Whether the tool is known to read."""
    weights: Mapping[str, float]
    """Term → its weight in the tool's text."""
    length: float
    """Sum of the weights."""
    vocabulary: Mapping[str, int]
    """Term → number of tools in the list that contain it: users do not mean such a term as a
    value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMatch:
    """How well one tool fits a request."""

    entry: IndexedTool
    """The tool."""
    score: float
    """BM25; larger is better, comparable only within one request."""
    coverage: float
    """0 to 1: the share of the request's meaning that occurs in the tool's text."""


def says_something(query: Iterable[str]) -> bool:
    """Whether a query has a term besides those that fit all tools: "show" alone has none."""
    return any(term not in _WEAK_TERMS for term in query)


class ToolIndex:
    """The tools of one list, ready to be ranked."""

    def __init__(self, tools: ToolList) -> None:
        """Index all tools; takes a few milliseconds, once for a list."""
        self.holders: dict[str, int] = {}
        # The entries share the dictionary that is filled below: it counts the tools of all of them.
        self.entries = tuple(_index_tool(tool, self.holders) for tool in tools.tools)
        self.average_length = sum(one.length for one in self.entries) / max(1, len(self.entries))
        self.holders.update(Counter(term for entry in self.entries for term in entry.weights))

    def find_tool(self, name: str) -> IndexedTool | None:
        """Return the tool with that name."""
        return next((entry for entry in self.entries if entry.tool.name == name), None)

    def rank_tools(
        self, query: Iterable[str], mentions: Iterable[str] = ()
    ) -> tuple[ToolMatch, ...]:
        """Return all tools, the best first, those of equal score in the server's order.

        ``query`` holds the terms of the request; ``mentions`` holds terms inside values, which
        count for tools that contain them and never against a tool.
        """
        # Weak terms count less and not nothing: in "search notes" the verb tells two tools apart.
        weights = {term: _VERB if term in _WEAK_TERMS else 1.0 for term in query}
        # Only known words: a value is full of words that no tool needs to have.
        hints = {term: _VERB for term in mentions if term not in weights and self._is_known(term)}
        matches = [self._match_tool(entry, weights, hints) for entry in self.entries]
        # A stable sort: tools of equal score stay in the server's order.
        return tuple(sorted(matches, key=lambda match: -match.score))

    def _is_known(self, term: str) -> bool:
        return any(word in self.holders for word in (term, *find_synonyms(term)))

    def _match_tool(
        self, entry: IndexedTool, query: Mapping[str, float], hints: Mapping[str, float]
    ) -> ToolMatch:
        score = covered = total = unknown = 0.0
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * entry.length / (self.average_length or 1))
        for term, weight in (*query.items(), *hints.items()):
            strength, rarity = self._measure_strength(entry, term)
            score += weight * rarity * strength * (_SATURATION + 1) / (strength + norm)
            # A word in a value may help a tool, but its absence says nothing against one.
            if term in hints:
                continue
            covered += weight * rarity * min(1.0, strength)
            total += weight * rarity if self._is_known(term) else 0.0
            unknown += 0.0 if self._is_known(term) else _UNKNOWN * weight * rarity
        # A long story around a request must not outweigh the request.
        total += min(unknown, _MOST_UNKNOWN)
        return ToolMatch(entry=entry, score=score, coverage=covered / total if total else 0.0)

    def _measure_strength(self, entry: IndexedTool, term: str) -> tuple[float, float]:
        """Return the weight of ``term`` or a synonym in a tool, and the term's rarity."""
        best = entry.weights.get(term, 0.0)
        holders = self.holders.get(term, 0)
        for other in find_synonyms(term):
            # The best one alone: three synonyms of one word are no better evidence than one.
            best = max(best, _SYNONYM * entry.weights.get(other, 0.0))
            # As frequent as its commonest synonym, or a rare word for it would weigh more.
            holders = max(holders, self.holders.get(other, 0))
        others = len(self.entries) + _BACKGROUND - holders
        return best, math.log(1 + (others + 0.5) / (holders + 0.5))


def _index_tool(tool: Tool, vocabulary: Mapping[str, int]) -> IndexedTool:
    description = tool.description[:_LONGEST_DESCRIPTION]
    summary = first_sentence(description)
    params = read_params(tool)
    weights: dict[str, float] = {}
    _add_terms(weights, tool.name, _NAME)
    _add_terms(weights, tool.title or "", _TITLE)
    _add_terms(weights, summary, _SUMMARY)
    _add_terms(weights, description[len(summary) :], _DETAILS)
    for param in params:
        _add_terms(weights, param.name, _PARAM)
        _add_terms(weights, param.description, _PARAM_DETAILS)
        for choice in (*param.choices, *(param.items.choices if param.items else ())):
            _add_terms(weights, str(choice), _CHOICE)
    return IndexedTool(
        tool=tool,
        params=params,
        # The server's mark counts more than the words.
        action="read" if is_marked_reading(tool) else find_action(tool),
        reads=is_read_only(tool),
        weights=weights,
        length=sum(weights.values()),
        vocabulary=vocabulary,
    )


def _add_terms(weights: dict[str, float], text: str, weight: float) -> None:
    """Count each term of a field once: repeating a word in a description must not help."""
    for term in dict.fromkeys(extract_terms(text)):
        weights[term] = weights.get(term, 0.0) + weight
