"""The forms in which models write calls, and detection of the form of a recording.

Upstream has a handler for each model, which knows its form. Here the form is detected from the
outputs: the form of most outputs is that of the recording, and every output is parsed like
upstream's handler of that form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from harness.leaderboards.bfcl.catalog import Language
from harness.leaderboards.bfcl.decoding import (
    java_text,
    javascript_text,
    json_text,
    python_text,
)
from harness.leaderboards.bfcl.decoding.parsing import (
    MisshapenOutput,
    NotCalls,
    Pairs,
    choose_unwrapper,
    keep_unchanged,
    load_json,
)
from harness.types import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputForm:
    """One form of outputs."""

    title: str
    """Its name, for people."""
    compared: Callable[[Any, Language], Pairs]
    """Parses an output whose calls are compared with expected ones, or raises `NotCalls` or
    `MisshapenOutput`."""
    executed: Callable[[Any], Pairs]
    """Parses a step of a conversation, or raises `NotCalls` or `MisshapenOutput`."""
    dotted: bool | None
    """Whether function names keep their dots; ``None`` if the outputs decide."""
    dotted_by_default: bool = True
    """Whether function names keep their dots if no output decides."""
    is_supported: bool = True
    """Whether its outputs can be read; a recording in another form is refused."""


def _ignore_language(read: Callable[[Any], Pairs]) -> Callable[[Any, Language], Pairs]:
    return lambda item, _language: read(item)


def _define_json_form(title: str, read: Callable[[Any], list[dict[str, Any]]]) -> OutputForm:
    return OutputForm(
        title=title,
        compared=_ignore_language(json_text.make_compared_parser(read)),
        executed=json_text.make_executed_parser(read),
        dotted=None,
    )


_READERS: dict[Language, Callable[[Any], Pairs]] = {
    "python": python_text.parse_compared_calls,
    "java": java_text.parse_compared_calls,
    "javascript": javascript_text.parse_compared_calls,
}


def _parse_source(item: Any, language: Language) -> Pairs:
    return _READERS[language](item)


def _parse_separated_source(item: Any, language: Language) -> Pairs:
    if not isinstance(item, str):
        raise NotCalls("this is not a string")
    # Upstream replaces every semicolon, also one within a text.
    pairs = _parse_source(f"[{item.removesuffix(';').replace(';', ',')}]", language)
    if "out_of_domain" in item:
        raise MisshapenOutput("the function out_of_domain stands for no call")
    return pairs


def _parse_tagged_source(item: Any, language: Language) -> Pairs:
    inside = json_text.find_toolcall_text(item)
    return [] if inside is None else _parse_source(inside, language)


def _parse_executed_tagged_source(item: Any) -> Pairs:
    inside = json_text.find_toolcall_text(item)
    return [] if inside is None else python_text.parse_executed_calls(inside)


TEXTS = OutputForm(
    title="lists of {function: arguments as JSON text}",
    compared=_ignore_language(json_text.parse_json_arguments),
    executed=json_text.parse_executed_json_arguments,
    dotted=None,
    dotted_by_default=False,
)
"""The form of most APIs, and the default if no output shows another."""
# Written by Gemini, Nova, Arch, Granite 3 and Phi 4 mini.
OBJECTS = OutputForm(
    title="lists of {function: arguments as an object}",
    compared=_ignore_language(json_text.parse_object_arguments),
    executed=json_text.parse_executed_object_arguments,
    dotted=None,
    dotted_by_default=False,
)
# Written by Cohere.
TOOL_NAMES = OutputForm(
    title="lists of {tool_name, parameters}",
    compared=_ignore_language(json_text.parse_tool_names),
    executed=json_text.parse_tool_names,
    dotted=None,
    dotted_by_default=False,
)
# Written by xiaoming.
NAMES = OutputForm(
    title="lists of {name, arguments}",
    compared=_ignore_language(json_text.parse_names),
    executed=json_text.parse_executed_names,
    dotted=None,
)
SOURCE = OutputForm(
    title="calls written as source text, [function(argument=value)]",
    compared=_parse_source,
    executed=python_text.parse_executed_calls,
    dotted=True,
)
"""The form of models that get their instructions for calls in the prompt."""
# Written by Nexus Raven; upstream has its handler, and no longer lists the model.
SEPARATED_SOURCE = OutputForm(
    title="calls written as source text and separated by semicolons",
    compared=_parse_separated_source,
    executed=json_text.refuse_execution,
    dotted=True,
)
# Written by Nemotron.
TAGGED_SOURCE = OutputForm(
    title="calls written as source text between <TOOLCALL> tags",
    compared=_parse_tagged_source,
    executed=_parse_executed_tagged_source,
    dotted=True,
)
# Written by Qwen, Granite 4, Nanbeige and Pelican; the list by Falcon.
TAGGED = _define_json_form("JSON between <tool_call> tags", json_text.parse_tagged)
TAGGED_LIST = _define_json_form("a JSON list between <tool_call> tags", json_text.parse_tagged_list)
# Written by xLAM, BitAgent and Hammer.
BARE = _define_json_form("JSON text with name and arguments", json_text.parse_bare_json)
# Written by Llama 3.1.
PARAMETERS = _define_json_form(
    "JSON text with name and parameters", json_text.parse_with_parameters
)
# Written by ThinkAgent.
AFTER_THOUGHT = OutputForm(
    title="JSON text after </think>",
    compared=_ignore_language(json_text.make_compared_parser(json_text.parse_after_thought)),
    executed=json_text.refuse_execution,
    dotted=None,
)
# Written by Granite 20B.
PARTS = OutputForm(
    title="JSON texts that begin with <function_call>",
    compared=_ignore_language(json_text.make_compared_parser(json_text.parse_parts)),
    executed=json_text.parse_executed_parts,
    dotted=None,
    dotted_by_default=False,
)
# Written by GLM 4 9B.
LINES = OutputForm(
    title="the name of a function and, in the next line, its arguments",
    compared=_ignore_language(json_text.make_compared_parser(json_text.parse_two_lines)),
    executed=json_text.parse_executed_two_lines,
    dotted=None,
    dotted_by_default=False,
)

FORMS = (
    TEXTS, OBJECTS, TOOL_NAMES, NAMES, SOURCE, SEPARATED_SOURCE, TAGGED_SOURCE, TAGGED, TAGGED_LIST,
    BARE, PARAMETERS, AFTER_THOUGHT, PARTS, LINES,
)  # fmt: skip
"""Every form that is known."""


def _define_unread_form(title: str) -> OutputForm:
    def refuse(_item: object) -> Pairs:
        raise NotCalls(f"outputs in {title} are not read")

    return OutputForm(
        title=title,
        compared=_ignore_language(refuse),
        executed=refuse,
        dotted=True,
        is_supported=False,
    )


FUNCTION_GEMMA = _define_unread_form("the format of functiongemma, <start_function_call>")
MINI_CPM = _define_unread_form("the format of MiniCPM, <|tool_call_start|>")
_RAVEN = re.compile(r"(nexus|(?<![a-z]))raven(?![a-z])")
_DETECTED = (*FORMS, FUNCTION_GEMMA, MINI_CPM)


def detect_form(outputs: Iterable[tuple[Any, Language]], model: str = "") -> OutputForm:
    """Return the form of most of ``outputs``; each comes with the language of its arguments.

    The name of the ``model`` only decides which wrapping upstream's handler removes from a text,
    and how it separates calls; few models have such a handler.
    """
    bare = choose_unwrapper(model)
    votes = Counter(
        form.title
        for item, language in outputs
        if (form := _detect_output_form(bare(item), language)) is not None
    )
    most = max(votes.values(), default=0)
    form = next((form for form in _DETECTED if most and votes[form.title] == most), TEXTS)
    if form is SOURCE and _RAVEN.search(model.lower()):
        return SEPARATED_SOURCE  # a single call looks the same in both
    if bare is keep_unchanged:
        return form
    return replace(
        form,
        compared=lambda item, language: form.compared(bare(item), language),
        executed=lambda item: form.executed(bare(item)),
    )


def _detect_output_form(item: Any, language: Language) -> OutputForm | None:
    """Return the form that one output shows; ``None`` if it is prose or empty."""
    if isinstance(item, list):
        return _detect_object_form(item[0]) if item and isinstance(item[0], dict) else None
    return _detect_text_form(item, language) if isinstance(item, str) else None


def _detect_object_form(one: dict[str, Any]) -> OutputForm | None:
    if {"tool_name", "parameters"} <= one.keys():
        return TOOL_NAMES
    if one.keys() == {"name", "arguments"}:
        return NAMES
    given = next(iter(one.values()), None)
    return TEXTS if isinstance(given, str) else OBJECTS if isinstance(given, dict) else None


def _detect_text_form(text: str, language: Language) -> OutputForm | None:
    marked = next((form for is_marked, form in _MARKS if is_marked(text)), None)
    if marked is not None:
        return marked
    # Source text does not begin with a brace, and JSON may be in a list.
    if text.lstrip().removeprefix(json_text.PYTHON_TAG).lstrip("[ \n").startswith("{"):
        return _detect_json_form(text)
    for form in (SOURCE, SEPARATED_SOURCE):
        with suppress(NotCalls, MisshapenOutput):
            if form.compared(text, language):
                return form
    return None


def _is_after_thought(text: str) -> bool:
    _, tag, rest = text.partition("</think>")
    return bool(tag) and rest.lstrip().startswith(("[{", "[]"))


def _has_tagged_list(text: str) -> bool:
    _, tag, rest = text.partition("<tool_call>")
    return bool(tag) and rest.lstrip().startswith(("[", "```"))


_MARKS: tuple[tuple[Callable[[str], object], OutputForm], ...] = (
    (re.compile("<start_(of_)?function_call>").search, FUNCTION_GEMMA),
    (re.compile(r"<\|(tool_call|thought)_start\|>").search, MINI_CPM),
    (lambda text: "<TOOLCALL>" in text, TAGGED_SOURCE),
    (_has_tagged_list, TAGGED_LIST),
    (lambda text: "<tool_call>" in text, TAGGED),
    (lambda text: "<function_call>" in text, PARTS),
    (_is_after_thought, AFTER_THOUGHT),
    (json_text.LINES.fullmatch, LINES),
)
"""How to recognise the form of a text that is neither source text nor bare JSON; the first match
counts."""


def _detect_json_form(text: str) -> OutputForm | None:
    if '"parameters"' in text or "'parameters'" in text:
        return PARAMETERS
    try:
        # Several objects are separated by semicolons; the first one shows the form.
        load_json(text.partition(";")[0])
    except NotCalls:
        return None
    return BARE
