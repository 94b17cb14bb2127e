"""Differences between two runs, in words, from the headers and tool lists of their logs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from harness.runlog import Header
from harness.types import JsonObject, Tool, ToolList


def find_differences(old: Header, new: Header) -> Iterator[str]:
    """Yield, in words, each difference between the requests of two runs."""
    yield from suite_differences(old.suites, new.suites)
    yield from _compare("model", old.models, new.models, _compare_fields)
    for axis in dict.fromkeys([*old.axes, *new.axes]):
        yield from _compare_values(axis, old.axes.get(axis, {}), new.axes.get(axis, {}))
    yield from _compare("server", old.servers, new.servers, _compare_fields)
    was, now = (one.settings.get("user_models") or {} for one in (old, new))
    yield from _compare("user model", was, now, _compare_fields)
    was, now = (one.settings.get("judge_models") or {} for one in (old, new))
    # One that is asked in a single run alone shows in the checks and in who judges by default.
    was, now = ({name: one[name] for name in was.keys() & now.keys()} for one in (was, now))
    yield from _compare("judge", was, now, _compare_fields)
    for setting in ("trials", "least_trials", "shard", "judge"):
        before, after = old.settings.get(setting), new.settings.get(setting)
        if before != after:
            before, after = ("unset" if one is None else one for one in (before, after))
            yield f"{setting} was {before}, is {after}"


def suite_differences(
    old: Mapping[str, JsonObject], new: Mapping[str, JsonObject]
) -> Iterator[str]:
    """Yield, in words, each difference between suites as headers describe them."""
    return _compare("suite", old, new, _compare_suites)


def _compare_suites(suite: str, before: JsonObject, after: JsonObject) -> Iterator[str]:
    was, now = (one.get("cases", {}) for one in (before, after))
    yield from _compare(f"{suite}: case", was, now, lambda case, *_: [f"{case} has changed"])
    if before.get("system_prompt") != after.get("system_prompt"):
        yield f"{suite}: system_prompt has changed"


def tool_differences(old: Mapping[str, ToolList], new: Mapping[str, ToolList]) -> Iterator[str]:
    """Yield in words each difference between the tools that users of two runs were shown."""
    # By digest: equal lists are not compared tool by tool.
    if set(old) != set(new):
        yield from _compare("tool", tool_forms(old), tool_forms(new), _compare_tools)


def _compare_tools(tool: str, before: list[Tool], after: list[Tool]) -> Iterator[str]:
    # A tool may have been shown in more forms than before.
    pairs = zip(before, after, strict=False)
    parts = {part for pair in pairs for part in changed_parts(*pair)}
    yield f"{tool}: {', '.join(sorted(parts)) or 'who is shown it'} changed"


def tool_forms(lists: Mapping[str, ToolList]) -> dict[str, list[Tool]]:
    """Return every form in which each tool was shown, in the order of their first appearance."""
    forms: dict[str, list[Tool]] = {}
    for tools in lists.values():
        for tool in tools.tools:
            known = forms.setdefault(tool.name, [])
            if tool not in known:
                known.append(tool)
    return forms


def changed_parts(old: Tool, new: Tool) -> Iterator[str]:
    """Yield in words each part of a tool that is not the same in both."""
    for part, words in _TOOL_PARTS.items():
        if getattr(old, part) != getattr(new, part):
            yield words


_TOOL_PARTS = {
    "description": "description",
    "title": "title",
    "input_schema": "input schema",
    "output_schema": "output schema",
    "read_only": "annotations",
    "destructive": "annotations",
}


def _compare(
    what: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    changed: Callable[[str, Any, Any], Iterable[str]],
) -> Iterator[str]:
    """Yield what is new or gone, and of all else that differs what ``changed`` says of it."""
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        if before is None or after is None:
            yield f"{what} {name} {'is new' if before is None else 'is gone'}"
        elif before != after:
            yield from changed(f"{what} {name}", before, after)


def _compare_fields(what: str, before: JsonObject, after: JsonObject) -> Iterator[str]:
    # An agent and a model have few settings in common: those of one alone say nothing.
    apart = before.get("provider") != after.get("provider")
    for field in dict.fromkeys([*before, *after]):
        was, now = before.get(field), after.get(field)
        if was != now and not (apart and None in (was, now)):
            yield f"{what}: {field} was {was!r}, is {now!r}"


def _compare_values(axis: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        if before is None or after is None:
            words = value_words(name, before or after or {})
            yield f"{axis} {words} {'is new' if before is None else 'is gone'}"
        elif before.get("digest") != after.get("digest"):
            yield f"{axis} was {value_words(name, before)}, is {value_words(name, after)}"


def value_words(name: str | None, described: Mapping[str, Any]) -> str:
    """Return a value of an axis in a few words, from what a header says of it."""
    if name is None:
        return "none"
    return f"{name} ({described.get('words')}; digest {described.get('digest')})"
