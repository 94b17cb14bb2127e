"""Proposals without a model: rules for common deficits of descriptions.

Each rule looks at one tool whose questions fail, and returns the tools that it would change. A rule
may be wrong: its proposal is tried like any other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from harness.base import matches_schema, text_matching
from harness.descriptions.workbench.arms import parameter_schemas
from harness.descriptions.workbench.improving.proposal import (
    CaseFailure,
    Proposal,
    ProposerInput,
    combine_proposals,
)
from harness.models import extract_terms, first_sentence, is_stop_word, split_words, stem_word
from harness.runner import split_sentences
from harness.types import ParameterEdit, Tool, ToolEdit

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
_MOST_EXAMPLES = 2
_ITEM = r"(?:\"[^\"\n]{1,40}\"|'[^'\n]{1,40}'|`[^`\n]{1,40}`|[\w-]{1,40})"
_CHOICES = re.compile(
    r"(?:\bone of|\beither|\bmust be|\bcan be|\bvalues?|\boptions?|:|\()\s*:?\s*"
    rf"(?P<list>{_ITEM}(?:\s*(?:,\s*or\s+|,|\||/|\bor\b)\s*{_ITEM})+)\s*(?=[.;)\n]|$)",
    re.IGNORECASE,
)
"""``one of open, shipped or closed``: nothing but the choices between its lead and its end."""
_SEPARATOR = re.compile(r"\s*(?:,\s*or\s+|,|\||/|\bor\b)\s*")
_OF_FORMAT: Mapping[str, tuple[str, str]] = {
    "date": ("2025-03-14", "A date written as YYYY-MM-DD."),
    "date-time": ("2025-03-14T09:30:00Z", "Date and time as ISO 8601, with the time zone."),
    "time": ("09:30:00Z", "A time written as HH:MM:SS, with the time zone."),
    "duration": ("P3D", "A duration as ISO 8601: P3D is three days."),
    "email": ("anna@example.com", "An e-mail address."),
    "uri": ("https://example.com/page", "A complete address, with https://."),
    "uuid": ("3f2b8c1e-5d4a-4b6f-9c7d-1a2b3c4d5e6f", "A UUID."),
}
"""Format of JSON Schema → an example, and its description."""


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
    stop = "" if not text or text.endswith((".", "!", "?", ":")) else "."
    return f"{text}{stop} {sentence}".lstrip()


def _name_siblings(known: ProposerInput, tool: Tool) -> Edits:
    """Say in the description of each tool that is called by mistake which one to use."""
    wrong = dict.fromkeys(failure.called for failure in _tool_failures(known, tool))
    purpose = first_sentence(tool.description) or " ".join(split_words(tool.name))
    sentence = f"Use {tool.name} instead when this is wanted: {purpose}"
    return {
        other.name: ToolEdit(description=append_sentence(other.description, sentence))
        for name in wrong
        if name not in (None, tool.name)
        and (other := known.find_tool(name)) is not None
        and tool.name not in other.description
    }


def _add_missing_words(known: ProposerInput, tool: Tool) -> Edits:
    """Add words that failing questions use and that the tool's text lacks."""
    text = f"{tool.name} {tool.title or ''} {tool.description} {tool.input_schema}"
    own = set(extract_terms(text))
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
    edits = {}
    for other in known.tools:
        said = split_sentences(other.description)
        # False sorts first, and equal sentences keep their order.
        changed = sorted(said, key=lambda sentence: _LIMITS.search(sentence) is None)
        if other.name in called and changed != list(said):
            edits[other.name] = ToolEdit(description=" ".join(changed))
    return edits


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


def _add_enums(_known: ProposerInput, tool: Tool) -> Edits:
    """Turn choices that a parameter's text lists into an enum."""

    def change_parameter(_name: str, schema: Mapping[str, Any]) -> ParameterEdit | None:
        if schema.get("type") != "string" or "enum" in schema or "const" in schema:
            return None
        listed = find_choices(str(schema.get("description") or ""))
        return ParameterEdit(enum=listed) if listed and _are_valid(listed, schema, tool) else None

    return _edit_parameters(tool, change_parameter)


def _add_examples(known: ProposerInput, tool: Tool) -> Edits:
    """Give parameters examples: values that failing questions expect, else from the schema."""

    def change_parameter(name: str, schema: Mapping[str, Any]) -> ParameterEdit | None:
        # Two booleans need no example.
        if {"examples", "enum", "const"} & schema.keys() or schema.get("type") == "boolean":
            return None
        found = known.values.get((tool.name, name)) or _invent_examples(schema)
        values = found[:_MOST_EXAMPLES]
        usable = values and _are_valid(values, schema, tool)
        return ParameterEdit(examples=values) if usable else None

    return _edit_parameters(tool, change_parameter)


def _add_formats(_known: ProposerInput, tool: Tool) -> Edits:
    """Add requirements of a parameter's schema to its text, if they are missing there."""

    def change_parameter(_name: str, schema: Mapping[str, Any]) -> ParameterEdit | None:
        said = str(schema.get("description") or "").strip()
        missing = [text for text in _schema_requirements(schema) if not _has_sentence(said, text)]
        text = append_sentence(said, " ".join(missing))
        return ParameterEdit(description=text) if missing else None

    return _edit_parameters(tool, change_parameter)


def find_choices(text: str) -> tuple[str, ...]:
    """Return the choices that ``text`` lists, at least two; none if it lists no plain words."""
    for found in _CHOICES.finditer(text):
        items = [item.strip("\"'`") for item in _SEPARATOR.split(found["list"])]
        if len(set(items)) > 1 and all(items):
            return tuple(dict.fromkeys(items))
    return ()


def _edit_parameters(
    tool: Tool, change: Callable[[str, Mapping[str, Any]], ParameterEdit | None]
) -> Edits:
    edits = {
        name: edit
        for name, schema in parameter_schemas(tool).items()
        if isinstance(schema, Mapping) and (edit := change(name, schema)) is not None
    }
    return {tool.name: ToolEdit(parameters=edits)} if edits else {}


def _are_valid(values: tuple[Any, ...], schema: Mapping[str, Any], tool: Tool) -> bool:
    return all(matches_schema(value, dict(schema), tool.input_schema) for value in values)


def _invent_examples(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    pattern, format_ = schema.get("pattern"), schema.get("format")
    if isinstance(pattern, str):
        text = text_matching(pattern)
        return () if not text else (text,)
    return _OF_FORMAT[format_][:1] if isinstance(format_, str) and format_ in _OF_FORMAT else ()


def _schema_requirements(schema: Mapping[str, Any]) -> Iterator[str]:
    format_, pattern = schema.get("format"), schema.get("pattern")
    if isinstance(format_, str) and format_ in _OF_FORMAT:
        yield _OF_FORMAT[format_][1]
    if isinstance(pattern, str) and (text := text_matching(pattern)):
        yield f"Written like {text}."
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        yield f"From {low} to {high}."
    elif low is not None or high is not None:
        yield f"At least {low}." if high is None else f"At most {high}."


def _has_sentence(text: str, sentence: str) -> bool:
    """Whether ``text`` has the specific part of ``sentence``: its last word, or all its numbers."""
    numbers = re.findall(r"\d+", sentence)
    # The digits of a sample text are no requirement.
    special = numbers if numbers and "like" not in sentence else [sentence.rstrip(".").split()[-1]]
    return all(word.lower() in text.lower() for word in special)


def _tool_failures(known: ProposerInput, tool: Tool) -> list[CaseFailure]:
    return [one for one in known.failures if one.expected and one.expected.tool == tool.name]


RULES: Mapping[str, tuple[Rule, str]] = {
    "name the sibling": (_name_siblings, "Tools that are called by mistake say which one to use."),
    "words of the questions": (
        _add_missing_words,
        "Descriptions have the words that failing questions use.",
    ),
    "choices as enum": (_add_enums, "Choices that the text lists are an enum."),
    "examples": (_add_examples, "Parameters show examples of their values."),
    "formats in words": (_add_formats, "Parameters say in words what their schema demands."),
    "limits first": (_move_limits_first, "What a tool is not for stands first."),
    "drop sentences": (
        _remove_harmful_sentences,
        "Sentences without which the model fared no worse are taken out.",
    ),
}
"""The rules by the name of their proposal, each with its purpose."""
