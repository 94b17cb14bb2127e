"""Shared by all parsers: the type of calls, the errors, and what models wrap around calls."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

Pairs: TypeAlias = list[tuple[str, Mapping[str, Any]]]
"""Calls: ``(function, arguments)``, in order."""


class NotCalls(ValueError):
    """An output cannot be parsed as calls; it is usually prose."""


class MisshapenOutput(ValueError):
    """An output was parsed, but its value is not a list of ``{function: arguments}``."""


def load_json(text: Any) -> Any:
    """Return the value of a JSON text.

    Raises:
        NotCalls: it is not a string, or not JSON.
    """
    if not isinstance(text, str):
        raise NotCalls("this is not a string")
    try:
        return json.loads(text)
    # JSON that is nested deeply ends in a RecursionError.
    except (ValueError, RecursionError) as problem:
        raise NotCalls(str(problem)) from None


def require_pairs(decoded: Any) -> Pairs:
    """Return the calls in ``decoded``, which should be ``[{function: arguments}, …]``.

    Raises:
        Misshapen: it has another form.
    """
    if not isinstance(decoded, list):
        raise MisshapenOutput("this is not a list")
    for one in decoded:
        if not isinstance(one, dict) or [type(given) for given in one.values()] != [dict]:
            raise MisshapenOutput("an item is not one function with its arguments")
    return [call for one in decoded for call in one.items()]


def read_named_calls(
    items: Any, name: str = "name", arguments: str = "arguments"
) -> list[dict[str, Any]]:
    """Return ``{function: arguments}`` for objects with the keys ``name`` and ``arguments``.

    Raises:
        NotCalls: an item is not such an object.
    """
    if not isinstance(items, Iterable):
        raise NotCalls("this is not a list")
    found = []
    for item in items:
        if not isinstance(item, dict) or name not in item or arguments not in item:
            raise NotCalls(f"an item has no {name} and {arguments}")
        if not isinstance(item[name], str):
            raise NotCalls("the name of a function is not a string")
        found.append({item[name]: item[arguments]})
    return found


def list_executable_calls(decoded: Iterable[Any]) -> Pairs:
    """Return the calls to execute: every function of every object.

    Arguments may be an object or JSON text.

    Raises:
        NotCalls: an item is not an object, or its arguments are not.
    """
    pairs: Pairs = []
    for one in decoded:
        if not isinstance(one, dict):
            raise NotCalls("an item is not an object")
        for name, given in one.items():
            arguments = load_json(given) if isinstance(given, str) else given
            if not isinstance(arguments, dict):
                raise NotCalls("the arguments are not an object")
            pairs.append((name, arguments))
    return pairs


Unwrap: TypeAlias = Callable[[Any], Any]
"""Removes the wrapping of an output that is text; leaves any other output unchanged."""


def keep_unchanged(item: Any) -> Any:
    """Return ``item`` unchanged."""
    return item


def _unwrap_fenced_list(item: str) -> str | None:
    """Return a JSON list without its fences.

    Prose gives an empty list, and JSON that is not a list gives no output.
    """
    text = item.replace("```", "")
    try:
        return text if isinstance(load_json(text), list) else None
    except NotCalls:
        return "[]"


_BY_NAME: Mapping[str, Callable[[str], str | None]] = {
    r"gemini-": lambda text: text.replace("```tool_code\n", "").replace("\n```", ""),
    # Not inside of another word: "delphi-2" is no Phi.
    r"(?<![a-z])phi-\d": lambda text: (
        text.strip().removeprefix("```json").removeprefix("```python")
    ),
    r"(?<![a-z])hammer\d": _unwrap_fenced_list,
}
"""Part of a model's name → the function that removes its wrapping."""


def choose_unwrapper(model: str) -> Unwrap:
    """Return the function that the handler of ``model`` applies to a text before parsing."""
    for name, unwrap in _BY_NAME.items():
        if re.search(name, model.lower()):
            return lambda item: unwrap(item) if isinstance(item, str) else item
    return keep_unchanged
