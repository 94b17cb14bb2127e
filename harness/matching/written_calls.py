"""Calls that a model wrote as text, because the endpoint did not parse them.

Each model family marks its calls in its own way; an endpoint is to turn them into real calls, and
one whose parser is off hands them on as text. A text counts as a call only if it names an offered
tool, and is no explanation: marks in code or in a sentence about calls are not counted, and a call
without marks (JSON, source code) only if it is the whole text, or if the model announces it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from harness.json_bounds import loads

_BAR = "[|｜]"
_DSML = rf"(?:{_BAR}DSML{_BAR})?"
_WORD = r"[\w./:-]+"
_CALL_WORD = r"(?:tool|function)s?[_▁ -]?(?:calls?|uses?)"
_MARKED = re.compile(
    # <tool_call>, <|tool_call|>, <|tool_call_start|>, <｜tool▁calls▁begin｜>, <minimax:tool_call>
    rf"<{_BAR}?/?(?:[\w.-]+:)?(?:start[_▁ ]of[_▁ ]|start[_▁ ])?{_CALL_WORD}"
    rf"(?:[_▁ ](?:section[_▁ ])?(?:begin|start))?{_BAR}?>"
    r"|\[TOOL_CALLS?\]|\[function_calls?\]|<TOOLCALL>|<tools?>(?=\s*[\[{])"
    r"|<\|(?:python_tag|START_ACTION|action_start|plugin|tool_use|assistant_tool_call)\|>"
    rf"|<{_DSML}(?:function|invoke|tool|call)[= ](?:name=)?[\"']?(?P<named>{_WORD})[\"']?>"
    rf"|\bto=functions\.(?P<channel>{_WORD})"
    rf"|^Action:[ ]*(?P<action>{_WORD})[ ]*\n+Action Input:",
    re.IGNORECASE | re.MULTILINE,
)
_SKIPPED = re.compile(
    rf"(?:\s|<{_BAR}[^<>]{{1,40}}{_BAR}>|</?[\w.:-]*{_CALL_WORD}>|<(?:tool_)?name>|<[|]?plugin[|]?>|functions?[.:]"
    rf"|call:|function(?=<{_BAR}tool))*",
    re.IGNORECASE,
)
"""Marks between the first one and the name."""
_NAMED = re.compile(
    rf"<{_DSML}(?:function|invoke)[= ](?:name=)?[\"']?({_WORD})[\"']?>", re.IGNORECASE
)
_SOURCE = re.compile(
    rf"\s*\[?\s*(?:print\()?\s*(?:(?:functions?|tools?|default_api|api)\.)?(?P<name>{_WORD})\s*"
    r"\((?P<arguments>.*)\)+\s*\]?\s*;?\s*",
    re.DOTALL,
)
_ARGUMENTS = re.compile(r"\s*(?:[A-Za-z_]\w*\s*[=:]|\{|\)*\s*\Z)")
_FENCE = re.compile(r"```[\w-]*[ \t]*\n(?P<inside>.*?)\n?```", re.DOTALL)
_EXPLAINS = re.compile(
    r"\b(?:example|for instance|e\.g\.|such as|like this|looks? like|you (?:can|could|would|should"
    r"|must|may|might|need)|your|would (?:be|look)|syntax|formats?|models?|writes?|written|wrote"
    r"|parsers?|documentation|tags?|marks?|means|is how|are how|how to|instead of|called with)\b",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"\b(?:i(?:'ll|’ll|'m|’m| will| am| need| have| should| must| can| want)|let me|let's|let’s"
    r"|calling|now (?:i|we)|first)\b",
    re.IGNORECASE,
)
_TOOL_KEYS = ("name", "tool", "tool_name", "function", "function_name", "recipient_name", "action")
_ARGUMENT_KEYS = frozenset(
    {"arguments", "parameters", "args", "input", "tool_input", "action_input", "params", "kwargs",
     "tool_arguments", "tool_parameters"}
)  # fmt: skip
_LONGEST = 200_000
"""Characters of a text that may be a call; a longer one is none."""
_WINDOW = 4_000
"""Characters after a mark in which the name of the tool is searched."""


def written_call(text: str, offered: Iterable[str]) -> str | None:
    """Return the offered tool that ``text`` writes a call of; ``None`` if it writes none."""
    if len(text) > _LONGEST:
        return None
    known = {_plain(name): name for name in offered if name in text or _plain(name) in text}
    if not known:
        return None
    for name in _called(text.strip()):
        if _plain(name) in known:
            return known[_plain(name)]
    return None


def _plain(name: str) -> str:
    """Return the name without what endpoints put before and after it, as APIs allow it."""
    bare = re.sub(r"^(?:functions?|tools?|default_api)[.:]|(?::\d+)$", "", name.strip())
    return re.sub(r"[^a-zA-Z0-9_-]", "_", bare)


def _called(text: str) -> Iterator[str]:
    """Yield the names of the tools that are called."""
    whole = _FENCE.fullmatch(text)
    inside = whole["inside"] if whole else text
    for found in _MARKED.finditer(inside):
        if not _is_in_code(inside, found.start()) and not _is_explained(inside, found):
            yield from _name_after(inside, found)
            break
    own = re.match(rf"<({_WORD})>.*</\1>", inside, re.DOTALL)  # the tool's own name as a tag
    if own is not None and own.end() == len(inside):
        yield own[1]
    yield from _bare(inside)
    if whole is None:
        yield from _announced(text)


def _announced(text: str) -> Iterator[str]:
    """Yield the calls without marks at the end of a text that announces them."""
    fence = next(_FENCE.finditer(text), None)
    start = fence.start() if fence else text.find("{")
    before = text[: max(0, start)]
    if not before or not _ANNOUNCES.search(before) or _EXPLAINS.search(before):
        return
    if fence is None:
        yield from _bare(text[start:])
    elif not text[fence.end() :].strip():
        yield from _bare(fence["inside"])


def _bare(text: str) -> Iterator[str]:
    """Yield the names in a text that is nothing but calls: JSON, or source code."""
    for part in (text, *text.split(";")[:1], *text.splitlines()[:1]):
        with suppress(ValueError, RecursionError):
            yield from _names_in(loads(part), marked=False)
            return
    source = _SOURCE.fullmatch(text)
    if source is not None and _ARGUMENTS.match(source["arguments"]):
        yield source["name"]


def _name_after(text: str, mark: re.Match[str]) -> Iterator[str]:
    """Yield the name of the tool after a mark of a call."""
    for group in ("named", "channel", "action"):
        if mark[group]:
            yield mark[group]
            return
    start = _end_of_skipped(text, mark.end())
    after = text[start : start + _WINDOW].removeprefix("```json").lstrip()
    if after[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):  # it may be cut, or source code in brackets
            yield from _names_in(json.JSONDecoder().raw_decode(after)[0], marked=True)
            return
        if (
            named := re.search(r"\"(?:name|tool|tool_name)\"\s*:\s*\"([^\"]+)\"", after)
        ) is not None:
            yield named[1]
            return
    if (named := _NAMED.match(after)) or (named := re.match(rf"\[?({_WORD})", after)):
        yield named[1].removesuffix(".call")


def _end_of_skipped(text: str, start: int) -> int:
    skipped = _SKIPPED.match(text, start)
    return skipped.end() if skipped else start


def _names_in(value: Any, *, marked: bool) -> Iterator[str]:
    """Yield the tools in JSON; without a mark, only those of objects with arguments, too."""
    if isinstance(value, list):
        for item in value:
            yield from _names_in(item, marked=marked)
    elif isinstance(value, Mapping):
        if isinstance(calls := value.get("tool_calls"), list):
            yield from _names_in(calls, marked=True)
        if isinstance(inner := value.get("function"), Mapping):
            yield from _names_in(inner, marked=True)
        if marked or _ARGUMENT_KEYS & value.keys():
            yield from (value[key] for key in _TOOL_KEYS if isinstance(value.get(key), str))


def _is_in_code(text: str, start: int) -> bool:
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return line.count("`") % 2 == 1 or text.count("```", 0, start) % 2 == 1


def _is_explained(text: str, mark: re.Match[str]) -> bool:
    """Whether the sentences around a mark are about calls, or go on in its line."""
    before = text[: mark.start()]
    end = max(text.rfind(letter) for letter in ">}])") + 1
    after = text[max(end, mark.end()) :] if end > mark.end() else ""
    goes_on = re.search(r"\w", after.partition("\n")[0]) is not None
    return goes_on or any(_EXPLAINS.search(part) for part in (before, after))
