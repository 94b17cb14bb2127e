"""Turns a tool's description into a prompt that a user could write.

"Returns one customer's record by id." becomes "Please give me customer CUST_00042's record." A
prompt contains every argument literally, so that a case can require it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from harness.models import Example, first_sentence, is_verb, split_words, stem_word, word_set
from harness.types import Tool

_LONGEST = 110  # characters of a request that a person would type
_LEAST = 15  # a sentence is not cut before so many characters
_SHORT_NAME = 2  # a parameter's name up to this length is not descriptive
_SHORT_LABEL = 4  # words of a description that can replace the name

_OPENINGS = re.compile(
    r"^(?:use (?:this|it)(?: tool| function)? (?:to|for)|(?:this|the|a|an) "
    r"(?:tool|function|command|utility)"
    r"(?: that| which)?(?: can be used to| lets you| allows (?:you|users) to| will| to)?"
    r"|(?:tool|utility|used|lets you|allows (?:you|users)) to|helps? (?:you )?to)\s+",
    re.IGNORECASE,
)
# What follows a colon or a dash explains the task, and is no part of it.
_DETAILS = re.compile(r"\s*(?:[:;]|\s[-–—])\s")
_CLAUSE = re.compile(r"\s*\(|,\s(?:and|or|which|including|helpful|with|using)\b")
_AS_GIVEN = re.compile(
    r"\s+(?:(?:by|for|given|with)\s+(?:(?:its|the|their|a|an|some)\s+)?(?:[\w-]+\s+)?(?:id|identifier)s?"
    r"|(?:in|at|for|from|of|to)\s+(?:a|the)\s+(?:specified|given|provided)\s+\w+)$"
    r"|,?\s+by(?:\s+[\w-]+){1,3}(?:,(?:\s+[\w-]+){1,3})*,?\s+(?:or|and)(?:\s+[\w-]+){1,2}(?=,|$)",
    re.IGNORECASE,
)
"""Words of a description about its filters, left out if the prompt has a filter."""
_DETERMINERS = word_set(
    "a an the one all any each every your this these that multiple several up new whether what how "
    "where who information details data to if"
)
_VERBS = word_set(
    "analyse apply approve archive ask assess assign build classify clone compress configure "
    "connect decode decompress demonstrate deploy detect determine disable disconnect download "
    "draw enable encode evaluate export extract fail format generate identify import mark merge "
    "navigate notify parse pause perform play recommend reject render request resolve restart "
    "restore resume share simulate split start stop subscribe suggest summarise sync take toggle "
    "trigger unsubscribe upload validate verify wait"
)
"""Verbs that begin descriptions, besides those that may begin any request."""
_SAID_AS = {"return": "give me", "retrieve": "get", "demonstrate": "show me"}
_BARE = re.compile(
    r"[\w.+@:/~#-]*[\d@/~#_.][\w.+@:/~#-]*[\w/]|[A-Z]{2,8}|[A-Z][a-z]+(?: [A-Z][a-z]+)*"
)
_IDENTIFIES = frozenset({"id", "key", "code", "number"})


def write_prompt(tool: Tool, arguments: Sequence[Example]) -> str:
    """Return a prompt to which the right response is a call of ``tool`` with ``arguments``."""
    return f"Please {write_request(tool, arguments)}."


def write_request(tool: Tool, arguments: Sequence[Example]) -> str:
    """Return the prompt's request as a phrase: ``delete customer CUST_00042 for good``."""
    if not arguments:
        return _task_phrase(tool)
    task, left = _insert_identifier(_AS_GIVEN.sub("", _task_phrase(tool)), arguments)
    if not left:
        return task
    *others, last = [_phrase_argument(example) for example in left]
    listed = f"{', '.join(others)} and {last}" if others else last
    return f"{task}, {'for' if _names_its_thing(left[0]) else 'with'} {listed}"


def _insert_identifier(task: str, arguments: Sequence[Example]) -> tuple[str, Sequence[Example]]:
    """Insert the first identifying argument after the task's object: "one customer"."""
    for example in arguments:
        if _names_its_thing(example):
            thing = " ".join(split_words(example.param.name)[:-1])
            named = re.compile(
                rf"\b(?:one|an?|the|some|single)\s+(?:single\s+)?{re.escape(thing)}\b",
                re.IGNORECASE,
            )
            said = named.sub(lambda _: _phrase_argument(example), task, count=1)  # noqa: B023  # called at once
            if said != task:
                return said, [other for other in arguments if other is not example]
    return task, arguments


def format_value(value: Any) -> str:
    """Return an argument as people write it: free text in quotation marks, ids and numbers bare."""
    if isinstance(value, list) and value and not any(isinstance(i, dict | list) for i in value):
        return " and ".join(format_value(item) for item in value)
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if _BARE.fullmatch(value):
        return value
    # A mark that the text does not have itself, so that its end is clear.
    mark = next((mark for mark in "\"`'" if mark not in value), "")
    return f"{mark}{value}{mark}"


def flatten_text(text: str) -> str:
    """Return ``text`` on one line, without control characters and lone surrogates."""
    visible = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(visible.split())


def _phrase_argument(example: Example) -> str:
    name = split_words(example.param.name)
    if _names_its_thing(example):
        return f"{' '.join(name[:-1])} {format_value(example.value)}"
    link = "set to " if example.param.kind == "boolean" else ""
    label = _argument_label(example)
    if len(label) <= _SHORT_NAME:
        return f"{label} = {_format_choice(example)}"
    return f"the {label} {link}{_format_choice(example)}"


def _format_choice(example: Example) -> str:
    """Return the value, without quotation marks if it is one of a list of choices."""
    plain = isinstance(example.value, str) and re.fullmatch(r"[\w-]+(?: [\w-]+)*", example.value)
    return example.value if example.param.choices and plain else format_value(example.value)


def _argument_label(example: Example) -> str:
    described = flatten_text(example.param.description).rstrip(".")
    if len(example.param.name) <= _SHORT_NAME and 0 < len(described.split()) <= _SHORT_LABEL:
        return described[:1].lower() + described[1:]
    return " ".join(split_words(example.param.name)) or flatten_text(example.param.name)


def _names_its_thing(example: Example) -> bool:
    """Whether "customer CUST_00042" reads well: the id's name tells what it identifies."""
    name = split_words(example.param.name)
    return len(name) > 1 and name[-1] in _IDENTIFIES and isinstance(example.value, str | int)


def _task_phrase(tool: Tool) -> str:
    """Return a tool's action as a request: ``list all orders``."""
    said = _OPENINGS.sub(
        "", _shorten_sentence(flatten_text(first_sentence(tool.description)).rstrip(" .!?:;,"))
    )
    # "Safely deletes …": the verb comes second.
    opening, _, rest = said.partition(" ")
    if opening.lower().endswith("ly"):
        opening, _, rest = rest.partition(" ")
    if verb := _infinitive(opening, rest, tool):
        return f"{_SAID_AS.get(verb, verb)} {rest}".strip()
    if len(said.split()) > 1:
        # An abbreviation such as "SQL" keeps its capitals.
        return f"help me with this: {said[:1].lower() + said[1:] if said[1:2].islower() else said}"
    return _task_from_name(tool)


def _task_from_name(tool: Tool) -> str:
    """Return the request in a tool's name: ``get_order`` becomes "get the order"."""
    spoken_name = split_words(tool.name)
    if not spoken_name:
        return f"use {flatten_text(tool.name) or 'the tool'}"
    if is_verb(spoken_name[0]):
        return " ".join([spoken_name[0], *(["the"] if spoken_name[1:] else []), *spoken_name[1:]])
    return f"help me with this: {' '.join(spoken_name)}"


def _shorten_sentence(sentence: str) -> str:
    """Remove the details after a colon; cut a long sentence at a clause, or else at a word."""
    details = _DETAILS.search(sentence, _LEAST)
    sentence = sentence[: details.start()] if details else sentence
    if len(sentence) <= _LONGEST:
        return sentence
    clause = _CLAUSE.search(sentence, _LEAST)
    if clause is not None and clause.start() <= _LONGEST:
        return sentence[: clause.start()].rstrip()
    return sentence[:_LONGEST].rpartition(" ")[0] or sentence[:_LONGEST]


def _infinitive(word: str, rest: str, tool: Tool) -> str | None:
    """Return the infinitive of a description's first word (``Returns``); ``None`` if no verb."""
    lower = word.lower()
    # A noun phrase such as "All open orders" has no verb.
    if not lower.isalpha() or lower in _DETERMINERS:
        return None
    forms = [lower]
    if lower.endswith("s") and not lower.endswith("ss"):
        forms.append(lower[:-1])
    if lower.endswith(("ches", "shes", "sses", "xes", "zes", "oes")):
        forms.append(lower[:-2])
    if lower.endswith("ies"):
        forms.append(f"{lower[:-3]}y")
    if known := next((form for form in forms if is_verb(form) or form in _VERBS), None):
        return known
    # An unknown word is a verb if an object follows, or if the tool is called by it.
    named = {stem_word(part) for part in split_words(tool.name)[:1]}
    followed = rest.partition(" ")[0].lower() in _DETERMINERS
    return forms[-1] if followed or named & set(map(stem_word, forms)) else None
