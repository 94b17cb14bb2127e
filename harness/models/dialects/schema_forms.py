"""One part of a schema in the keywords of a provider that takes only some: Gemini's.

What can be said in them is said without a loss: a constant as an ``enum``, a null as ``nullable``,
``allOf`` as one part. Each part gets the one ``type`` that these APIs ask for.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

_WORDS = {
    "object": frozenset({"properties", "required", "minProperties", "maxProperties"}),
    "array": frozenset({"items", "minItems", "maxItems"}),
    "string": frozenset({"pattern", "format", "minLength", "maxLength"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "format"}),
}
"""Type → the keywords that mean something for it alone."""
_WORDS["integer"] = _WORDS["number"]
_OF_ONE_TYPE = frozenset().union(*_WORDS.values())
_SCALARS = [{"type": kind} for kind in ("string", "number", "boolean", "object")]
# Gemini takes no schema without a type: what may be anything is written out, one list deep.
_ANYTHING = [*_SCALARS, {"type": "array", "items": {"anyOf": _SCALARS}}]
_TYPES: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"} | {
    list: "array",
    dict: "object",
    type(None): "null",
}
_STRICTER = {
    **dict.fromkeys(("minimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "maxLength", "maxItems", "maxProperties"), min),
}
# Exclusive bound → the bound that Gemini knows, and the step to it for whole numbers.
_BOUNDS = (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1))


def merge_all_of(part: Schema, resolve: Callable[[Schema], Schema]) -> Schema:
    """Return ``part`` without an ``allOf`` and a null that can be said in its other keywords.

    ``resolve`` returns a part with what it refers to; ``part`` itself is returned if it stays.
    """
    every = part.get("allOf")
    if isinstance(every, list):
        whole, left = _drop_keyword(part, "allOf"), []
        for item in every:
            one = resolve(item) if isinstance(item, dict) and "$ref" in item else item
            joined = _join_parts(whole, one) if isinstance(one, dict) else None
            if joined is None:
                left.append(one)
            else:
                whole = joined
        # Otherwise nothing was merged: the part stays itself, by which the caller sees an end.
        if len(left) < len(every) or not every:
            return {**whole, "allOf": left} if left else whole
    for word in ("anyOf", "oneOf"):
        alternatives = part.get(word)
        kept = [one for one in alternatives or () if not _is_null(one)]
        if not isinstance(alternatives, list) or not kept:
            continue
        beside = _drop_keyword(part, word)
        # An alternative that is null is said as `nullable`, which Gemini has instead.
        if len(kept) < len(alternatives):
            beside["nullable"] = True
        only = kept[0] if len(kept) == 1 else None
        if isinstance(only, dict) and (joined := _join_parts(beside, only)) is not None:
            return joined
        if len(kept) < len(alternatives):
            return {**beside, word: kept}
    return part


def split_types(part: Schema) -> Schema:
    """Return ``part`` with one type, or with alternatives that have one each."""
    part = dict(part)
    kinds = _list_kinds(part)
    # Only as a text: an `enum` of anything else is refused, and so is an empty one.
    if isinstance(part.get("const"), str) and part["const"] and "enum" not in part:
        part["enum"] = [part.pop("const")]
    if isinstance(part.get("oneOf"), list) and "anyOf" not in part:
        part["anyOf"] = part.pop("oneOf")
    if "null" in kinds and kinds != ["null"]:
        part["nullable"] = True
        kinds.remove("null")
        if isinstance(part.get("enum"), list):
            # Null is said by `nullable` now; in the list it would be no text.
            part["enum"] = [value for value in part["enum"] if value is not None]
    if len(kinds) == 1:
        part = _drop_foreign_keywords({**part, "type": kinds[0]})
    # The alternatives have types of their own.
    elif isinstance(part.get("anyOf"), list):
        part.pop("type", None)
    else:
        alternatives = [
            {"type": kind, **{w: v for w, v in part.items() if w in _WORDS.get(kind, ())}}
            for kind in kinds
        ]
        part = {word: value for word, value in part.items() if word not in _OF_ONE_TYPE}
        part.pop("type", None)
        part["anyOf"] = alternatives or _ANYTHING
    return part


def distribute_any_of(part: Schema) -> Schema:
    """Return ``part`` with nothing beside its ``anyOf``: each alternative has it."""
    if "anyOf" not in part or len(part) == 1:
        return part
    beside = _drop_keyword(part, "anyOf")
    return {
        "anyOf": [
            distribute_any_of(_drop_foreign_keywords(_join_parts(one, beside) or {**beside, **one}))
            for one in part["anyOf"]
        ]
    }


def _drop_foreign_keywords(part: Schema) -> Schema:
    """Return ``part`` without the keywords that mean nothing for its type."""
    kind = part.get("type")
    if kind is None:
        return part
    for bound, limit, step in _BOUNDS:
        value = part.get(bound)
        # Of a number there is no next one: its exclusive bound goes into the description.
        if kind == "integer" and type(value) is int and limit not in part:
            part = {**_drop_keyword(part, bound), limit: value + step}
    own = _WORDS.get(kind, frozenset())
    part = {word: part[word] for word in part if word not in _OF_ONE_TYPE or word in own}
    # An array without `items` is refused.
    return {**part, "items": {}} if kind == "array" and "items" not in part else part


def _list_kinds(part: Schema) -> list[str]:
    """Return the types that ``part`` allows, as far as it names or means some."""
    kind = part.get("type")
    if isinstance(kind, str | list):
        return [kind] if isinstance(kind, str) else list(dict.fromkeys(kind))
    values = part.get("enum", [part["const"]] if "const" in part else None)
    if isinstance(values, list):
        return list(dict.fromkeys(_TYPES[type(value)] for value in values))
    if isinstance(part.get("anyOf", part.get("oneOf")), list):
        return []
    # No type is named: the first whose keywords stand there is meant.
    meant = ("object", "array", "string", "number")
    return [kind for kind in meant if part.keys() & _WORDS[kind]][:1]


def _join_parts(part: Schema, other: Schema) -> Schema | None:
    """Return one part for what satisfies both; ``None`` if that cannot be said in one."""
    joined = dict(part)
    for word, value in other.items():
        known: Any = joined.get(word, value)
        if known == value or word == "title":
            joined[word] = known
        # What satisfies both satisfies the stricter bound.
        elif word in _STRICTER:
            joined[word] = _STRICTER[word](known, value)
        elif word == "description":
            joined[word] = f"{known}\n{value}"
        elif word == "required" and isinstance(known, list) and isinstance(value, list):
            joined[word] = [*known, *(name for name in value if name not in known)]
        elif word == "properties" and all(known.get(name, v) == v for name, v in value.items()):
            joined[word] = {**known, **value}
        else:
            return None
    return joined


def _drop_keyword(part: Schema, word: str) -> Schema:
    return {other: value for other, value in part.items() if other != word}


def _is_null(part: object) -> bool:
    return isinstance(part, dict) and (
        part.get("type") == "null" or part.get("const", 0) is None or part.get("enum") == [None]
    )


PatternRule: TypeAlias = tuple[str, Callable[[str], bool]]
"""What is refused of a pattern, in words, and whether a pattern has it."""

_SIGNS = re.compile(
    r"(?P<back_reference>\\[1-9]|\\k<|\(\?P=)"
    r"|(?P<look_around>\(\?<?[=!])"
    r"|(?P<count>\{\d*,?\d*\})"
    r"|(?P<escape>\\.)"
    r"|(?P<set>\[\^?\]?(?:\\.|[^]\\])*\])",
    re.DOTALL,
)
"""The signs of a pattern: what stands in a set or behind a backslash is no other sign."""
_LOOK_AROUND_IN_WORDS = {
    "(?!": "(not before: ",
    "(?=": "(before: ",
    "(?<!": "(not after: ",
    "(?<=": "(after: ",
}
"""Look-around for a reader: models read words better, and some gateways refuse the signs in any
text of a request."""
# A longer one is sent unexamined: to compile it could hold up everything else.
_LONGEST_COMPILED = 10_000
_MANY = re.compile(r"0*(?:[2-9]\d{3}|[1-9]\d{4,})")
"""2,000 and more: as often llama.cpp refuses to repeat anything."""
_ESCAPES_OF_A_GRAMMAR = frozenset('\\"[]nrtxuU')
# Outside of a set, the signs of a regular expression may be escaped, too.
_ESCAPES_OF_A_PATTERN = _ESCAPES_OF_A_GRAMMAR | frozenset("^$.()|{}*+?")


def _contains_kind(kind: str) -> Callable[[str], bool]:
    return lambda pattern: any(sign.lastgroup == kind for sign in _SIGNS.finditer(pattern))


def _is_unknown_to_python(pattern: str) -> bool:
    if len(pattern) > _LONGEST_COMPILED:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of nested sets, which compile
            re.compile(pattern)
    # Counts beyond 2**32 overflow, and deep brackets recurse, before `re` calls them an error.
    except (re.error, OverflowError, RecursionError):
        return True
    return False


def _is_open(pattern: str) -> bool:
    return not (pattern.startswith("^") and pattern.endswith("$"))


def _repeats_too_often(pattern: str) -> bool:
    counts = (sign[0] for sign in _SIGNS.finditer(pattern) if sign.lastgroup == "count")
    return any(_MANY.fullmatch(number) for count in counts for number in re.findall(r"\d+", count))


def _has_unknown_escape(pattern: str) -> bool:
    for sign in _SIGNS.finditer(pattern):
        if sign.lastgroup == "escape" and sign[0][1] not in _ESCAPES_OF_A_PATTERN:
            return True
        # `_SIGNS` takes a set as one sign: the escapes in it are read apart.
        escaped = re.findall(r"\\(.)", sign[0], re.DOTALL) if sign.lastgroup == "set" else []
        if not _ESCAPES_OF_A_GRAMMAR.issuperset(escaped):
            return True
    return False


BACKTRACKING: tuple[PatternRule, ...] = (
    ("with look-around", _contains_kind("look_around")),
    ("with back-reference", _contains_kind("back_reference")),
)
"""What a linear engine cannot match."""
NOT_PYTHON: tuple[PatternRule, ...] = (
    ("that Python cannot compile, such as \\p{L}", _is_unknown_to_python),
)
NO_GRAMMAR: tuple[PatternRule, ...] = (
    ("that does not begin with ^ and end with $", _is_open),
    ("with an escape such as \\d", _has_unknown_escape),
    ("with a count of 2,000 or more", _repeats_too_often),
)
"""What llama.cpp can make no grammar of."""


def describe_patterns(text: str) -> str:
    """Return a text with patterns for a reader."""
    return re.sub(r"(?<!\\)\(\?<?[=!]", lambda sign: _LOOK_AROUND_IN_WORDS[sign[0]], text)
