"""Operators on tools: their descriptions, their names, and the names of their parameters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from harness.descriptions.workbench.mutants.mutant import (
    Mutant,
    ToolDefect,
    iterate_parameters,
    parameter_text,
    read_word_pairs,
)
from harness.models import extract_terms
from harness.runner import split_sentences
from harness.types import ParameterEdit, Tool, ToolEdit

_WHEN_NOT = re.compile(
    r"\b(?:instead|rather than|do not|don't|not for|never|use [a-z]+_\w+|only when|only if|only "
    r"for|to find an? \w+ use|for (?:the|what|one|a|its) .{1,60}\buse\b)",
    re.IGNORECASE,
)
"""Matches a sentence that says when another tool is right."""
_PAIRS = (
    "first last, newest oldest, latest earliest, most least, largest smallest, highest lowest, "
    "ascending descending, including excluding, include exclude, before after, start end, "
    "from to, min max, minimum maximum, source target, old new, previous next, left right, "
    "open closed, active inactive, enabled disabled, enable disable, increase decrease, buy sell, "
    "sender recipient, origin destination, latitude longitude, lat lon, width height, gross net, "
    "with without, all one, every single, import export, upload download, lock unlock"
)

_OPPOSITES = read_word_pairs(_PAIRS)
_OPPOSITES |= {other: one for one, other in _OPPOSITES.items()}
"""Word → its opposite, both ways."""

_NOT_IN_PROSE = frozenset(("from", "to", "all", "one", "with", "without", "new", "left", "open"))
"""Words whose opposite makes a sentence meaningless or ungrammatical."""

_READING = "show list get find search return read retrieve fetch look describe count check view"
_CLAIMS: Mapping[str, str] = {
    **dict.fromkeys(_READING.split(), "delete"),
    **dict.fromkeys(("analyse", "analyze", "compute", "calculate", "assess", "compare"), "delete"),
    **dict.fromkeys(("create", "add", "book", "make", "remember", "store", "ask"), "delete"),
    **dict.fromkeys(("delete", "remove", "cancel", "forget", "clear"), "create"),
    **dict.fromkeys(("update", "change", "replace", "put", "set", "edit"), "show"),
    **dict.fromkeys(("send", "submit", "write"), "list"),
}

_SYNONYMS = read_word_pairs(
    "get fetch, fetch get, search find, find search, list show, show list, create add, add create, "
    "delete remove, remove delete, update change, change update, calculate compute, "
    "analyze evaluate, read load, write save, send post, request ask"
)
_WORD = re.compile(r"(?<![\w-])[A-Za-z]+(?![\w-])")
_NAME_WORD = re.compile(r"[A-Za-z][a-z]*|[A-Z]+(?![a-z])")


# ── Descriptions ─────────────────────────────────────────────────────────────────────────────


def swap_texts(operator: str, tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which a tool and the most similar one swap their texts."""
    return _swap_with_similar(
        operator, tools, "its text is that of", lambda tool: ToolEdit(description=tool.description)
    )


def _swap_with_similar(
    operator: str, tools: Sequence[Tool], defect: str, take: Callable[[Tool], ToolEdit]
) -> Iterator[Mutant]:
    for tool, other in _pairs_alike(tools):
        yield Mutant(
            operator=operator,
            tool=tool.name,
            other=other.name,
            defect=f"{defect} {other.name}, and the other way round",
            edits={tool.name: take(other), other.name: take(tool)},
        )


def empty_text(_tool: Tool) -> Iterator[ToolDefect]:
    """Leave out the description."""
    yield ToolDefect("it has no description", ToolEdit(description=""))


def remove_purpose(tool: Tool) -> Iterator[ToolDefect]:
    """Leave out the first sentence of several."""
    if len(split_sentences(tool.description)) > 1:
        defect = "the sentence that says what it does is gone"
        yield ToolDefect(defect, ToolEdit(without_sentences=(1,)))


def remove_when_not(tool: Tool) -> Iterator[ToolDefect]:
    """Leave out a sentence that says when another tool is right."""
    for number, sentence in enumerate(split_sentences(tool.description), start=1):
        # The first sentence is the purpose, which `remove_purpose` removes.
        if number > 1 and _WHEN_NOT.search(sentence):
            yield ToolDefect(
                f"the sentence is gone that says when not to use it: {sentence!r}",
                ToolEdit(without_sentences=(number,)),
            )


def claim_other_action(tool: Tool) -> Iterator[ToolDefect]:
    """Put another action at the start: "Delete …" for "List …"."""
    text = tool.description.lstrip()
    if found := _WORD.match(text):
        word = found[0].lower()
        base = word if word in _CLAIMS else word.removesuffix("s")
        if base in _CLAIMS:
            other = _match_case(_CLAIMS[base] + ("s" if base != word else ""), found[0])
            yield ToolDefect(
                f"it says {other!r} where it said {found[0]!r}",
                ToolEdit(description=other + text[found.end() :]),
            )


def contradict_text(tool: Tool) -> Iterator[ToolDefect]:
    """Replace the first word that has an opposite by it."""
    for found in _WORD.finditer(tool.description):
        word = found[0].lower()
        if word in _OPPOSITES and word not in _NOT_IN_PROSE:
            other = _match_case(_OPPOSITES[word], found[0])
            yield ToolDefect(
                f"its text says {other!r} where it said {found[0]!r}",
                ToolEdit(description=_replace_match(found, other)),
            )
            return


# ── Names ────────────────────────────────────────────────────────────────────────────────────


def swap_names(operator: str, tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which a tool and the most similar one swap their names."""
    return _swap_with_similar(
        operator, tools, "it is called", lambda tool: ToolEdit(name=tool.name)
    )


def name_like_sibling(operator: str, tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which one tool has nearly the name of another: ``find_orders``."""
    taken = {tool.name for tool in tools}
    for tool in tools:
        other = _most_alike(tool, tools)
        verb = None if other is None else _NAME_WORD.match(other.name)
        synonym = _SYNONYMS.get(verb[0].lower()) if verb else None
        if other is None or verb is None or synonym is None:
            continue
        name = _replace_match(verb, _match_case(synonym, verb[0]))
        if name not in taken:
            yield Mutant(
                operator=operator,
                tool=tool.name,
                other=other.name,
                defect=f"it is called {name}, nearly like {other.name}",
                edits={tool.name: ToolEdit(name=name)},
            )


def name_parameter_opposite(tool: Tool) -> Iterator[ToolDefect]:
    """Name a parameter for its opposite: ``date_to`` for ``date_from``.

    If the tool has both, they swap names.
    """
    names = [name for name, _ in iterate_parameters(tool)]
    done: set[str] = set()
    for name in names:
        other = _opposite_name(name)
        # A pair of opposites is found from both sides.
        if other is None or name in done:
            continue
        done |= {name, other}
        edits = {name: ParameterEdit(name=other)}
        if other in names:
            edits[other] = ParameterEdit(name=name)
        defect = f"it is called {other}" + (", and the other way round" if len(edits) > 1 else "")
        yield ToolDefect(defect, ToolEdit(parameters=edits), name)


def swap_parameter_texts(tool: Tool) -> Iterator[ToolDefect]:
    """Swap the descriptions of two parameters."""
    texts = ((name, parameter_text(schema)) for name, schema in iterate_parameters(tool))
    # Neighbours, so that there are no more mutants than parameters.
    for (name, text), (other, others_text) in pairwise(one for one in texts if one[1]):
        edits = {
            name: ParameterEdit(description=others_text),
            other: ParameterEdit(description=text),
        }
        defect = f"its text is that of {other}, and the other way round"
        yield ToolDefect(defect, ToolEdit(parameters=edits), name)


def hide_required(tool: Tool) -> Iterator[ToolDefect]:
    """Hide a required parameter."""
    required = tool.input_schema.get("required")
    for name, _ in iterate_parameters(tool):
        if isinstance(required, list) and name in required:
            edit = ToolEdit(parameters={name: None})
            yield ToolDefect("it is required, and not shown", edit, name)


def _pairs_alike(tools: Sequence[Tool]) -> Iterator[tuple[Tool, Tool]]:
    """Yield each tool with the most similar one, each pair once."""
    seen: set[frozenset[str]] = set()
    for tool in tools:
        other = _most_alike(tool, tools)
        if other is not None and frozenset((tool.name, other.name)) not in seen:
            seen.add(frozenset((tool.name, other.name)))
            yield tool, other


def _most_alike(tool: Tool, tools: Sequence[Tool]) -> Tool | None:
    """Return the tool whose name and text have most in common with those of ``tool``."""
    own = set(extract_terms(f"{tool.name} {tool.description}"))

    def similarity(other: Tool) -> float:
        theirs = set(extract_terms(f"{other.name} {other.description}"))
        # Two tools without any term have nothing in common.
        return len(own & theirs) / (len(own | theirs) or 1)

    return max((one for one in tools if one.name != tool.name), key=similarity, default=None)


def _opposite_name(name: str) -> str | None:
    """Return ``name`` with a word that has an opposite replaced: ``date_to``; or ``None``."""
    for found in _NAME_WORD.finditer(name):
        word = found[0].lower()
        if word in _OPPOSITES and word not in ("all", "one", "with", "without"):
            return _replace_match(found, _match_case(_OPPOSITES[word], found[0]))
    return None


def _replace_match(found: re.Match[str], other: str) -> str:
    return found.string[: found.start()] + other + found.string[found.end() :]


def _match_case(word: str, like: str) -> str:
    # A single capital begins a word, and does not shout.
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word.capitalize() if like[0].isupper() else word
