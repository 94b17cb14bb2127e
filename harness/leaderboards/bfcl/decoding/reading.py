"""What all readers share: the type of calls, the errors, and helpers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

Pairs: TypeAlias = list[tuple[str, Mapping[str, Any]]]
"""Calls: ``(function, arguments)``, in order."""


class NotCalls(ValueError):
    """An output cannot be read as calls: it is words, as a rule."""


class Misshapen(ValueError):
    """An output was read, and its value is no list of ``{function: arguments}``."""


def loaded(text: Any) -> Any:
    """Return the value of a JSON text.

    Raises:
        NotCalls: it is no text, or no JSON.
    """
    if not isinstance(text, str):
        raise NotCalls("this is no text")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise NotCalls(str(problem)) from None


def shaped(decoded: Any) -> Pairs:
    """Return the calls in ``decoded``, which should be ``[{function: arguments}, …]``.

    Raises:
        Misshapen: it is anything else.
    """
    if not isinstance(decoded, list):
        raise Misshapen("this is no list")
    for one in decoded:
        if (
            not isinstance(one, dict)
            or len(one) != 1
            or not isinstance(next(iter(one.values())), dict)
        ):
            raise Misshapen("an item is not one function with its arguments")
    return [next(iter(one.items())) for one in decoded]


def named(items: Any, name: str = "name", arguments: str = "arguments") -> list[dict[str, Any]]:
    """Return ``{function: arguments}`` for objects with the keys ``name`` and ``arguments``.

    Raises:
        NotCalls: something is no such object.
    """
    if not isinstance(items, Iterable):
        raise NotCalls("this is no list")
    found = []
    for one in items:
        if not isinstance(one, dict) or name not in one or arguments not in one:
            raise NotCalls(f"an item has no {name} and {arguments}")
        if not isinstance(one[name], str):
            raise NotCalls("the name of a function is no text")
        found.append({one[name]: one[arguments]})
    return found


def executable(decoded: Iterable[Any]) -> Pairs:
    """Return calls as they are executed: every function of every object.

    Arguments may be an object or JSON text.

    Raises:
        NotCalls: an item is no object, or arguments are none.
    """
    pairs: Pairs = []
    for one in decoded:
        if not isinstance(one, dict):
            raise NotCalls("an item is no object")
        for name, given in one.items():
            arguments = loaded(given) if isinstance(given, str) else given
            if not isinstance(arguments, dict):
                raise NotCalls("arguments are no object")
            pairs.append((name, arguments))
    return pairs
