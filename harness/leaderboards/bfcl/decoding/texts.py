"""Outputs that are texts with JSON in them: tagged, or nothing but JSON."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any

from harness.leaderboards.bfcl.decoding.reading import (
    NotCalls,
    Pairs,
    executable,
    loaded,
    named,
    shaped,
)

_TOOL_CALL = re.compile(r"<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)
LINES = re.compile(r"[\w.]+\n\{.*\}\s*", re.DOTALL)
"""How an output of two lines looks, a name and arguments."""
_TOOLCALL = re.compile(r"<TOOLCALL>(.*?)</TOOLCALL>", re.DOTALL)
PYTHON_TAG = "<|python_tag|>"


def tagged(item: Any) -> list[dict[str, Any]]:
    """Read a text with ``<tool_call>`` blocks, an object in each.

    A block that is no JSON is passed over.
    """
    found = []
    for block in _TOOL_CALL.findall(_text(item)):
        try:
            found.append(json.loads(block))
        except (ValueError, RecursionError):
            continue
    return named(found)


def tagged_list(item: Any) -> list[dict[str, Any]]:
    """Read a text with one ``<tool_call>`` block that holds a list, or a fenced one.

    What follows it is passed over.
    """
    _, tag, rest = _text(item).partition("<tool_call>")
    if not tag:
        raise NotCalls("there is no <tool_call>")
    inside = rest.partition("</tool_call>")[0].strip()
    if inside.startswith("```") and inside.endswith("```"):
        inside = inside.strip("`").strip().removeprefix("json").strip()
    return named(_listed(loaded(inside)))


def bare(item: Any) -> list[dict[str, Any]]:
    """Read JSON with ``name`` and ``arguments``: a list, or objects separated by ``;``."""
    text = _text(item)
    try:
        return named(_listed(loaded(text)))
    except NotCalls:
        return named([loaded(part.strip()) for part in text.split(";")])


def with_parameters(item: Any) -> list[dict[str, Any]]:
    """Read objects with ``name`` and ``parameters``, as Python, or as JSON separated by ``;``."""
    text = _text(item).replace(PYTHON_TAG, "")
    if ";" in text:
        return named([loaded(part) for part in text.split(";")], arguments="parameters")
    try:
        found = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as problem:
        raise NotCalls(str(problem)) from None
    return named(_listed(found), arguments="parameters")


def after_thought(item: Any) -> list[dict[str, Any]]:
    """Read a JSON list that stands after ``</think>``, with quotes of either kind.

    Without the tag nothing is there.
    """
    _, tag, rest = _text(item).strip().replace("'", '"').partition("</think>")
    return named(loaded(rest.strip())) if tag else []


def never_executed(_item: Any) -> Pairs:
    """Read nothing: upstream, these outputs are no calls in a conversation."""
    raise NotCalls("upstream does not execute calls of this form")


def parts(item: Any) -> list[Any]:
    """Read a text whose parts begin with ``<function_call>``.

    A part that is no JSON or no function is words.
    """
    found: list[Any] = []
    for part in filter(None, map(str.strip, _text(item).split("<function_call>"))):
        try:
            read = json.loads(part)
        except (ValueError, RecursionError):
            found.append(part)
            continue
        if not isinstance(read, dict):
            raise NotCalls("a part is no object")
        name = str(read.get("name", "")).strip()
        found.append("no function" if name == "no_function" else {name: read.get("arguments", {})})
    return found


def parts_executed(item: Any) -> Pairs:
    """Read the same for a conversation, where words are taken for a call that nobody knows."""
    return executable({part: {}} if isinstance(part, str) else part for part in parts(item))


def lines(item: Any) -> list[Any]:
    """Read the function's name on line one, its arguments on line two; one line is no call."""
    name, *rest = _text(item).split("\n")
    return [{name: loaded(rest[0])}] if rest else [name]


def lines_executed(item: Any) -> Pairs:
    """Read the same in a multi-turn case: an empty text is no call, one line cannot be read."""
    return executable(lines(item)) if item != "" else []


def inside_toolcall(item: Any) -> str | None:
    """Return what stands between ``<TOOLCALL>`` tags; ``None`` where there are none."""
    found = _TOOLCALL.search(_text(item))
    return found[1] if found else None


def shaping(read: Callable[[Any], list[Any]]) -> Callable[[Any], Pairs]:
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
