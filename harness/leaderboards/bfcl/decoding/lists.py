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
    """Parse ``[{function: arguments as JSON text}]`` as the official OpenAI and Claude handlers do.

    If an object has several functions, the first counts.
    """
    if item in ("", {}):
        return []
    if not isinstance(item, list):
        raise NotCalls("this is not a list")
    return shaped([_first(one) for one in item])


def _first(one: Any) -> dict[str, Any]:
    if not isinstance(one, dict) or not one:
        raise NotCalls("an item names no function")
    name, given = next(iter(one.items()))
    return {name: loaded(given)}


def with_texts_executed(item: Any) -> Pairs:
    """Parse the form of `with_texts` in a multi-turn case.

    There, the handlers also accept a bare object, or several functions in one object.
    """
    if item == "":
        return []
    if not isinstance(item, list | dict):
        raise NotCalls("this is not a list")
    return executable([item] if isinstance(item, dict) else item)


def with_objects(item: Any) -> Pairs:
    """Parse ``[{function: arguments as an object}]``."""
    if not isinstance(item, list):
        raise NotCalls("this is not a list")
    return shaped(item)


def with_objects_executed(item: Any) -> Pairs:
    """Parse the form of `with_objects` in a multi-turn case."""
    if not isinstance(item, list):
        raise NotCalls("this is not a list")
    return executable(item)


def with_tool_names(item: Any) -> Pairs:
    """Parse ``[{"tool_name": …, "parameters": …}]``; anything but a list is no call."""
    return shaped(named(item, "tool_name", "parameters")) if isinstance(item, list) else []


def with_names(item: Any) -> Pairs:
    """Parse ``[{"name": …, "arguments": …}]``."""
    return shaped(named(item))


def with_names_executed(item: Any) -> Pairs:
    """Parse the form of `with_names` in a multi-turn case; items that are not objects are skipped.

    A missing part is empty.
    """
    if not isinstance(item, list | str):
        raise NotCalls("this is not a list")
    pairs = [
        (str(one.get("name", "")), one.get("arguments", {}))
        for one in item
        if isinstance(one, dict)
    ]
    if not all(isinstance(arguments, dict) for _, arguments in pairs):
        raise NotCalls("the arguments are not an object")
    return pairs
