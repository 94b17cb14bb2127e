"""Reads tool results: JSON if they are JSON, the records in it, and ids for further calls."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from harness.models.lexical.affinity import PLAUSIBLE, fit_argument
from harness.models.lexical.text_parsing import NearbyWords
from harness.models.lexical.text_values import TextValue
from harness.models.tool_text.parameters import Param
from harness.models.tool_text.terms import split_words, term_set
from harness.types import JsonObject

_LARGEST_JSON = 2_000_000  # characters; a larger result is treated as text
_LONGEST_FIELD = 200  # characters of a value that are compared with the wanted terms
_MOST_NODES = 5_000  # of a result that are searched for records
_WRAPPERS = frozenset({"result", "results", "data", "items"})
_NOWHERE = NearbyWords(before=(), after=())
_DECODER = json.JSONDecoder()


def parse_documents(text: str) -> list[Any]:
    """Return the JSON documents in ``text``; empty if it is not just JSON.

    A server that returns a list often sends one document for each of its members.
    """
    text = text.strip()
    found: list[Any] = []
    place = 0
    # A bare number or a quoted text is JSON, too, but is told as the text that it is.
    if len(text) > _LARGEST_JSON or not text.startswith(("{", "[")):
        return []
    try:
        while place < len(text):
            value, place = _DECODER.raw_decode(text, place)
            found.append(value)
            place += len(text[place:]) - len(text[place:].lstrip())
    except (ValueError, RecursionError):
        return []
    return found


def parse_content(text: str) -> Any:
    """Return ``text`` as one value: its JSON without the wrapping, or the text itself."""
    found = parse_documents(text)
    if not found:
        return text.strip()
    value = found[0] if len(found) == 1 else found
    # Servers wrap lists in an object, as structured results have to be objects.
    while isinstance(value, dict) and len(value) == 1 and not _WRAPPERS.isdisjoint(value):
        (value,) = value.values()
    return value


def iterate_records(value: Any) -> Iterator[JsonObject]:
    """Yield every object inside ``value``, the outer ones first."""
    # Level by level and bounded: a result may be large, and nest deeply.
    level = [value]
    left = _MOST_NODES
    while level and left > 0:
        left -= len(level)
        yield from (node for node in level if isinstance(node, Mapping))
        level = [child for node in level for child in _list_children(node)][: max(0, left)]


def find_argument(
    text: str, param: Param, wanted: frozenset[str], *, strict: bool = False
) -> Any | None:
    """Return a result's value for ``param``, such as the ``customer_id`` of the wanted customer.

    The property with the parameter's name is searched for first, then one called ``id``. Of several
    records, the one with most of the ``wanted`` terms wins. With ``strict``, it must have them all
    and be the only one that does.
    """
    ranked: list[tuple[int, int, Any]] = []
    for record in iterate_records(parse_documents(text)):
        for key, value in record.items():
            argument = _convert_argument(param, value)
            exact = split_words(key) == split_words(param.name)
            is_bare_id = key.lower() in ("id", "_id") and "id" in param.name_words
            if argument is not None and (exact or is_bare_id):
                ranked.append((_count_held(record, wanted), int(exact), argument))
    if not ranked:
        return None
    best = max(ranked, key=lambda found: found[:2])
    # For a change: another record that fits as well may be somebody else.
    certain = best[0] == len(wanted) and sum(found[0] == best[0] for found in ranked) == 1
    return best[2] if certain or not strict else None


def most_relevant(text: str, wanted: frozenset[str]) -> str:
    """Return the record of a result with most of the ``wanted`` terms, as text.

    If there is no such record, return the whole text.
    """
    records = iterate_records(parse_documents(text))
    found = ((_count_held(record, wanted), record) for record in records)
    rank, record = max(found, key=lambda pair: pair[0], default=(0, {}))
    return "\n".join(f"{key}: {value}" for key, value in record.items()) if rank else text


def _convert_argument(param: Param, value: Any) -> Any | None:
    """Return a result's value if the parameter accepts it unchanged."""
    # In Python `True` is an integer.
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    if param.kind in ("integer", "number"):
        return value if isinstance(value, int) else None
    if param.kind not in ("string", "any"):
        return None
    shown = TextValue(kind="id", text=str(value), start=0, end=0)
    found = fit_argument(param, shown, _NOWHERE)
    fits = found is not None and found.score >= PLAUSIBLE and found.argument == str(value)
    return value if fits else None


def _count_held(record: JsonObject, wanted: frozenset[str]) -> int:
    scalars = (value for value in record.values() if isinstance(value, (str, int, float)))
    return len(wanted & term_set(" ".join(str(value)[:_LONGEST_FIELD] for value in scalars)))


def _list_children(node: Any) -> list[Any]:
    if isinstance(node, Mapping):
        return list(node.values())
    return node if isinstance(node, list) else []
