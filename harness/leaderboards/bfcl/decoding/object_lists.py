"""Outputs that are lists of objects, as the APIs of models return calls."""

from __future__ import annotations

from typing import Any

from harness.leaderboards.bfcl.decoding.parsing import (
    NotCalls,
    Pairs,
    list_executable_calls,
    load_json,
    read_named_calls,
    require_pairs,
)


def parse_json_arguments(item: Any) -> Pairs:
    """Parse ``[{function: arguments as JSON text}]`` as the official OpenAI and Claude handlers do.

    If an object has several functions, the first counts.
    """
    # As upstream, nothing at all is no call, while any other bare object is an error.
    if item in ("", {}):
        return []
    calls: list[dict[str, Any]] = []
    for one in _require_list(item):
        if not isinstance(one, dict) or not one:
            raise NotCalls("an item names no function")
        name, given = next(iter(one.items()))
        calls.append({name: load_json(given)})
    return require_pairs(calls)


def parse_executed_json_arguments(item: Any) -> Pairs:
    """Parse the form of `parse_json_arguments` in a multi-turn case.

    There, the handlers also accept a bare object, or several functions in one object.
    """
    if item == "":
        return []
    return list_executable_calls([item] if isinstance(item, dict) else _require_list(item))


def parse_object_arguments(item: Any) -> Pairs:
    """Parse ``[{function: arguments as an object}]``."""
    return require_pairs(_require_list(item))


def parse_executed_object_arguments(item: Any) -> Pairs:
    """Parse the form of `parse_object_arguments` in a multi-turn case."""
    return list_executable_calls(_require_list(item))


def _require_list(item: Any) -> list[Any]:
    if not isinstance(item, list):
        raise NotCalls("this is not a list")
    return item


def parse_tool_names(item: Any) -> Pairs:
    """Parse ``[{"tool_name": …, "parameters": …}]``; anything but a list is no call."""
    if not isinstance(item, list):
        return []
    return require_pairs(read_named_calls(item, "tool_name", "parameters"))


def parse_names(item: Any) -> Pairs:
    """Parse ``[{"name": …, "arguments": …}]``."""
    return require_pairs(read_named_calls(item))


def parse_executed_names(item: Any) -> Pairs:
    """Parse the form of `parse_names` in a multi-turn case; items that are not objects are skipped.

    A missing part is empty.
    """
    if not isinstance(item, list | str):
        raise NotCalls("this is not a list")
    named = [one for one in item if isinstance(one, dict)]
    pairs = [(str(one.get("name", "")), one.get("arguments", {})) for one in named]
    if not all(isinstance(arguments, dict) for _, arguments in pairs):
        raise NotCalls("the arguments are not an object")
    return pairs
