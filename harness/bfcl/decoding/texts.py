"""Outputs that are texts with JSON in them: tagged, or nothing but JSON."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any

from harness.bfcl.decoding.reading import NotCalls, Pairs, executable, loaded, named, shaped

_TOOL_CALL = re.compile(r"<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)
_TOOLCALL = re.compile(r"<TOOLCALL>(.*?)</TOOLCALL>", re.DOTALL)
PYTHON_TAG = "<|python_tag|>"


def tagged(item: Any) -> list[dict[str, Any]]:
    """Read a text with ``<tool_call>`` blocks, an object in each; a block that is no JSON is passed over."""
    found = []
    for block in _TOOL_CALL.findall(_text(item)):
        try:
            found.append(json.loads(block))
        except (ValueError, RecursionError):
            continue
    return named(found)


def tagged_list(item: Any) -> list[dict[str, Any]]:
    """Read a text with one ``<tool_call>`` block that holds a list, or a fenced one; what follows it is passed over."""
    _, tag, rest = _text(item).partition("<tool_call>")
    if not tag:
        raise NotCalls("there is no <tool_call>")
    inside = rest.partition("</tool_call>")[0].strip()
    if inside.startswith("```") and inside.endswith("```"):
        inside = inside.strip("`").strip().removeprefix("json").strip()
    return named(_listed(loaded(inside)))


def bare(item: Any) -> list[dict[str, Any]]:
    """Read a text that is JSON with ``name`` and ``arguments``: a list, one object, or several with ``;`` between."""
    text = _text(item)
    try:
        return named(_listed(loaded(text)))
    except NotCalls:
        return named([loaded(part.strip()) for part in text.split(";")])


def with_parameters(item: Any) -> list[dict[str, Any]]:
    """Read objects with ``name`` and ``parameters``, written as Python or, with ``;`` between them, as JSON."""
    text = _text(item).replace(PYTHON_TAG, "")
    if ";" in text:
        return named([loaded(part) for part in text.split(";")], arguments="parameters")
    try:
        found = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as problem:
        raise NotCalls(str(problem)) from None
    return named(_listed(found), arguments="parameters")


def inside_toolcall(item: Any) -> str | None:
    """Return what stands between ``<TOOLCALL>`` tags; ``None`` where there are none."""
    found = _TOOLCALL.search(_text(item))
    return found[1] if found else None


def shaping(read: Callable[[Any], list[dict[str, Any]]]) -> Callable[[Any], Pairs]:
    """Return a reader of calls that are compared."""
    return lambda item: shaped(read(item))


def executing(read: Callable[[Any], list[dict[str, Any]]]) -> Callable[[Any], Pairs]:
    """Return a reader of calls that are executed."""
    return lambda item: executable(read(item))


def _text(item: Any) -> str:
    if not isinstance(item, str):
        raise NotCalls("this is no text")
    return item


def _listed(found: Any) -> Any:
    return [found] if isinstance(found, dict) else found
