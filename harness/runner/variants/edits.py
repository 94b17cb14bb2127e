"""How a variant edits a tool: values of parameters, sentences, and names as clients make them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from typing import Any, Literal, TypeAlias

from harness.types import InstructionsEdit, JsonObject, Variant

Facet: TypeAlias = Literal["enum", "examples", "default"]
"""A part of a parameter's schema that consists of values."""

_ALTERNATIVES = ("anyOf", "oneOf", "allOf")


def get_facet(schema: JsonObject, key: Facet) -> Any:
    """Return the value of ``key`` in ``schema`` or in its first alternative that has one."""
    if schema.get(key) is not None:
        return schema[key]
    return next(
        (
            option[key]
            for alternatives in _ALTERNATIVES
            for option in _list_options(schema, alternatives)
            if isinstance(option, Mapping) and option.get(key) is not None
        ),
        None,
    )


def replace_facet(schema: JsonObject, key: Facet, value: tuple[Any, ...]) -> JsonObject:
    """Return ``schema`` with the value of ``key`` replaced.

    ``value`` has the new value as its only item; an empty one removes the key. A new key is added
    at the top level.
    """
    # In the alternative that has it: beside it, the old value would still be read.
    if key not in schema:
        for alternatives in _ALTERNATIVES:
            options = list(_list_options(schema, alternatives))
            for place, option in enumerate(options):
                if isinstance(option, Mapping) and option.get(key) is not None:
                    options[place] = replace_facet(option, key, value)
                    return {**schema, alternatives: options}
    rest = {name: part for name, part in schema.items() if name != key}
    return {**rest, key: value[0]} if value else rest


def _list_options(schema: JsonObject, alternatives: str) -> list[Any]:
    options = schema.get(alternatives)
    return options if isinstance(options, list) else []


_END = re.compile(
    r"""(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bvs\.)(?<!\bcf\.)\s+(?=\S)
      | \s*\n\s*(?=\S)""",
    re.VERBOSE,
)
"""End of a sentence: a full stop, or the end of a line such as a list item."""


def split_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of ``text``, trimmed; lines of a list are sentences of their own."""
    return tuple(part for part in _END.split(text.strip()) if part)


def remove_sentences(text: str, numbers: Collection[int]) -> str:
    """Return ``text`` without the sentences of those ``numbers``, counted from 1.

    The rest is unchanged, including the white space between sentences.
    """
    kept: list[str] = []
    position = 0
    stripped = text.strip()
    for number, sentence in enumerate(split_sentences(stripped), start=1):
        # From `position` on, because a description may say the same sentence twice.
        start = stripped.index(sentence, position)
        gap, position = stripped[position:start], start + len(sentence)
        if number not in numbers:
            kept.append((gap if kept else "") + sentence)
    return "".join(kept)


def edit_instructions(edit: InstructionsEdit | None, given: Mapping[str, str]) -> Mapping[str, str]:
    """Return the instructions of each server as ``edit`` shows them; ``given`` are their own."""
    if edit is None:
        return given
    if edit.text is not None:
        # In place of all of them, also where no server has any.
        return {", ".join(given): edit.text} if edit.text else {}
    shown, before = {}, 0
    for server, text in given.items():
        numbers = {number - before for number in edit.without_sentences}
        if left := remove_sentences(text, numbers).strip():
            shown[server] = left
        before += len(split_sentences(text))
    return shown


LONGEST_NAME = 64
"""Most characters of a tool's name that model APIs accept."""

_NOT_TAKEN = re.compile(r"[^A-Za-z0-9_-]")


def client_name(prefix: str, name: str) -> str:
    """Return ``name`` with ``prefix``, as a client makes it for a model.

    A character that model APIs do not accept becomes ``_``. A name above `LONGEST_NAME` is cut, and
    the hex SHA-1 of the whole name is added to keep it unique.
    """
    if not prefix:
        return name
    whole = prefix + name
    clean = _NOT_TAKEN.sub("_", whole)
    if len(clean) <= LONGEST_NAME:
        return clean
    # As in Codex: the digest only makes names unique, it protects nothing.
    mark = hashlib.sha1(whole.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    return clean[: LONGEST_NAME - len(mark)] + mark


_HABITS = (
    ("max_result_tokens", "cuts results"),
    ("text_only", "gives models text alone"),
    ("mark_results", "reads results as they come"),
    ("tool_filter", "chooses its tools"),
    ("offer_resources", "reads resources"),
    ("tool_search", "searches for tools"),
)


def get_habit(variant: Variant) -> tuple[str, str] | None:
    """Return the key of the client habit that ``variant`` imitates, and the habit in words.

    ``None`` if it imitates none, so that a real client could use the variant.
    """
    return next((one for one in _HABITS if getattr(variant, one[0]) not in (None, False)), None)
