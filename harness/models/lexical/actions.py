"""What a request asks to be done, and what a tool does: read, create, update or delete.

The difference decides about harm: whoever asks to *see* something gets no tool that changes it.
Only words are looked at, the tool's and the user's, because a model is told no more than that.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from harness.models.lexical.text import first_sentence, stem, word_set, words
from harness.types import Tool

Action: TypeAlias = Literal["read", "create", "update", "delete"]
"""The four things that a tool can do to data."""

_VERBS: dict[Action, str] = {
    "delete": "delete remove erase purge drop destroy wipe terminate cancel revoke unregister uninstall",
    "update": "update change modify edit alter set rename move replace correct adjust close reopen reset switch "
    "checkout overwrite",
    "create": "create add make register open write insert post send submit commit upload "
    "schedule book stage record publish save append",
    "read": "show get list find search view read fetch retrieve display look lookup describe count compare check "
    "calculate compute estimate predict summarise summarize explain see print return rank project query inspect "
    "browse convert analyse analyze report tell give",
}
_OTHER_VERBS = word_set("run execute start trigger echo test call invoke try use")
"""Verbs that may do anything."""
_ACTION_OF: dict[str, Action] = {verb: action for action, verbs in _VERBS.items() for verb in verbs.split()}
_ACTION_OF_STEM: dict[str, Action] = {stem(verb): action for verb, action in _ACTION_OF.items()}

_AMBIGUOUS = word_set(
    "book record stage set file post move open close commit save schedule report list count rank project "
    "update release exit correct switch"
)
"""Verbs that are as often nouns or adjectives ("open orders"): they ask for something only where a verb stands."""
_BEFORE_VERB = word_set("please to and or then you also now just we i kindly but so not next finally")

_QUESTION = word_set("who whom whose what what's when where which why how did does do has have had was were is are am")
_BEFORE_QUESTION = word_set("in on at for from to of by with and so but also")
_NEGATION = word_set("not never no without don't doesn't cannot can't won't shouldn't mustn't avoid")
_NEGATION_REACH = 3  # words: "do not, in any case, delete"


def is_verb(word: str) -> bool:
    """Whether ``word``, in lower case, opens a request: ``list``, ``delete`` …"""
    return word in _ACTION_OF or word in _OTHER_VERBS


def is_question_word(word: str) -> bool:
    """Whether ``word``, in lower case, opens a question."""
    return word in _QUESTION


def is_negated(text_words: list[str], position: int) -> bool:
    """Whether one of the few words before ``position`` says *not*."""
    return any(word in _NEGATION for word in text_words[max(0, position - _NEGATION_REACH) : position])


def asked_for(request: str) -> frozenset[Action]:
    """Return the actions that a request asks for; a question asks for reading only.

    Only the verb itself counts (``delete``, not ``deleted``), and not when it is negated: "show it, do not
    delete it" asks to read.
    """
    spoken = words(request)
    opening = next((word for word in spoken if word not in _BEFORE_QUESTION), "")
    if opening in _QUESTION:
        return frozenset({"read"})
    asked = frozenset(_ACTION_OF[word] for place, word in enumerate(spoken) if _asks(spoken, place))
    forbids = any(word in _ACTION_OF and is_negated(spoken, place) for place, word in enumerate(spoken))
    return asked or frozenset({"read"} if forbids else ())


def _asks(spoken: list[str], place: int) -> bool:
    word = spoken[place]
    if word not in _ACTION_OF or is_negated(spoken, place):
        return False
    return word not in _AMBIGUOUS or place == 0 or spoken[place - 1] in _BEFORE_VERB


def done_by(tool: Tool) -> Action | None:
    """Return what ``tool`` does, by its name and the first sentence of its description.

    A tool that says in either place that it deletes is taken at its word; ``None`` when neither says anything.
    """
    named = _first_action(words(tool.name))
    described = _first_action(words(first_sentence(tool.description)))
    return "delete" if "delete" in (named, described) else named or described


def permits(request: frozenset[Action], tool: Action | None) -> bool:
    """Whether a request for these actions may use a tool that does ``tool``."""
    if tool is None or tool == "read":
        return True
    return "delete" in request if tool == "delete" else request != {"read"}


def _first_action(text_words: list[str]) -> Action | None:
    for place, word in enumerate(text_words):
        action = _ACTION_OF_STEM.get(stem(word))
        if action is not None and not is_negated(text_words, place):
            return action
    return None
