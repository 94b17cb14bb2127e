"""Outputs with JSON: texts, in tags or JSON alone, and lists of objects as APIs return calls."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from typing import Any

from harness.leaderboards.bfcl.decoding.parsing import (
    NotCalls,
    Pairs,
    list_executable_calls,
    load_json,
    read_named_calls,
    require_pairs,
)

_TOOL_CALL = re.compile(r"<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)
LINES = re.compile(r"[\w.]+\n\{.*\}\s*", re.DOTALL)
"""Pattern of an output of two lines: a name and its arguments."""
_TOOLCALL = re.compile(r"<TOOLCALL>(.*?)</TOOLCALL>", re.DOTALL)
# Llama 3.1 may write it before a call.
PYTHON_TAG = "<|python_tag|>"


def parse_tagged(item: Any) -> list[dict[str, Any]]:
    """Parse a text with ``<tool_call>`` blocks, each with one object.

    A block that is not JSON is skipped.
    """
    found = []
    for block in _TOOL_CALL.findall(_require_text(item)):
        try:
            found.append(json.loads(block))
        except (ValueError, RecursionError):
            continue
    return read_named_calls(found)


def parse_tagged_list(item: Any) -> list[dict[str, Any]]:
    """Parse a text with one ``<tool_call>`` block that contains a list, fenced or not.

    The text after it is ignored.
    """
    _, tag, rest = _require_text(item).partition("<tool_call>")
    if not tag:
        raise NotCalls("there is no <tool_call>")
    inside = rest.partition("</tool_call>")[0].strip()
    if inside.startswith("```") and inside.endswith("```"):
        inside = inside.strip("`").strip().removeprefix("json").strip()
    return read_named_calls(_wrap_in_list(load_json(inside)))


def parse_bare_json(item: Any) -> list[dict[str, Any]]:
    """Parse JSON with ``name`` and ``arguments``: a list, or objects separated by ``;``."""
    text = _require_text(item)
    try:
        return read_named_calls(_wrap_in_list(load_json(text)))
    except NotCalls:
        return read_named_calls([load_json(part.strip()) for part in text.split(";")])


def parse_with_parameters(item: Any) -> list[dict[str, Any]]:
    """Parse objects with ``name`` and ``parameters``, as Python, or as JSON separated by ``;``."""
    text = _require_text(item).replace(PYTHON_TAG, "")
    try:
        # Those of `load_json` are a `NotCalls`, which is a ValueError, too.
        found = list(map(load_json, text.split(";"))) if ";" in text else ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as problem:
        raise NotCalls(str(problem)) from None
    return read_named_calls(_wrap_in_list(found), arguments="parameters")


def parse_after_thought(item: Any) -> list[dict[str, Any]]:
    """Parse a JSON list after ``</think>``, with quotes of either kind.

    Without the tag the result is empty.
    """
    _, tag, rest = _require_text(item).strip().replace("'", '"').partition("</think>")
    return read_named_calls(load_json(rest.strip())) if tag else []


def refuse_execution(_item: Any) -> Pairs:
    """Return no calls: upstream, these outputs are never executed."""
    raise NotCalls("upstream does not execute calls of this form")


def parse_parts(item: Any) -> list[Any]:
    """Parse a text whose parts begin with ``<function_call>``.

    A part that is not JSON or not a function counts as prose.
    """
    found: list[Any] = []
    for part in filter(None, map(str.strip, _require_text(item).split("<function_call>"))):
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


def parse_executed_parts(item: Any) -> Pairs:
    """Parse the form of `parse_parts` in a conversation, where prose counts as an unknown call."""
    return list_executable_calls(
        {part: {}} if isinstance(part, str) else part for part in parse_parts(item)
    )


def parse_two_lines(item: Any) -> list[Any]:
    """Parse the function's name on line one and its arguments on line two; one line is no call."""
    name, *rest = _require_text(item).split("\n")
    return [{name: load_json(rest[0])}] if rest else [name]


def parse_executed_two_lines(item: Any) -> Pairs:
    """Parse the form of `parse_two_lines` in a conversation: empty: no call; one line: an error."""
    return list_executable_calls(parse_two_lines(item)) if item != "" else []


def find_toolcall_text(item: Any) -> str | None:
    """Return the text between ``<TOOLCALL>`` tags; ``None`` if there are none."""
    found = _TOOLCALL.search(_require_text(item))
    return found[1] if found else None


def make_compared_parser(read: Callable[[Any], list[Any]]) -> Callable[[Any], Pairs]:
    """Return a parser of calls that are compared."""
    return lambda item: require_pairs(read(item))


def make_executed_parser(read: Callable[[Any], list[dict[str, Any]]]) -> Callable[[Any], Pairs]:
    """Return a parser of calls that are executed."""
    return lambda item: list_executable_calls(read(item))


def _require_text(item: Any) -> str:
    if not isinstance(item, str):
        raise NotCalls("this is not a string")
    return item


def _wrap_in_list(found: Any) -> Any:
    return [found] if isinstance(found, dict) else found


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
