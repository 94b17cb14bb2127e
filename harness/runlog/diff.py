"""Differences between two runs, in words, from the headers and tool lists of their logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.runlog import Header
from harness.types import JsonObject, Tool, ToolList


def find_differences(old: Header, new: Header) -> Iterator[str]:
    """Yield, in words, each difference between the requests of two runs."""
    yield from suite_differences(old.suites, new.suites)
    yield from _changed_fields("model", old.models, new.models)
    for axis in dict.fromkeys([*old.axes, *new.axes]):
        yield from _changed_values(axis, old.axes.get(axis, {}), new.axes.get(axis, {}))
    yield from _changed_fields("server", old.servers, new.servers)
    yield from _changed_fields("user model", *_get_settings(old, new, "user_models"))
    was, now = _get_settings(old, new, "judge_models")
    # One that is asked in a single run alone shows in the checks and in who judges by default.
    yield from _changed_fields(
        "judge",
        *({name: judges[name] for name in was.keys() & now.keys()} for judges in (was, now)),
    )
    for setting in ("trials", "least_trials", "shard", "judge"):
        before, after = old.settings.get(setting), new.settings.get(setting)
        if before != after:
            yield f"{setting} was {_format_setting(before)}, is {_format_setting(after)}"


def suite_differences(
    old: Mapping[str, JsonObject], new: Mapping[str, JsonObject]
) -> Iterator[str]:
    """Yield, in words, each difference between suites as headers describe them."""
    for name, before, after in _iterate_pairs(old, new):
        if before is None or after is None:
            yield f"suite {name} {_came_or_went(before)}"
            continue
        for case, known, asked in _iterate_pairs(before.get("cases", {}), after.get("cases", {})):
            if known is None or asked is None:
                yield f"suite {name}: case {case} {_came_or_went(known)}"
            elif known != asked:
                yield f"suite {name}: case {case} has changed"
        if before.get("system_prompt") != after.get("system_prompt"):
            yield f"suite {name}: system_prompt has changed"


def tool_differences(old: Mapping[str, ToolList], new: Mapping[str, ToolList]) -> Iterator[str]:
    """Yield in words each difference between the tools that users of two runs were shown."""
    # By digest: equal lists are not compared tool by tool.
    if set(old) == set(new):
        return
    for name, before, after in _iterate_pairs(tool_forms(old), tool_forms(new)):
        if before is None or after is None:
            yield f"tool {name} {_came_or_went(before)}"
        elif before != after:
            parts = {
                part
                # A tool may have been shown in more forms than before.
                for one, other in zip(before, after, strict=False)
                for part in changed_parts(one, other)
            }
            yield f"tool {name}: {', '.join(sorted(parts)) or 'who is shown it'} changed"


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


def _changed_fields(what: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name, before, after in _iterate_pairs(old, new):
        if before is None or after is None:
            yield f"{what} {name} {_came_or_went(before)}"
            continue
        # An agent and a model have few settings in common: those of one alone say nothing.
        apart = before.get("provider") != after.get("provider")
        for field, was, now in _iterate_pairs(before, after):
            if was != now and not (apart and None in (was, now)):
                yield f"{what} {name}: {field} was {was!r}, is {now!r}"


def _changed_values(axis: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name, before, after in _iterate_pairs(old, new):
        if before is None or after is None:
            yield f"{axis} {value_words(name, before or after)} {_came_or_went(before)}"
        elif before.get("digest") != after.get("digest"):
            yield f"{axis} was {value_words(name, before)}, is {value_words(name, after)}"


def value_words(name: str | None, described: Mapping[str, Any]) -> str:
    """Return a value of an axis in a few words, from what a header says of it."""
    if name is None:
        return "none"
    return f"{name} ({described.get('words')}; digest {described.get('digest')})"


def _get_settings(old: Header, new: Header, name: str) -> tuple[JsonObject, JsonObject]:
    return old.settings.get(name) or {}, new.settings.get(name) or {}


def _iterate_pairs(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    for name in dict.fromkeys([*old, *new]):
        yield name, old.get(name), new.get(name)


def _format_setting(value: Any) -> Any:
    return "unset" if value is None else value


def _came_or_went(before: Any) -> str:
    return "is new" if before is None else "is gone"
