"""Calls as the leaderboard writes them: ``cd(folder='document')``."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class NotACall(ValueError):
    """A text is not one call with literal arguments."""


@dataclass(frozen=True, slots=True)
class ApiCall:
    """One call of a tool."""

    name: str
    """The tool's name."""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """Arguments by name; a nested call is executed first."""
    positional: tuple[Any, ...] = ()
    """Arguments by position; some ground truth uses them."""


def parse_call(text: str) -> ApiCall:
    """Parse ``name(value, key=value)``, where every value is a literal or such a call.

    Nothing is evaluated.

    Raises:
        NotACall: ``text`` is anything else.
    """
    try:
        node = ast.parse(text.strip(), "<string>", "eval").body
        call = _literal_call(node) if isinstance(node, ast.Call) else None
    # Deeply nested text ends in a RecursionError or a MemoryError, and is no call either.
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as problem:
        raise NotACall(str(problem)) from None
    if call is None:
        raise NotACall(f"this is no call: {text}")
    return call


def _literal_call(node: ast.Call) -> ApiCall:
    arguments: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise ValueError("arguments cannot be unpacked")
        if keyword.arg in arguments:
            raise ValueError(f"keyword argument repeated: {keyword.arg}")
        arguments[keyword.arg] = _evaluate_literal(keyword.value)
    return ApiCall(
        ast.unparse(node.func), arguments, tuple(_evaluate_literal(value) for value in node.args)
    )


def _evaluate_literal(node: ast.expr) -> Any:
    return _literal_call(node) if isinstance(node, ast.Call) else ast.literal_eval(node)


_SPACE_BEFORE_PARENTHESIS = re.compile(r"\b([A-Za-z_]\w*)\s+(?=\()")


def remove_call_spaces(text: str) -> str:
    """Return ``text`` as the official checker executes it: no space between a word and ``(``.

    The checker finds function names by pattern, inside strings too: ``echo('draft (old)')`` writes
    ``draft(old)``. This applies to ground truth and model alike, and a verdict may depend on it.
    """
    return _SPACE_BEFORE_PARENTHESIS.sub(r"\1", text)


def reparse_call(name: str, arguments: Mapping[str, Any]) -> ApiCall:
    """Return a model's call as the official checker executes it: as text that is parsed again.

    Raises:
        NotACall: the call cannot be written, for example with an argument named ``a b``.
    """
    written = ",".join(f"{key}={value!r}" for key, value in arguments.items())
    return parse_call(remove_call_spaces(f"{name}({written})"))
