"""The action of a request or a tool: read, create, update or delete.

The difference matters for safety: a request to *see* something must not lead to a tool that changes
it. Only the words of the tool and the user count, because a model gets nothing else.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

from harness.models.tool_text.terms import first_sentence, split_words, word_set
from harness.types import Tool

Action: TypeAlias = Literal["read", "create", "update", "delete"]
"""The four things that a tool can do to data."""

_VERBS: dict[Action, str] = {
    "delete": (
        "delete remove erase purge drop destroy wipe terminate cancel revoke unregister uninstall"
    ),
    "update": "update change modify edit alter set rename move replace correct adjust close reopen "
    "reset switch checkout overwrite",
    "create": "create add make register open write insert post send submit commit upload "
    "schedule book stage record publish save append",
    "read": "show get list find search view read fetch retrieve display look lookup describe count "
    "compare check calculate compute estimate predict summarise summarize explain see print return "
    "rank project query inspect browse convert analyse analyze report tell give",
}
_OTHER_VERBS = word_set("run execute start trigger echo test call invoke try use")
"""Verbs that may mean any action."""
_ACTION_OF: dict[str, Action] = {
    verb: action for action, verbs in _VERBS.items() for verb in verbs.split()
}

_AMBIGUOUS = word_set(
    "book record stage set file post move open close commit save schedule report list count rank "
    "project update release exit correct switch"
)
"""Verbs that are as often nouns or adjectives ("open orders"): they count as a request only in the
position of a verb."""
_ALSO_NOUNS = _AMBIGUOUS | word_set(
    "change edit reset drop view search show look check estimate query print return register "
    "display"
)
"""Verbs that are nouns in names and headings: an edit distance, a drop rate, a search history."""
UNMISTAKABLE = frozenset(
    verb for verb, action in _ACTION_OF.items() if action != "read" and verb not in _ALSO_NOUNS
)
"""Verbs of a change that are nothing but verbs."""
_AFTER_VERB = word_set(
    "a an the one all any every each this that these those its your my our their some several "
    "multiple existing specified given"
)
_AFTER_NOUN = word_set("of between since made in by")
_BEFORE_VERB = word_set(
    "please to and or then you also now just we i kindly but so not next finally"
)

CODE = word_set(
    "sql code script command cmd shell statement program javascript python mutation graphql"
)
"""Words for arguments that are executed, such as SQL: the tool's name cannot tell what they do."""
PREFIX = re.compile(r"^[^|\n]{1,40}\|\s*")
"""A prefix of a description's first sentence: "Notion | Retrieve a page"."""

_QUESTION = word_set(
    "who whom whose what what's when where which why how did does do has have had was were is are "
    "am"
)
_BEFORE_QUESTION = word_set("in on at for from to of by with and so but also")
_NEGATION = word_set(
    "not never no without don't doesn't cannot can't won't shouldn't mustn't avoid"
)
_NEGATION_REACH = 3  # words: "do not, in any case, delete"


def is_verb(word: str) -> bool:
    """Whether ``word``, in lower case, opens a request: ``list``, ``delete`` …"""
    return word in _ACTION_OF or word in _OTHER_VERBS


def find_verb(word: str) -> str | None:
    """Return the known verb of which ``word``, in lower case, is the base form or the -s form."""
    singular = re.sub(r"ies\Z", "y", word)
    return _first_known(word, word.removesuffix("s"), word.removesuffix("es"), singular)


def is_changing_verb(word: str) -> bool:
    """Whether ``word``, in lower case, is a verb known to create, update or delete."""
    return _ACTION_OF.get(word, "read") != "read"


def word_may_be_a_noun(verb: str) -> bool:
    """Whether a known verb is also a noun in names and headings: *update*, *record*."""
    return verb in _ALSO_NOUNS


def is_question_word(word: str) -> bool:
    """Whether ``word``, in lower case, opens a question."""
    return word in _QUESTION


def is_negated(text_words: list[str], position: int) -> bool:
    """Whether one of the few words before ``position`` is a negation."""
    before = text_words[max(0, position - _NEGATION_REACH) : position]
    return not _NEGATION.isdisjoint(before)


def find_requested_actions(request: str) -> frozenset[Action]:
    """Return the actions that a request asks for; a question asks for reading only.

    Only the base form counts (``delete``, not ``deleted``), and only if it is not negated: "show
    it, do not delete it" asks to read.
    """
    spoken = split_words(request)
    opening = next((word for word in spoken if word not in _BEFORE_QUESTION), "")
    # "Who deleted it" and "how do I delete it" ask to see something.
    if opening in _QUESTION:
        return frozenset({"read"})
    asked: set[Action] = set()
    forbids = False
    for place, word in enumerate(spoken):
        if word in _ACTION_OF and is_negated(spoken, place):
            forbids = True
        elif word in _ACTION_OF and (
            word not in _AMBIGUOUS or place == 0 or spoken[place - 1] in _BEFORE_VERB
        ):
            asked.add(_ACTION_OF[word])
    # "Do not delete it" alone asks for nothing that changes.
    return frozenset(asked or ({"read"} if forbids else ()))


def find_action(tool: Tool) -> Action | None:
    """Return what ``tool`` does, by its name and the first sentence of its description.

    A clear verb of deletion in the name or the description decides. If the verb of one may also be
    a noun (*update_history*, *drop_rate*), the other decides. ``None`` if both are unclear.
    """
    return _choose_action(
        _read_name(split_words(tool.name)),
        _read_sentence(split_words(first_sentence(tool.description))),
    )


def find_plain_action(tool: Tool) -> Action | None:
    """Return the action of the first words of name and description, unless they may be nouns."""
    opening = (_read_name(split_words(tool.name)[:1]), _read_opening(split_words(tool.description)))
    return _choose_action(*(one if one is not None and one.is_sure else None for one in opening))


def only_reads(tool: Tool) -> bool:
    """Whether the description begins with a verb of reading, and names no other action."""
    description = split_words(PREFIX.sub("", tool.description))
    if not description or _ACTION_OF.get(find_verb(description[0]) or "") != "read":
        return False
    # "Get or update the scale": joined to a verb, "update" is one, too.
    if (
        description[1:2] in (["or"], ["and"])
        and _ACTION_OF.get("".join(description[2:3]), "read") != "read"
    ):
        return False
    said = [*split_words(tool.name), *split_words(tool.title or ""), *description]
    # What runs SQL may do anything, whatever else its description says.
    if not CODE.isdisjoint(said):
        return False
    # All forms: "Gets the order. Deleted orders are purged." tells of a change, too.
    verbs = (find_verb(word) or _find_gerund_base(word) or _find_past_base(word) for word in said)
    return not any(verb in _DO_MORE for verb in verbs)


def is_permitted(request: frozenset[Action], tool: Action | None) -> bool:
    """Whether a request for these actions may use a tool whose action is ``tool``."""
    if tool is None or tool == "read":
        return True
    # Deleting is asked for by name; creating and updating are told apart too poorly for that.
    return "delete" in request if tool == "delete" else request != {"read"}


# Ambiguous verbs are left out: as nouns they stand in descriptions that only read.
_DO_MORE = _OTHER_VERBS | {
    verb for verb, action in _ACTION_OF.items() if action != "read" and verb not in _AMBIGUOUS
}


class _StatedAction(NamedTuple):
    """The action that a name or a description expresses."""

    action: Action
    is_sure: bool
    """Whether the word can only be a verb."""


def _choose_action(named: _StatedAction | None, described: _StatedAction | None) -> Action | None:
    said = [one for one in (named, described) if one is not None]
    # The worst of the two: a wrong guess the other way would delete something.
    if any(one.is_sure and one.action == "delete" for one in said):
        return "delete"
    return next((one.action for one in sorted(said, key=lambda one: not one.is_sure)), None)


def _read_name(name: list[str]) -> _StatedAction | None:
    """Return the action of a name by its first verb (*changes* and *settings* are nouns)."""
    for place, word in enumerate(name):
        if word in _ACTION_OF and not is_negated(name, place):
            return _StatedAction(_ACTION_OF[word], word not in _ALSO_NOUNS)
    return None


def _read_sentence(sentence: list[str]) -> _StatedAction | None:
    """Return the action of a sentence: by its opening, or by the first verb after it."""
    opening = _read_opening(sentence)
    if opening is not None:
        return opening
    for place, word in enumerate(sentence[1:], start=1):
        verb = find_verb(word) or _find_gerund_base(word)
        # "to update it" is a verb where "the update" is a noun.
        asks = verb not in _ALSO_NOUNS or (word == verb and sentence[place - 1] in _BEFORE_VERB)
        if verb is not None and asks and not is_negated(sentence, place):
            return _StatedAction(_ACTION_OF[verb], is_sure=True)
    return None


def _read_opening(sentence: list[str]) -> _StatedAction | None:
    """Return the action of the first word, such as *Close* or *Closes*.

    *Closing prices* and *Changes between* have none.
    """
    verb = find_verb(sentence[0]) if sentence else None
    after = sentence[1] if len(sentence) > 1 else ""
    # "Changes between two versions" names things, and does nothing.
    if verb is None or (verb in _ALSO_NOUNS and after in _AFTER_NOUN):
        return None
    return _StatedAction(_ACTION_OF[verb], verb not in _ALSO_NOUNS or after in _AFTER_VERB)


def _find_past_base(word: str) -> str | None:
    """Return the verb of *deleted* and *removed*."""
    return _first_known(word[:-1], word[:-2]) if word.endswith("ed") else None


def _find_gerund_base(word: str) -> str | None:
    """Return the verb of *deleting*, *removing* and *dropping*."""
    root = word.removesuffix("ing")
    return _first_known(root, f"{root}e", root[:-1]) if root != word else None


def _first_known(*forms: str) -> str | None:
    return next((form for form in forms if form in _ACTION_OF), None)
