"""Proposals without a model: rules for common deficits of descriptions.

Each rule looks at one tool whose questions fail, and returns the tools that it would change. A rule
may be wrong: its proposal is tried like any other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from harness.descriptions.workbench.improving.combining import combine_proposals
from harness.descriptions.workbench.improving.proposal import CaseFailure, Proposal, ProposerInput
from harness.descriptions.workbench.improving.schema_rules import (
    add_enums,
    add_examples,
    add_formats,
)
from harness.models import extract_terms, first_sentence, is_stop_word, split_words, stem_word
from harness.runner import split_sentences
from harness.types import Tool, ToolEdit

Edits: TypeAlias = Mapping[str, ToolEdit]
"""Tool → its changes; empty if the rule does not apply."""
Rule: TypeAlias = Callable[[ProposerInput, Tool], Edits]
"""``(input of proposers, a tool whose questions fail) → changes``."""

_MOST_WORDS = 6
"""Most words that are added to one description."""
_WORD = re.compile(r"(?<![\w'’-])[^\W\d_]{3,}(?![\w'’-])")
_LIMITS = re.compile(
    r"\b(do not|don't|not for|never|instead|only (?:for|when|if)|unless|avoid)\b", re.IGNORECASE
)
"""Matches a sentence that says when a tool is the wrong one."""


def propose_by_rules(known: ProposerInput) -> Iterator[Proposal]:
    """Yield the proposals of the rules: one for each rule, over all tools that fail."""
    for name, (rule, why) in RULES.items():
        found = [
            Proposal(name=name, why=why, tools=edits)
            for tool in known.failing_tools()
            if (edits := rule(known, tool))
        ]
        if found:
            joined = combine_proposals(name, found, known.tools)
            yield Proposal(name=name, why=why, tools=joined.tools)


def append_sentence(text: str, sentence: str) -> str:
    """Return ``text`` with ``sentence`` added at the end."""
    text = text.strip()
    if not text:
        return sentence
    stop = "" if text.endswith((".", "!", "?", ":")) else "."
    return f"{text}{stop} {sentence}"


def _name_siblings(known: ProposerInput, tool: Tool) -> Edits:
    """Say in the description of each tool that is called by mistake which one to use."""
    wrong = dict.fromkeys(
        failure.called
        for failure in _tool_failures(known, tool)
        if failure.called is not None and failure.called != tool.name
    )
    purpose = first_sentence(tool.description) or " ".join(split_words(tool.name))
    sentence = f"Use {tool.name} instead when this is wanted: {purpose}"
    return {
        other.name: ToolEdit(description=append_sentence(other.description, sentence))
        for name in wrong
        if (other := known.find_tool(name)) is not None and tool.name not in other.description
    }


def _add_missing_words(known: ProposerInput, tool: Tool) -> Edits:
    """Add words that failing questions use and that the tool's text lacks."""
    own = set(extract_terms(_tool_text(tool)))
    asked: Counter[str] = Counter()
    word_of: dict[str, str] = {}
    for failure in _tool_failures(known, tool):
        values = set(extract_terms(str(failure.expected.arguments))) if failure.expected else set()
        # Names and ids are not general vocabulary: only words in lower case count.
        first, *later = _WORD.findall(failure.prompt) or ("",)
        for word in dict.fromkeys([first, *(word for word in later if word.islower())]):
            term = stem_word(word.lower())
            if not is_stop_word(word.lower()) and term not in own | values:
                asked[term] += 1
                word_of.setdefault(term, word.lower())
    lacking = [word_of[term] for term, _ in asked.most_common(_MOST_WORDS)]
    if not lacking:
        return {}
    sentence = f"Also for questions that speak of: {', '.join(lacking)}."
    return {tool.name: ToolEdit(description=append_sentence(tool.description, sentence))}


def _move_limits_first(known: ProposerInput, tool: Tool) -> Edits:
    """Move the sentences on when not to use a wrongly called tool to the beginning."""
    called = {failure.called for failure in _tool_failures(known, tool)} | {tool.name}
    return {
        tool.name: ToolEdit(description=text)
        for tool in known.tools
        if tool.name in called
        # Compared with the sentences joined alike, so that white space is no change.
        and (text := _reorder_sentences(tool.description))
        != " ".join(split_sentences(tool.description))
    }


def _remove_harmful_sentences(known: ProposerInput, tool: Tool) -> Edits:
    """Remove sentences without which the seen cases did no worse."""
    useless = {
        part.number
        for part, effect in known.effects
        if part.tool == tool.name and part.kind == "sentence" and effect <= 0
    }
    said = split_sentences(tool.description)
    kept = [text for number, text in enumerate(said, start=1) if number not in useless]
    if not kept or len(kept) == len(said):
        return {}
    return {tool.name: ToolEdit(description=" ".join(kept))}


def _tool_failures(known: ProposerInput, tool: Tool) -> Iterator[CaseFailure]:
    for failure in known.failures:
        if failure.expected is not None and failure.expected.tool == tool.name:
            yield failure


def _tool_text(tool: Tool) -> str:
    return f"{tool.name} {tool.title or ''} {tool.description} {tool.input_schema}"


def _reorder_sentences(description: str) -> str:
    said = split_sentences(description)
    # False sorts first, and equal sentences keep their order.
    return " ".join(sorted(said, key=lambda sentence: _LIMITS.search(sentence) is None))


RULES: Mapping[str, tuple[Rule, str]] = {
    "name the sibling": (_name_siblings, "Tools that are called by mistake say which one to use."),
    "words of the questions": (
        _add_missing_words,
        "Descriptions have the words that failing questions use.",
    ),
    "choices as enum": (add_enums, "Choices that the text lists are an enum."),
    "examples": (add_examples, "Parameters show examples of their values."),
    "formats in words": (add_formats, "Parameters say in words what their schema demands."),
    "limits first": (_move_limits_first, "What a tool is not for stands first."),
    "drop sentences": (
        _remove_harmful_sentences,
        "Sentences without which the model fared no worse are taken out.",
    ),
}
"""The rules by the name of their proposal, each with its purpose."""
