"""Calls that a model wrote as text, because the endpoint did not parse them.

Each model family marks its calls in its own way; an endpoint is to turn them into real calls, and
one whose parser is off hands them on as text. A text counts as a call only if it names an offered
tool, and is no explanation: marks in code or in a sentence about calls are not counted, and a call
without marks (JSON, source code) only if it is the whole text, or if the model announces it.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from harness.base import compile_late, load_json

_BAR = "[|｜]"
_SPACE = rf"(?:{_BAR}DSML{_BAR}|[\w.-]+:)?"
"""What may stand before the name of a tag."""
_WORD = r"[\w./:-]+"
_CALL_WORD = r"(?:(?:longcat|use|mcp)[_ ])?(?:tool|function)s?(?:[_▁ -]?(?:calls?|uses?))?"
_CALLING = r"(?:longcat_)?(?:tool|function)s?[_▁ -]?(?:calls?|uses?)"
_MARKED = compile_late(
    # <tool_call>, <|tool_call|>, <|tool_call_start|>, <｜tool▁calls▁begin｜>, <minimax:tool_call>
    rf"<{_BAR}?/?(?:[\w.-]+:)?(?:(?:start|begin)[_▁ ](?:of[_▁ ])?)?{_CALLING}"
    rf"(?:[_▁ ]?(?:section[_▁ ])?(?:begin|start))?{_BAR}?>"
    r"|\[TOOL_CALLS?\]|\[function_calls?\]|\[begin of tool call\]|<TOOLCALL>|<tools?>(?=\s*[\[{])"
    r"|<(?:use_tool|use_mcp_tool|function)>(?=\s*[\w<{])|✿FUNCTION✿:|\bfunctools(?=\[)"
    r"|<\|(?:python_tag|python_start|START_ACTION|action_start|plugin|tool_use|tool_list"
    r"|assistant_tool_call|recipient)\|>|<\|im_start\|>tool_call\b|^Action:\s*```\w*(?=\s*[\[{])"
    rf"|\bfunction<{_BAR}tool[_▁]sep{_BAR}>"
    rf"|<{_SPACE}(?:function|invoke|tool|call|function_call)[= ](?:name=)?"
    rf"[\"']?(?P<named>{_WORD})[\"']?(?:>|(?=\{{))"
    rf"|\bto=functions\.(?P<channel>{_WORD})|\bcommentary to=(?P<commentary>{_WORD})"
    rf"|^\W{{0,4}}(?:tool|function)[_ ]call:\W{{0,4}}(?P<said>{_WORD})"
    rf"|^Action:[ ]*(?P<action>{_WORD})[ ]*\n+Action Input:",
    re.IGNORECASE | re.MULTILINE,
)
_SKIPPED = compile_late(
    rf"(?:\s|<{_BAR}[^<>]{{1,40}}{_BAR}>|</?[\w.:-]*{_CALL_WORD}>|<server_name>[^<]{{0,80}}</server_name>"
    rf"|<(?:tool_)?name>|<[|]?plugin[|]?>|functions?[.:]|functools|call:|function(?=<{_BAR}tool))*",
    re.IGNORECASE,
)
"""Marks between the first one and the name."""
_NAMED = compile_late(
    rf"<{_SPACE}(?:function|invoke)[= ](?:name=)?[\"']?({_WORD})[\"']?>", re.IGNORECASE
)
_TOKEN = rf"(?:</?s>|</tool_call>|<{_BAR}[^<>|｜]{{1,40}}{_BAR}>)"
"""A token of a model's template that may stand around a call."""
_TOKENS_BEFORE = compile_late(rf"(?:\s|{_TOKEN})*")
_TOKEN_BEHIND = compile_late(rf"{_TOKEN}\Z")
_SOURCE = compile_late(
    r"\s*(?:\w+\s*=\s*)?\[?\s*(?:await\s+)?(?:print\()?\s*"
    rf"(?:(?:functions?|tools?|default_api|api)\.)?(?P<name>{_WORD})\s*"
    r"\((?P<arguments>.*)\)+\s*\]?\s*;?\s*",
    re.DOTALL,
)
_ARGUMENTS = compile_late(r"\s*(?:[A-Za-z_]\w*\s*[=:]|\{|\)*\s*\Z)")
_BESIDE = compile_late(
    rf"(?:>>>|/|call:)?(?:functions?\.)?(?P<name>{_WORD}?)(?::\d+)?"
    r"(?:\s*(?:\[ARGS\]|<arg_key>)|\s*\{.*\}\s*\Z)",
    re.DOTALL,
)
"""A name and its arguments."""
_CUT = compile_late(
    r"\[?\s*\{\s*(?:[\"']type[\"']\s*:\s*[\"']function[\"']\s*,\s*)?[\"'](?:name|tool)[\"']\s*:\s*"
    r"[\"'](?P<name>[^\"']+)[\"']\s*,\s*[\"'](?:arguments|parameters|args)[\"']\s*:"
)
"""A call that is no whole JSON: cut, or without its last bracket."""
_NAME_FIELD = compile_late(r"[\"'](?:name|tool|tool_name)[\"']\s*:\s*[\"']([^\"']+)[\"']")
_FENCE = compile_late(r"```[\w-]*[ \t]*\n(?P<inside>.*?)\n?```", re.DOTALL)
_EXPLAINS = compile_late(
    r"\b(?:examples?|for instance|e\.g\.|such as|like this|looks? like|would (?:be|look)|syntax"
    r"|you (?:can|could|would|should|must|may|might|need|send|write|call|use|asked)|in your"
    r"|(?:request|response) body|describe|explain|formats?|models?|writes?|written|wrote|save"
    r"|parsers?|documentation|tags?|marks?|means|is how|are how|how to|instead of|called with)\b",
    re.IGNORECASE,
)
_GOES_ON = compile_late(
    r"\s*(?:is|are|means|which|that|would)\b|.*\b(?:syntax|format)\b", re.DOTALL
)
"""How a text speaks of a call that stands before."""
_ANNOUNCES = compile_late(
    r"\b(?:i(?:'ll|’ll|'m|’m| will| am| need| have| should| must| can| want)|let me|let's|let’s"
    r"|calling|now (?:i|we))\b",
    re.IGNORECASE,
)
_TOOL_KEYS = (
    "name", "tool", "tool_name", "function", "function_name", "recipient_name", "action", "command"
)  # fmt: skip
_CALL_KEYS = ("tool_calls", "toolCalls", "tool_call", "function_call", "tool_uses")
_ARGUMENT_KEYS = frozenset(
    {"arguments", "parameters", "args", "input", "tool_input", "action_input", "params", "kwargs",
     "tool_arguments", "tool_parameters"}
)  # fmt: skip
_LONGEST = 200_000
"""Characters of a text that may be a call; a longer one is none."""
_MOST_MARKS = 50
"""Marks of calls that are looked at."""
_WINDOW = 4_000
"""Characters after a mark in which the name of the tool is searched."""


def written_call(text: str, offered: Iterable[str]) -> str | None:
    """Return the offered tool that ``text`` writes a call of; ``None`` if it writes none."""
    if len(text) > _LONGEST:
        return None
    # Some gateways escape the marks as HTML.
    text = html.unescape(text) if "&lt;" in text else text
    # Only names that occur at all: nearly every answer ends here, before any pattern is tried.
    known = {
        _strip_name(name): name for name in offered if name in text or _strip_name(name) in text
    }
    if not known:
        return None
    called = map(_strip_name, _iterate_called(text.strip()))
    return next((known[name] for name in called if name in known), None)


def _strip_name(name: str) -> str:
    """Return the name without what endpoints put before and after it, as APIs allow it."""
    bare = re.sub(r"^(?:functions?|tools?|default_api)[.:]|(?::\d+)$", "", name.strip())
    return re.sub(r"[^a-zA-Z0-9_-]", "_", bare)


def _iterate_called(text: str) -> Iterator[str]:
    """Yield the names of the tools that are called."""
    whole = _FENCE.fullmatch(text)
    inside = whole["inside"] if whole else text
    # Bounded: each mark is compared with all the text before it.
    for found in islice(_MARKED.finditer(inside), _MOST_MARKS):
        if not _is_in_code(inside, found.start()) and not _is_explained(inside, found):
            yield from _name_after(inside, found)
            break
    yield from _iterate_bare(_without_tokens(inside))
    if whole is None:
        yield from _iterate_announced(text)


def _iterate_announced(text: str) -> Iterator[str]:
    """Yield the calls without marks at the end of a text that announces them."""
    fence = next(_FENCE.finditer(text), None)
    # Where a call without marks may begin: at its JSON, its last paragraph, or a tag of its own.
    ends = (text.find("{"), text.rfind("\n\n"), text.find("\n<"))
    for start in (fence.start(),) if fence else filter(None, ends):
        before = text[: max(0, start)]
        if not _ANNOUNCES.search(before) or _EXPLAINS.search(before):
            continue
        if fence is None:
            yield from _iterate_bare(_without_tokens(text[start:]))
        # Words behind a block of code speak of it: it was shown and not meant as a call.
        elif not text[fence.end() :].strip():
            yield from _iterate_bare(fence["inside"])


def _iterate_bare(text: str) -> Iterator[str]:
    """Yield the names in a text that is nothing but calls: JSON, source code, a tool's own tag."""
    # Several calls may follow each other by a semicolon or a line: the first one is enough.
    for part in (text, *text.split(";")[:1], *text.splitlines()[:1]):
        with suppress(ValueError, RecursionError):
            yield from _iterate_names(load_json(part), marked=False)
            return
    own = re.match(rf"<({_WORD})(?:>.*</\1>|(?:\s[^<>]*)?/>)", text, re.DOTALL)
    if own is not None and own.end() == len(text):
        yield own[1]
    source = _SOURCE.fullmatch(text)
    if source is not None and _ARGUMENTS.match(source["arguments"]):
        yield source["name"]
    for form in (_BESIDE, _CUT):
        if (found := form.match(text)) is not None:
            yield found["name"]


def _without_tokens(text: str) -> str:
    """Return the text without tokens of a template around it."""
    start = _find_end(_TOKENS_BEFORE, text, 0)
    text = text[start:].rstrip()
    end = len(text)
    # In a window: searching all of the text for each token would take quadratic time.
    while (token := _TOKEN_BEHIND.search(text[max(0, end - 60) : end])) is not None:
        end -= len(token[0])
        while end and text[end - 1].isspace():
            end -= 1
    return text[:end]


def _name_after(text: str, mark: re.Match[str]) -> Iterator[str]:
    """Yield the name of the tool after a mark of a call."""
    for group in ("named", "channel", "commentary", "said", "action"):
        if mark[group]:
            yield mark[group]
            return
    start = _find_end(_SKIPPED, text, mark.end())
    after = text[start : start + _WINDOW].removeprefix("```json").lstrip()
    if after[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):  # it may be cut, or source code in brackets
            yield from _iterate_names(json.JSONDecoder().raw_decode(after)[0], marked=True)
            return
        if (named := _NAME_FIELD.search(after)) is not None:
            yield named[1]
            return
    if (named := _NAMED.match(after)) or (named := re.match(rf"\[?({_WORD})", after)):
        # Llama writes a call as name.call(…).
        yield named[1].removesuffix(".call")


def _find_end(form: re.Pattern[str], text: str, start: int) -> int:
    found = form.match(text, start)
    return found.end() if found else start


def _iterate_names(value: Any, *, marked: bool) -> Iterator[str]:
    """Yield the tools in JSON; without a mark, only those of objects with arguments, too."""
    if isinstance(value, list):
        for item in value:
            yield from _iterate_names(item, marked=marked)
    elif isinstance(value, Mapping) and not _is_definition(value):
        for key in _CALL_KEYS:
            yield from _iterate_names(value.get(key), marked=True)
        if isinstance(inner := value.get("function"), Mapping):
            yield from _iterate_names(inner, marked=True)
        # {"name": "Ann"} alone is data; beside arguments it is a call.
        if marked or _ARGUMENT_KEYS & value.keys():
            yield from (value[key] for key in _TOOL_KEYS if isinstance(value.get(key), str))


def _is_definition(value: Mapping[str, Any]) -> bool:
    """Whether it describes a tool, and calls none."""
    schema = value.get("parameters")
    return "description" in value or (isinstance(schema, Mapping) and "properties" in schema)


def _is_in_code(text: str, start: int) -> bool:
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return line.count("`") % 2 == 1 or text.count("```", 0, start) % 2 == 1


def _is_explained(text: str, mark: re.Match[str]) -> bool:
    """Whether the sentences around a mark are about calls, or go on in its line."""
    before = text[: mark.start()]
    # What follows the call, as far as that can be told: the last bracket closes it.
    end = max(text.rfind(letter) for letter in ">}])") + 1
    is_told = end > mark.end() or mark["named"] or mark["said"]
    after = text[max(end, mark.end()) :] if is_told else ""
    goes_on = re.search(r"\w", after.partition("\n")[0]) is not None
    token = re.match(r"<[|｜]", mark[0])  # which nobody writes in a sentence
    explains = _EXPLAINS.search(before) or _GOES_ON.match(after)
    return explains is not None or (goes_on and token is None)
