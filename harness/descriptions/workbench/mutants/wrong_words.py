"""Words and their opposites, to invert the meaning of texts and names."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PAIRS = (
    "first last, newest oldest, latest earliest, most least, largest smallest, highest lowest, "
    "ascending descending, including excluding, include exclude, before after, start end, "
    "from to, min max, minimum maximum, source target, old new, previous next, left right, "
    "open closed, active inactive, enabled disabled, enable disable, increase decrease, buy sell, "
    "sender recipient, origin destination, latitude longitude, lat lon, width height, gross net, "
    "with without, all one, every single, import export, upload download, lock unlock"
)

OPPOSITES: Mapping[str, str] = {
    word: other
    for pair in _PAIRS.split(",")
    for one, two in [pair.split()]
    for word, other in ((one, two), (two, one))
}
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

_SYNONYMS: Mapping[str, str] = {
    "get": "fetch",
    "fetch": "get",
    "search": "find",
    "find": "search",
    "list": "show",
    "show": "list",
    "create": "add",
    "add": "create",
    "delete": "remove",
    "remove": "delete",
    "update": "change",
    "change": "update",
    "calculate": "compute",
    "analyze": "evaluate",
    "read": "load",
    "write": "save",
    "send": "post",
    "request": "ask",
}
_WORD = re.compile(r"(?<![\w-])[A-Za-z]+(?![\w-])")
_NAME_WORD = re.compile(r"[A-Za-z][a-z]*|[A-Z]+(?![a-z])")


def contradict_text(text: str) -> tuple[str, str, str] | None:
    """Return ``(text, word, opposite)`` with the first word that has an opposite replaced by it."""
    for found in _WORD.finditer(text):
        word = found[0].lower()
        if word in OPPOSITES and word not in _NOT_IN_PROSE:
            other = _match_case(OPPOSITES[word], found[0])
            return text[: found.start()] + other + text[found.end() :], found[0], other
    return None


def replace_verb(text: str) -> tuple[str, str, str] | None:
    """Return ``(text, verb, other)`` with another action at the start: "Delete …" for "List …"."""
    found = _WORD.match(text.lstrip())
    if found is None:
        return None
    word = found[0].lower()
    base = word if word in _CLAIMS else word.removesuffix("s")
    if base not in _CLAIMS:
        return None
    other = _CLAIMS[base] + ("s" if base != word else "")
    other = _match_case(other, found[0])
    return other + text.lstrip()[found.end() :], found[0], other


def opposite_name(name: str) -> str | None:
    """Return ``name`` with a word that has an opposite replaced: ``date_to``; or ``None``."""
    for found in _NAME_WORD.finditer(name):
        other = OPPOSITES.get(found[0].lower())
        if other is not None and found[0].lower() not in ("all", "one", "with", "without"):
            return name[: found.start()] + _match_case(other, found[0]) + name[found.end() :]
    return None


def synonymous_name(name: str) -> str | None:
    """Return ``name`` with a synonym of its verb: ``find_orders`` for ``search_orders``."""
    found = _NAME_WORD.match(name)
    other = _SYNONYMS.get(found[0].lower()) if found else None
    if found is None or other is None:
        return None
    return _match_case(other, found[0]) + name[found.end() :]


def _match_case(word: str, like: str) -> str:
    # A single capital begins a word, and does not shout.
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word.capitalize() if like[0].isupper() else word
