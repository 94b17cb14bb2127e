"""Wrappings around a text, such as fences, that some of upstream's handlers remove."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from harness.leaderboards.bfcl.decoding.parsing import NotCalls, load_json

Unwrap: TypeAlias = Callable[[Any], Any]
"""Removes the wrapping of an output that is text; leaves any other output unchanged."""


def keep_unchanged(item: Any) -> Any:
    """Return ``item`` unchanged."""
    return item


def _unwrap_tool_code(item: Any) -> Any:
    return (
        item.replace("```tool_code\n", "").replace("\n```", "") if isinstance(item, str) else item
    )


def _remove_language_fence(item: Any) -> Any:
    return (
        item.strip().removeprefix("```json").removeprefix("```python")
        if isinstance(item, str)
        else item
    )


def _unwrap_fenced_list(item: Any) -> Any:
    """Return a JSON list without its fences.

    Prose gives an empty list, and JSON that is not a list gives no output.
    """
    if not isinstance(item, str):
        return item
    text = item.replace("```", "")
    try:
        return text if isinstance(load_json(text), list) else None
    except NotCalls:
        return "[]"


_BY_NAME: Mapping[re.Pattern[str], Unwrap] = {
    re.compile(r"gemini-"): _unwrap_tool_code,
    # Not inside of another word: "delphi-2" is no Phi.
    re.compile(r"(?<![a-z])phi-\d"): _remove_language_fence,
    re.compile(r"(?<![a-z])hammer\d"): _unwrap_fenced_list,
}
"""Part of a model's name → the function that removes its wrapping."""


def choose_unwrapper(model: str) -> Unwrap:
    """Return the function that the handler of ``model`` applies to a text before parsing."""
    return next(
        (unwrap for name, unwrap in _BY_NAME.items() if name.search(model.lower())), keep_unchanged
    )
