"""Outputs that are texts with JSON: in tags, or JSON alone."""

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
"""Pattern of an output of two lines: a name and its arguments."""
_TOOLCALL = re.compile(r"<TOOLCALL>(.*?)</TOOLCALL>", re.DOTALL)
PYTHON_TAG = "<|python_tag|>"


def tagged(item: Any) -> list[dict[str, Any]]:
    """Parse a text with ``<tool_call>`` blocks, each with one object.

    A block that is not JSON is skipped.
    """
    found = []
    for block in _TOOL_CALL.findall(_text(item)):
        try:
            found.append(json.loads(block))
        except (ValueError, RecursionError):
            continue
    return named(found)


def tagged_list(item: Any) -> list[dict[str, Any]]:
    """Parse a text with one ``<tool_call>`` block that contains a list, fenced or not.

    The text after it is ignored.
    """
    _, tag, rest = _text(item).partition("<tool_call>")
    if not tag:
        raise NotCalls("there is no <tool_call>")
    inside = rest.partition("</tool_call>")[0].strip()
    if inside.startswith("```") and inside.endswith("```"):
        inside = inside.strip("`").strip().removeprefix("json").strip()
    return named(_listed(loaded(inside)))


def bare(item: Any) -> list[dict[str, Any]]:
    """Parse JSON with ``name`` and ``arguments``: a list, or objects separated by ``;``."""
    text = _text(item)
    try:
        return named(_listed(loaded(text)))
    except NotCalls:
        return named([loaded(part.strip()) for part in text.split(";")])


def with_parameters(item: Any) -> list[dict[str, Any]]:
    """Parse objects with ``name`` and ``parameters``, as Python, or as JSON separated by ``;``."""
    text = _text(item).replace(PYTHON_TAG, "")
    if ";" in text:
        return named([loaded(part) for part in text.split(";")], arguments="parameters")
    try:
        found = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as problem:
        raise NotCalls(str(problem)) from None
    return named(_listed(found), arguments="parameters")


def after_thought(item: Any) -> list[dict[str, Any]]:
    """Parse a JSON list after ``</think>``, with quotes of either kind.

    Without the tag the result is empty.
    """
    _, tag, rest = _text(item).strip().replace("'", '"').partition("</think>")
    return named(loaded(rest.strip())) if tag else []


def never_executed(_item: Any) -> Pairs:
    """Return no calls: upstream, these outputs are never executed."""
    raise NotCalls("upstream does not execute calls of this form")


def parts(item: Any) -> list[Any]:
    """Parse a text whose parts begin with ``<function_call>``.

    A part that is not JSON or not a function counts as prose.
    """
    found: list[Any] = []
    for part in filter(None, map(str.strip, _text(item).split("<function_call>"))):
        try:
            read = json.loads(part)
        except (ValueError, RecursionError):
            found.append(part)
            continue
        if not isinstance(read, dict):
            raise NotCalls("a part is not an object")
        name = str(read.get("name", "")).strip()
        found.append("no function" if name == "no_function" else {name: read.get("arguments", {})})
    return found


def parts_executed(item: Any) -> Pairs:
    """Parse the form of `parts` in a conversation, where prose counts as an unknown call."""
    return executable({part: {}} if isinstance(part, str) else part for part in parts(item))


def lines(item: Any) -> list[Any]:
    """Parse the function's name on line one and its arguments on line two; one line is no call."""
    name, *rest = _text(item).split("\n")
    return [{name: loaded(rest[0])}] if rest else [name]


def lines_executed(item: Any) -> Pairs:
    """Parse the form of `lines` in a conversation: an empty text is no call, one line an error."""
    return executable(lines(item)) if item != "" else []


def inside_toolcall(item: Any) -> str | None:
    """Return the text between ``<TOOLCALL>`` tags; ``None`` if there are none."""
    found = _TOOLCALL.search(_text(item))
    return found[1] if found else None


def shaping(read: Callable[[Any], list[Any]]) -> Callable[[Any], Pairs]:
    """Return a parser of calls that are compared."""
    return lambda item: shaped(read(item))


def executing(read: Callable[[Any], list[dict[str, Any]]]) -> Callable[[Any], Pairs]:
    """Return a parser of calls that are executed."""
    return lambda item: executable(read(item))


def _text(item: Any) -> str:
    if not isinstance(item, str):
        raise NotCalls("this is not a string")
    return item


def _listed(found: Any) -> Any:
    return [found] if isinstance(found, dict) else found
