"""Values and parameters that a description clearly names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.models import Param, word_set

_QUOTED = re.compile(r"(?<![\w'\"`])(?P<sign>['\"`])(?P<value>[\w][\w.-]{0,39})(?P=sign)(?!\w)")
_SETS = re.compile(
    r"(?:\bset(?:\s+(?:it|this))?\s+to|\bdefaults?\s+(?:to|is|=)|\bdefault:|\bpass|\buse)\s*$",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"(?:^|[:(\[=]|\b(?:of|either|are|is|to|be|by|values?|options?))\s*"
    r"(?P<items>[\w-]{1,30}(?:\s*[,|/]\s*(?:or\s+|and\s+)?[\w-]{1,30}){0,20}"
    r"(?:,?\s+(?:or|and)\s+[\w-]{1,30})?)"
    r"\s*(?=[.;:)\](]|$)",
    re.IGNORECASE,
)
"""A list of single words, from where it is announced to its end."""
_ITEM = re.compile(r"[\w-]+")
_JOINS = word_set(
    "or and the a an e g eg ie etc default more other others example instance none null"
)
"""Words in a list of values that are not values."""
_FEWEST = 2  # enum values that a list must have to count as a list of values

_CODE_NAME = r"[a-zA-Z]\w*"
_PARAMETER = re.compile(
    rf"(?:\b(?:parameters?|arguments?)\s+[`'\"](?P<after>{_CODE_NAME})[`'\"]"
    rf"|[`'\"](?P<before>{_CODE_NAME})[`'\"]\s+(?:parameter|argument)s?\b"
    rf"|\bthe\s+(?P<bare>[a-z]\w*_\w+|[a-z]+[A-Z]\w*)\s+(?:parameter|argument)s?\b)"
)
_ARGS = re.compile(
    r"^[ \t]*(?:Args|Arguments|Parameters|Params):[ \t]*\n"
    r"(?P<lines>(?:[ \t]+\S.*\n?|[ \t]*\n)+)",
    re.MULTILINE,
)
_ARG = re.compile(
    rf"^(?P<indent>[ \t]+)(?P<name>{_CODE_NAME})[ \t]*(?:\([^)\n]*\))?:", re.MULTILINE
)


def named_values(param: Param, tool_text: str) -> tuple[str, ...]:
    """Return the values that texts name for ``param`` and that its enum does not have.

    ``tool_text`` is the description of the tool; it counts where it says to which value to set the
    parameter.
    """
    found = dict.fromkeys(
        (*_quoted_values(param), *_listed_values(param), *_assigned_values(param.name, tool_text))
    )
    known = _enum_words(param)
    return tuple(value for value in found if value.lower() not in known)


def named_parameters(text: str) -> Iterator[str]:
    """Yield the names that ``text`` calls parameters: "the `limit` parameter", or below "Args:"."""
    for found in _PARAMETER.finditer(text):
        yield found["after"] or found["before"] or found["bare"]
    for section in _ARGS.finditer(text):
        args = list(_ARG.finditer(section["lines"]))
        # Deeper lines with a colon belong to the text of an argument.
        indent = min((len(arg["indent"]) for arg in args), default=0)
        yield from (arg["name"] for arg in args if len(arg["indent"]) == indent)


def _enum_words(param: Param) -> frozenset[str]:
    """Return the enum's values, and the words of those that have several words."""
    values = [str(choice).lower() for choice in param.choices]
    return frozenset((*values, *(word for value in values for word in _ITEM.findall(value))))


def _quoted_values(param: Param) -> Iterator[str]:
    """Yield the texts quoted as a value: after "set to", "default", "use"."""
    for found in _QUOTED.finditer(param.description):
        if _SETS.search(param.description[: found.start()]):
            yield found["value"]


def _listed_values(param: Param) -> Iterator[str]:
    """Yield the items of lists in which at least two, and most, are values of the enum."""
    known = _enum_words(param)
    # A list may be quoted item by item.
    plain = re.sub(r"['\"`]", "", param.description)
    for found in _LIST.finditer(plain):
        items = [item for item in _ITEM.findall(found["items"]) if item.lower() not in _JOINS]
        members = [item for item in items if item.lower() in known]
        if len(members) >= _FEWEST and len(members) * 2 > len(items):
            yield from items


def _assigned_values(name: str, text: str) -> Iterator[str]:
    """Yield the values to which ``text`` says to set the parameter: "status to 'open'"."""
    setting = re.compile(
        rf"(?<!\w)['\"`]?{re.escape(name)}['\"`]?\s*(?:to|=|:|is)\s*['\"`](?P<value>[\w.-]{{1,40}})['\"`]"
    )
    yield from (found["value"] for found in setting.finditer(text))
