"""Operators on the descriptions of tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.descriptions.workbench.mutants.mutant import Mutant, mutate_tool
from harness.descriptions.workbench.mutants.wrong_words import contradict_text, replace_verb
from harness.models import extract_terms
from harness.runner import split_sentences
from harness.types import Tool, ToolEdit

_WHEN_NOT = re.compile(
    r"\b(?:instead|rather than|do not|don't|not for|never|use [a-z]+_\w+|only when|only if|only "
    r"for|to find an? \w+ use|for (?:the|what|one|a|its) .{1,60}\buse\b)",
    re.IGNORECASE,
)
"""Matches a sentence that says when another tool is right."""


def swapped_texts(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which a tool and the most similar one swap their texts."""
    for tool, other in pairs_alike(tools):
        yield Mutant(
            operator="swapped-texts",
            tool=tool.name,
            other=other.name,
            defect=f"its text is that of {other.name}, and the other way round",
            edits={
                tool.name: ToolEdit(description=other.description),
                other.name: ToolEdit(description=tool.description),
            },
        )


def pairs_alike(tools: Sequence[Tool]) -> Iterator[tuple[Tool, Tool]]:
    """Yield each tool with the most similar one, each pair once."""
    seen: set[frozenset[str]] = set()
    for tool in tools:
        other = most_alike(tool, tools)
        if other is not None and frozenset((tool.name, other.name)) not in seen:
            seen.add(frozenset((tool.name, other.name)))
            yield tool, other


def most_alike(tool: Tool, tools: Sequence[Tool]) -> Tool | None:
    """Return the tool whose name and text have most in common with those of ``tool``."""
    own = set(extract_terms(f"{tool.name} {tool.description}"))

    def similarity(other: Tool) -> float:
        theirs = set(extract_terms(f"{other.name} {other.description}"))
        # Two tools without any term have nothing in common.
        return len(own & theirs) / (len(own | theirs) or 1)

    return max((one for one in tools if one.name != tool.name), key=similarity, default=None)


def emptied_text(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which one tool has no description."""
    for tool in tools:
        yield mutate_tool("emptied-text", tool, "it has no description", ToolEdit(description=""))


def purpose_removed(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which one description lacks its first sentence."""
    for tool in tools:
        if len(split_sentences(tool.description)) > 1:
            defect = "the sentence that says what it does is gone"
            yield mutate_tool("purpose-removed", tool, defect, ToolEdit(without_sentences=(1,)))


def when_not_removed(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which one tool no longer says when another one is right."""
    for tool in tools:
        for number, sentence in enumerate(split_sentences(tool.description), start=1):
            # The first sentence is the purpose, which `purpose_removed` removes.
            if number > 1 and _WHEN_NOT.search(sentence):
                yield mutate_tool(
                    "when-not-removed",
                    tool,
                    f"the sentence is gone that says when not to use it: {sentence!r}",
                    ToolEdit(without_sentences=(number,)),
                )


def wrong_claim(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which one tool claims another action: "Delete" for "List"."""
    for tool in tools:
        changed = replace_verb(tool.description)
        if changed is not None:
            text, verb, other = changed
            defect = f"it says {other!r} where it said {verb!r}"
            yield mutate_tool("wrong-claim", tool, defect, ToolEdit(description=text))


def contrary_word(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which one word of a description is its opposite."""
    for tool in tools:
        changed = contradict_text(tool.description)
        if changed is not None:
            text, word, other = changed
            defect = f"its text says {other!r} where it said {word!r}"
            yield mutate_tool("contrary-word", tool, defect, ToolEdit(description=text))
