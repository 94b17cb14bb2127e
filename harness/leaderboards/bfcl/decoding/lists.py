"""Outputs that are lists of objects, as the APIs of models return calls."""

from __future__ import annotations

from typing import Any

from harness.leaderboards.bfcl.decoding.reading import (
    NotCalls,
    Pairs,
    executable,
    loaded,
    named,
    shaped,
)


def with_texts(item: Any) -> Pairs:
    """Read ``[{function: arguments as JSON text}]``, as the official OpenAI and Claude handlers do.

    Of an object with several functions the first one counts.
    """
    if item in ("", {}):
        return []
    if not isinstance(item, list):
        raise NotCalls("this is no list")
    return shaped([_first(one) for one in item])


def _first(one: Any) -> dict[str, Any]:
    if not isinstance(one, dict) or not one:
        raise NotCalls("an item names no function")
    name, given = next(iter(one.items()))
    return {name: loaded(given)}


def with_texts_executed(item: Any) -> Pairs:
    """Read the same form in a multi-turn case.

    The handlers accept more there: a bare object, or several functions in one object.
    """
    if item == "":
        return []
    if not isinstance(item, list | dict):
        raise NotCalls("this is no list")
    return executable([item] if isinstance(item, dict) else item)


def with_objects(item: Any) -> Pairs:
    """Read ``[{function: arguments as an object}]``."""
    if not isinstance(item, list):
        raise NotCalls("this is no list")
    return shaped(item)


def with_objects_executed(item: Any) -> Pairs:
    """Read the same for a conversation."""
    if not isinstance(item, list):
        raise NotCalls("this is no list")
    return executable(item)


def with_tool_names(item: Any) -> Pairs:
    """Read ``[{"tool_name": …, "parameters": …}]``; anything that is no list is no call at all."""
    return shaped(named(item, "tool_name", "parameters")) if isinstance(item, list) else []


def with_names(item: Any) -> Pairs:
    """Read ``[{"name": …, "arguments": …}]``."""
    return shaped(named(item))


def with_names_executed(item: Any) -> Pairs:
    """Read the same form in a multi-turn case: items that are no objects are skipped.

    A missing part is empty.
    """
    if not isinstance(item, list | str):
        raise NotCalls("this is no list")
    pairs = [
        (str(one.get("name", "")), one.get("arguments", {}))
        for one in item
        if isinstance(one, dict)
    ]
    if not all(isinstance(arguments, dict) for _, arguments in pairs):
        raise NotCalls("arguments are no object")
    return pairs
