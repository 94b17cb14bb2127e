"""Finds tools that a model may confuse with each other.

Two tools are compared only if one fits the other's description as well, or if their descriptions
share most of their words. Most of these pairs, such as ``create_branch`` and ``create_issue``, are
distinguishable: they differ in their action, in its object, or in their required arguments. The
others are reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.descriptions.linting.findings import SIMILAR, Family, LintFinding, Rule
from harness.models import (
    PREFIX,
    Action,
    Param,
    ToolIndex,
    extract_terms,
    find_action,
    find_synonyms,
    first_sentence,
    is_changing_verb,
    is_verb,
    read_params,
    split_words,
    stem_word,
    word_set,
)
from harness.types import Tool, ToolList, dataclass

# least share of a tool's own score at which another tool fits its description as well
_AS_WELL = 0.85
_ALIKE = 0.75  # share of common terms of two descriptions
_MOST = 400  # most tools that are compared, each with each

_LINK = word_set(
    "in on of from to for with by as across between into at via using through that which and or "
    "about"
)
_FILLER = frozenset(
    extract_terms("new complete detailed specific given multiple single certain full entire "
                  "current all various several information details data content contents result "
                  "results list listing existing simple many multi")
)  # fmt: skip
_READING = word_set("get list read fetch retrieve search find show view")
_IDENTIFY = word_set(
    "id ids key keys name names code uuid guid slug number ref reference identifier sha"
)
_NO_QUALIFIER = (
    word_set(
        "a an the and or of in on with for as by at via using api new details detail detailed "
        "information info data result results complete full entire listing text"
    )
    | _READING
)
_MANY = word_set("many multi multiple bulk batch several")


def check_confusable(tools: ToolList) -> Iterator[LintFinding]:
    """Yield a finding for each pair of tools that a model may confuse."""
    compared = tools.tools[:_MOST]
    index = ToolIndex(ToolList(tools=compared))
    read = {tool.name: _extract_features(tool) for tool in compared}
    told: set[frozenset[str]] = set()
    for tool in compared:
        for rival in _find_similar(tool, index):
            pair = frozenset((tool.name, rival.name))
            if pair in told or _are_distinct(read[tool.name], read[rival.name]):
                continue
            told.add(pair)
            said = first_sentence(tool.description)[:120]
            yield LintFinding(
                rule="confusable",
                tool=tool.name,
                message=f"What it says of itself fits {rival.name} as well: {said!r}.",
                advice="Begin both descriptions with the difference, and name the other: 'For … "
                f"use {rival.name}.'",
            )
            break


def _find_similar(tool: Tool, index: ToolIndex) -> Iterator[Tool]:
    """Yield the tools that a request for ``tool`` may select instead, likeliest first."""
    own_words, own_terms = split_words(tool.description), set(extract_terms(tool.description))
    ranked = index.rank_tools(dict.fromkeys(extract_terms(first_sentence(tool.description))))
    own = next((match.score for match in ranked if match.entry.tool is tool), 0.0)
    # Without a score of its own, no share of it can be computed.
    for match in ranked if own else ():
        other = match.entry.tool
        if other is tool or split_words(other.description) == own_words:
            continue  # an equal description is another rule's finding
        others = set(extract_terms(other.description))
        alike = len(own_terms & others) / len(own_terms | others) if others else 0.0
        if match.score >= _AS_WELL * own or alike >= _ALIKE:
            yield other


@dataclass(frozen=True, slots=True, kw_only=True)
class _ToolFeatures:
    """The features that distinguish a tool: its words and its parameters."""

    action: Action | None
    """Whether it reads, creates, updates or deletes."""
    verb: str | None
    """Stem of the first word of its description."""
    things: frozenset[str]
    """Terms of the action's object: ``{branch}`` for "Create a new branch in a project"."""
    summary: frozenset[str]
    """Terms of its first sentence and its name."""
    name: Sequence[str]
    """The words of its name."""
    own_verb: str | None
    """Stem of the word with which its description begins, if its name has it, too."""
    params: Sequence[Param]
    """Its parameters."""


def _extract_features(tool: Tool) -> _ToolFeatures:
    said = PREFIX.sub("", first_sentence(tool.description).partition("\n")[0])
    spoken = split_words(said)
    # Without the version: get_profile_v1.
    name = [word for word in split_words(tool.name) if len(word) > 1]
    # "Get a namespace (user or group)" is not about users.
    verb, thing = _verb_and_thing(split_words(said.partition("(")[0]))
    return _ToolFeatures(
        action=find_action(tool),
        verb=verb,
        things=_meaningful_terms(thing),
        summary=_meaningful_terms((*spoken, *split_words(tool.name))),
        name=name,
        own_verb=verb if verb and verb in {stem_word(word) for word in name} else None,
        params=read_params(tool),
    )


def _verb_and_thing(spoken: Sequence[str]) -> tuple[str | None, list[str]]:
    """Return the action of the first word, and the words of its object."""
    if not spoken:
        return None, []
    rest = list(spoken[1:])
    while rest and rest[0] in _LINK:  # "search for repositories"
        rest.pop(0)
    end = next((place for place, word in enumerate(rest) if word in _LINK), len(rest))
    return stem_word(spoken[0]), rest[:end]


def _meaningful_terms(said: Sequence[str]) -> frozenset[str]:
    """Return the terms of words that are neither verbs nor filler words."""
    meant = " ".join(word for word in said if not is_verb(word))
    return frozenset(term for term in extract_terms(meant) if term not in _FILLER)


def _are_distinct(one: _ToolFeatures, other: _ToolFeatures) -> bool:
    """Whether anything clearly distinguishes two tools."""
    if one.action and other.action and one.action != other.action:
        return True
    acts = "read" in (one.action, other.action) and (_acts(one) or _acts(other))
    if acts or _differ_in_qualifiers(one, other):
        return True
    # Start and stop differ; verbs of reading are interchangeable.
    both_change = one.verb and other.verb and "read" not in (one.action, other.action)
    if both_change and _unshared_terms({one.verb or ""}, {other.verb or ""}):
        return True
    if _needs_more(one, other) or _needs_more(other, one):
        return True
    apart = _unshared_terms(one.things, other.things), _unshared_terms(other.things, one.things)
    if all(apart):
        return True
    # If only one names something more, it may be a special case of the other.
    return not any(apart) and bool(
        _unshared_terms(one.summary, other.summary) and _unshared_terms(other.summary, one.summary)
    )


def _differ_in_qualifiers(one: _ToolFeatures, other: _ToolFeatures) -> bool:
    """Whether the names are about different things: ``get_pages`` and ``get_trashed_pages``.

    So are one branch and all (``get_branch``, ``get_branches``), ``refs_to`` and ``refs_from``. On
    the lists of public servers that nobody had adjusted the rule with, half of the pairs with such
    names were plainly told apart by a reader.
    """
    words, other_words = _read_qualifiers(one.name), _read_qualifiers(other.name)
    if _unshared_terms({*words}, {*other_words}) or _unshared_terms({*other_words}, {*words}):
        return True
    # An update of a project, and the project; synonyms are no other number.
    return words.keys() == other_words.keys() and words != other_words


def _read_qualifiers(name: Sequence[str]) -> dict[str, list[str]]:
    """Return the words of a name that say which things it is about, by their stems."""
    found: dict[str, list[str]] = {}
    for before, word in zip(("", *name), name, strict=False):
        opens = not found and is_changing_verb(word)  # count_issues counts
        is_id = word in _IDENTIFY and before != "by"
        # "get all users", but "reply all".
        is_every = word == "all" and before in _READING
        if not (opens or is_id or is_every or word in _NO_QUALIFIER):
            term = "many" if word in _MANY else stem_word(word)
            found.setdefault(term, []).append(term if term == "many" else word)
    return found


def _acts(tool: _ToolFeatures) -> bool:
    """Whether it begins with a verb of its own that does not read: approve, merge, mark."""
    return tool.own_verb is not None and tool.action != "read"


def _unshared_terms(
    terms_of_one: frozenset[str] | set[str], terms_of_other: frozenset[str] | set[str]
) -> set[str]:
    """Return the terms of one that are not, even as synonyms, in the other."""
    return {
        term
        for term in terms_of_one
        if term not in terms_of_other and terms_of_other.isdisjoint(find_synonyms(term))
    }


def _needs_more(one: _ToolFeatures, other: _ToolFeatures) -> bool:
    """Whether ``one`` requires an argument that ``other`` does not have."""
    missing, spare = _required_beyond(one, other), _required_beyond(other, one)
    if len(missing) == len(spare) and all(
        _IDENTIFY & set(split_words(name)[-1:]) for name in (*missing, *spare)
    ):
        return False  # customer_id and client_id: two words for the same thing
    return bool(missing)


def _required_beyond(one: _ToolFeatures, other: _ToolFeatures) -> list[str]:
    taken = {param.name for param in other.params}
    return [param.name for param in one.params if param.required and param.name not in taken]


FAMILY = Family(
    check=check_confusable,
    rules={
        "confusable": Rule(
            severity="warning",
            why="A request in the words of the one tool fits the other as well, so either may be "
            "called.",
            evidence=SIMILAR,
        )
    },
)
"""The rules on confusable tools."""
