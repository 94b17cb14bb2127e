"""The forms in which models write calls, and detection of the form of a recording.

Upstream has a handler for each model, which knows its form. Here the form is detected from the
outputs: the form of most outputs is that of the recording, and every output is parsed like
upstream's handler of that form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from harness.leaderboards.bfcl.catalog import Language
from harness.leaderboards.bfcl.decoding import java_text, javascript_text, lists, python_text, texts
from harness.leaderboards.bfcl.decoding.reading import Misshapen, NotCalls, Pairs, loaded
from harness.leaderboards.bfcl.decoding.wrappings import as_it_is, unwrapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One form of outputs."""

    title: str
    """Its name, for people."""
    compared: Callable[[Any, Language], Pairs]
    """Parses an output whose calls are compared with expected ones, or raises `NotCalls` or
    `Misshapen`."""
    executed: Callable[[Any], Pairs]
    """Parses a step of a conversation, or raises `NotCalls` or `Misshapen`."""
    dotted: bool | None
    """Whether function names keep their dots; ``None`` if the outputs decide."""
    dotted_by_default: bool = True
    """Whether function names keep their dots if no output decides."""


def _any_language(read: Callable[[Any], Pairs]) -> Callable[[Any, Language], Pairs]:
    return lambda item, _language: read(item)


def _json_text(title: str, read: Callable[[Any], list[dict[str, Any]]]) -> Form:
    return Form(
        title=title,
        compared=_any_language(texts.shaping(read)),
        executed=texts.executing(read),
        dotted=None,
    )


_READERS: dict[Language, Callable[[Any], Pairs]] = {
    "python": python_text.compared,
    "java": java_text.compared,
    "javascript": javascript_text.compared,
}


def _source(item: Any, language: Language) -> Pairs:
    return _READERS[language](item)


def _tagged_source(item: Any, language: Language) -> Pairs:
    inside = texts.inside_toolcall(item)
    return [] if inside is None else _source(inside, language)


def _tagged_source_executed(item: Any) -> Pairs:
    inside = texts.inside_toolcall(item)
    return [] if inside is None else python_text.executed(inside)


TEXTS = Form(
    title="lists of {function: arguments as JSON text}",
    compared=_any_language(lists.with_texts),
    executed=lists.with_texts_executed,
    dotted=None,
    dotted_by_default=False,
)
"""The form of most APIs, and the default if no output shows another."""
OBJECTS = Form(
    title="lists of {function: arguments as an object}",
    compared=_any_language(lists.with_objects),
    executed=lists.with_objects_executed,
    dotted=None,
    dotted_by_default=False,
)
TOOL_NAMES = Form(
    title="lists of {tool_name, parameters}",
    compared=_any_language(lists.with_tool_names),
    executed=lists.with_tool_names,
    dotted=None,
    dotted_by_default=False,
)
NAMES = Form(
    title="lists of {name, arguments}",
    compared=_any_language(lists.with_names),
    executed=lists.with_names_executed,
    dotted=None,
)
SOURCE = Form(
    title="calls written as source text, [function(argument=value)]",
    compared=_source,
    executed=python_text.executed,
    dotted=True,
)
"""The form of models that get their instructions for calls in the prompt."""
TAGGED_SOURCE = Form(
    title="calls written as source text between <TOOLCALL> tags",
    compared=_tagged_source,
    executed=_tagged_source_executed,
    dotted=True,
)
TAGGED = _json_text("JSON between <tool_call> tags", texts.tagged)
TAGGED_LIST = _json_text("a JSON list between <tool_call> tags", texts.tagged_list)
BARE = _json_text("JSON text with name and arguments", texts.bare)
PARAMETERS = _json_text("JSON text with name and parameters", texts.with_parameters)
AFTER_THOUGHT = Form(
    title="JSON text after </think>",
    compared=_any_language(texts.shaping(texts.after_thought)),
    executed=texts.never_executed,
    dotted=None,
)
PARTS = Form(
    title="JSON texts that begin with <function_call>",
    compared=_any_language(texts.shaping(texts.parts)),
    executed=texts.parts_executed,
    dotted=None,
    dotted_by_default=False,
)
LINES = Form(
    title="the name of a function and, in the next line, its arguments",
    compared=_any_language(texts.shaping(texts.lines)),
    executed=texts.lines_executed,
    dotted=None,
    dotted_by_default=False,
)

FORMS = (
    TEXTS, OBJECTS, TOOL_NAMES, NAMES, SOURCE, TAGGED_SOURCE, TAGGED, TAGGED_LIST, BARE, PARAMETERS,
    AFTER_THOUGHT, PARTS, LINES,
)  # fmt: skip
"""Every form that is known."""


def form_of(outputs: Iterable[tuple[Any, Language]], model: str = "") -> Form:
    """Return the form of most of ``outputs``; each comes with the language of its arguments.

    The name of the ``model`` only decides which wrapping upstream's handler removes from a text;
    few models have such a handler.
    """
    bare = unwrapping(model)
    votes = Counter(
        form.title
        for item, language in outputs
        if (form := _shown_by(bare(item), language)) is not None
    )
    most = max(votes.values(), default=0)
    form = next((form for form in FORMS if most and votes[form.title] == most), TEXTS)
    if bare is as_it_is:
        return form
    return replace(
        form,
        compared=lambda item, language: form.compared(bare(item), language),
        executed=lambda item: form.executed(bare(item)),
    )


def _shown_by(item: Any, language: Language) -> Form | None:
    """Return the form that one output shows; ``None`` if it is prose or empty."""
    if isinstance(item, list):
        return _shown_by_object(item[0]) if item and isinstance(item[0], dict) else None
    return _shown_by_text(item, language) if isinstance(item, str) else None


def _shown_by_object(one: dict[str, Any]) -> Form | None:
    if {"tool_name", "parameters"} <= one.keys():
        return TOOL_NAMES
    if one.keys() == {"name", "arguments"}:
        return NAMES
    given = next(iter(one.values()), None)
    return TEXTS if isinstance(given, str) else OBJECTS if isinstance(given, dict) else None


def _shown_by_text(text: str, language: Language) -> Form | None:
    marked = next((form for is_marked, form in _MARKS if is_marked(text)), None)
    if marked is not None:
        return marked
    if text.lstrip().removeprefix(texts.PYTHON_TAG).lstrip("[ \n").startswith("{"):
        return _if_json(text)
    try:
        return SOURCE if _source(text, language) else None
    except (NotCalls, Misshapen):
        return None


def _is_after_thought(text: str) -> bool:
    _, tag, rest = text.partition("</think>")
    return bool(tag) and rest.lstrip().startswith(("[{", "[]"))


def _holds_list(text: str) -> bool:
    _, tag, rest = text.partition("<tool_call>")
    return bool(tag) and rest.lstrip().startswith(("[", "```"))


_MARKS: tuple[tuple[Callable[[str], object], Form], ...] = (
    (lambda text: "<TOOLCALL>" in text, TAGGED_SOURCE),
    (_holds_list, TAGGED_LIST),
    (lambda text: "<tool_call>" in text, TAGGED),
    (lambda text: "<function_call>" in text, PARTS),
    (_is_after_thought, AFTER_THOUGHT),
    (texts.LINES.fullmatch, LINES),
)
"""How to recognise the form of a text that is neither source text nor bare JSON; the first match
counts."""


def _if_json(text: str) -> Form | None:
    if '"parameters"' in text or "'parameters'" in text:
        return PARAMETERS
    try:
        loaded(text.partition(";")[0])
    except NotCalls:
        return None
    return BARE
