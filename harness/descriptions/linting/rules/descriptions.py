"""Rules on tools' descriptions, alone and compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.descriptions.linting.findings import FUNCTIONALITY, SIMILAR, Family, LintFinding, Rule
from harness.models import extract_terms, split_words
from harness.types import Tool, ToolList

_SHORT = 4  # words
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
_DEPRECATED = re.compile(
    r"\bDEPRECATED\b|(?i:^\W*deprecated\b|\bdeprecated:|\bdeprecated\s*[,;.]?\s*(?:use|in "
    r"favou?r|since|and will)\b"
    r"|\b(?:this|it)(?:\s+(?:tool|function|method|command|endpoint))?\s+(?:is|has "
    r"been)\s+(?:now\s+)?deprecated\b)"
)
"""Matches a description that calls its own tool deprecated, not one about deprecated things."""


def check_descriptions(tools: ToolList) -> Iterator[LintFinding]:
    """Yield missing, short and equal descriptions, and deprecated tools."""
    for tool in tools.tools:
        yield from _check_text(tool)
        if any(_DEPRECATED.search(text) for text in (tool.title or "", tool.description)):
            problem = "It is described as deprecated, but still offered."
            yield LintFinding(rule="deprecated", tool=tool.name, message=problem)
    yield from _check_duplicates(tools.tools)


def _check_text(tool: Tool) -> Iterator[LintFinding]:
    # Two letters of a script without spaces are about a word.
    unspaced = len(_UNSPACED.findall(tool.description)) // 2
    said = len(split_words(tool.description)) + unspaced
    if not tool.description.strip():
        yield LintFinding(rule="no-description", tool=tool.name, message="It has no description.")
    elif said < _SHORT or (
        not unspaced and set(extract_terms(tool.description)) <= set(extract_terms(tool.name))
    ):
        yield LintFinding(
            rule="short-description",
            tool=tool.name,
            message=f"Its description is {said} word{'' if said == 1 else 's'} and adds "
            f"little to its name: {tool.description.strip()[:80]!r}.",
        )


def _check_duplicates(tools: Sequence[Tool]) -> Iterator[LintFinding]:
    first: dict[tuple[str, ...], str] = {}
    for tool in tools:
        said = tuple(split_words(tool.description))
        # Missing descriptions are equal, too, but have a finding of their own.
        if not said:
            continue
        if said in first:
            yield LintFinding(
                rule="same-description",
                tool=tool.name,
                message=f"Its description is that of {first[said]}, word for word.",
                advice=f"Begin it with what sets it apart from {first[said]}; remove one if "
                "nothing does.",
            )
        first.setdefault(said, tool.name)


FAMILY = Family(
    check=check_descriptions,
    rules={
        "no-description": Rule(
            severity="warning",
            why="The description is all that a model knows of a tool; without one it guesses by "
            "the name.",
            instead="Say in one sentence what it does and for which requests, and in another what "
            "comes back.",
            evidence=FUNCTIONALITY,
        ),
        "same-description": Rule(
            severity="warning",
            why="Where two tools say the same, a model chooses by chance.",
            evidence=SIMILAR,
        ),
        "short-description": Rule(
            severity="warning",
            why="It says hardly more than the name: not when to use the tool, nor what comes back.",
            instead="Say what it returns, what it needs, and when another tool is the better "
            "choice.",
            evidence=FUNCTIONALITY,
        ),
        "deprecated": Rule(
            severity="note",
            why="A model chooses it as readily as its replacement: the word is one among many.",
            instead="Leave it out of the list, or show it only to the clients that still need it.",
        ),
    },
)
"""The rules on descriptions."""
