"""Rules on what tools say of themselves, each alone and next to the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.linting.findings import Finding
from harness.models.lexical.ranking import Index
from harness.models.lexical.text import first_sentence, terms, words
from harness.types import Tool, ToolList

_SHORT = 4  # words
_AS_WELL = 0.85  # share of a tool's own score from which another tool fits its own words as well
_ALIKE = 0.75  # share of terms that two descriptions have in common
_MOST = 400  # tools that are compared: each with each


def check_descriptions(tools: ToolList) -> Iterator[Finding]:
    """Yield what is missing from descriptions, and which cannot be told apart."""
    for tool in tools.tools:
        yield from _alone(tool)
    yield from _same(tools.tools)
    yield from _confusable(tools)


def _alone(tool: Tool) -> Iterator[Finding]:
    said = words(tool.description)
    if not tool.description.strip():
        yield Finding(
            rule="no-description",
            tool=tool.name,
            message="It has no description.",
            instead="Say in one sentence what it does and for which requests, and in another what comes back.",
        )
    elif len(said) < _SHORT or set(terms(tool.description)) <= set(terms(tool.name)):
        yield Finding(
            rule="short-description",
            tool=tool.name,
            message=f"Its description is {len(said)} word{'' if len(said) == 1 else 's'} and adds little to its name: "
            f"{tool.description.strip()[:80]!r}.",
            instead="Say what it returns, what it needs, and when another tool is the better choice.",
        )


def _same(tools: Sequence[Tool]) -> Iterator[Finding]:
    first: dict[tuple[str, ...], str] = {}
    for tool in tools:
        said = tuple(words(tool.description))
        if not said:
            continue
        if said in first:
            yield Finding(
                rule="same-description",
                tool=tool.name,
                message=f"Its description is that of {first[said]}, word for word.",
                instead=f"Begin it with what sets it apart from {first[said]}; remove one if nothing does.",
            )
        first.setdefault(said, tool.name)


def _confusable(tools: ToolList) -> Iterator[Finding]:
    """Yield each pair of which one is as good an answer to the other's own words."""
    compared = tools.tools[:_MOST]
    index = Index(ToolList(tools=compared))
    told: set[frozenset[str]] = set()
    for tool in compared:
        rival = _rival(tool, index)
        if rival is None or frozenset((tool.name, rival.name)) in told:
            continue
        told.add(frozenset((tool.name, rival.name)))
        yield Finding(
            rule="confusable",
            tool=tool.name,
            message=f"What it says of itself fits {rival.name} as well: {first_sentence(tool.description)[:120]!r}.",
            instead=f"Begin both descriptions with the difference, and name the other: 'For … use {rival.name}.'",
        )


def _rival(tool: Tool, index: Index) -> Tool | None:
    """Return the tool that a request in the words of ``tool`` may go to instead."""
    own_words, own_terms = words(tool.description), set(terms(tool.description))
    ranked = index.rank(dict.fromkeys(terms(first_sentence(tool.description))))
    own = next((match.score for match in ranked if match.entry.tool is tool), 0.0)
    for match in ranked if own else ():
        other = match.entry.tool
        if other is tool or words(other.description) == own_words:
            continue  # that is another rule
        others = set(terms(other.description))
        alike = len(own_terms & others) / len(own_terms | others) if others else 0.0
        if match.score >= _AS_WELL * own or alike >= _ALIKE:
            return other
    return None
