"""Rules on tools that contradict themselves: within the schema, or between schema and text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from harness.base import Budget, validate_value
from harness.descriptions.linting.findings import (
    CONTRADICTED,
    RENAMED,
    Family,
    LintFinding,
    Rule,
    reported_evidence,
)
from harness.descriptions.linting.parameter_texts import remove_literals
from harness.models import Param, first_sentence, iterate_params, read_params, word_set
from harness.types import JsonObject, Tool, ToolList

_STEPS = 2_000  # of validation, for one value; values that need more are not checked
_MOST_VALUES = 50  # of one enum or list of examples
_BOOLEAN = re.compile(
    r"\b(?:true\s*(?:/|or|\|)\s*false|false\s*(?:/|or|\|)\s*true)\b", re.IGNORECASE
)
_ALTERNATIVES = ("anyOf", "oneOf", "allOf")


def check_contradictions(tools: ToolList) -> Iterator[LintFinding]:
    """Yield schemas that reject their own values, and texts that contradict the schema."""
    for tool in tools.tools:
        params = tuple(iterate_params(read_params(tool), items=True))
        for rule, find in _CHECKS.items():
            for path, problem in find(tool, params):
                yield LintFinding(
                    rule=rule,
                    tool=tool.name,
                    # The whole input schema may have examples, too.
                    parameters=(path,) if path else (),
                    message=problem,
                )
        others = frozenset(other.name for other in tools.tools if other is not tool)
        yield from _check_parameter_names(tool, params, others)


_Params = Sequence[tuple[str, Param]]


def _check_choices(tool: Tool, params: _Params) -> Iterator[tuple[str, str]]:
    for path, param in params:
        for schema in _iterate_alternatives(param.declared):
            # Without the enum itself, which accepts its own values.
            rest = {key: value for key, value in schema.items() if key != "enum"}
            listed = schema.get("enum")
            if isinstance(listed, list) and (refused := _find_refusal(listed, rest, tool)):
                yield (
                    path,
                    f"Its enum lists values that its own schema refuses: {path} ({refused}).",
                )


def _check_examples(tool: Tool, params: _Params) -> Iterator[tuple[str, str]]:
    declared = [("", tool.input_schema), *((path, param.declared) for path, param in params)]
    for path, schema in declared:
        listed = schema.get("examples")
        shown = {"examples": listed if isinstance(listed, list) else []}
        # Null stands for no example or default.
        shown |= {what: [schema.get(what)] for what in ("example", "default")}
        for what, values in shown.items():
            if refused := _find_refusal(values, schema, tool):
                where = path or "all arguments"
                yield path, f"Its own schema refuses its {what}: {where} ({refused})."


def _iterate_alternatives(schema: JsonObject) -> Iterator[JsonObject]:
    """Yield a schema and its alternatives, each of which may have an enum of its own."""
    yield schema
    for key in _ALTERNATIVES:
        options = schema.get(key)
        if isinstance(options, list):
            yield from (option for option in options if isinstance(option, dict))


def _find_refusal(values: Sequence[Any], schema: JsonObject, tool: Tool) -> str | None:
    """Return the first value that ``schema`` refuses with the reason, or ``None``.

    References are resolved in the tool's whole schema. A value that cannot be validated within the
    limit counts as accepted.
    """
    whole = tool.input_schema
    defined = {key: whole[key] for key in ("$schema", "$defs", "definitions") if key in whole}
    for value in values[:_MOST_VALUES]:
        found = validate_value(value, {**schema, **defined}, Budget(_STEPS), most=1)
        if value is not None and found.errors and found.gave_up is None:
            return f"{value!r}: {found.errors[0]}"[:200]
    return None


def _check_named_values(tool: Tool, params: _Params) -> Iterator[tuple[str, str]]:
    # A quoted word may also be a parameter or the tool itself.
    counted = Counter(param.name for _, param in params)
    names = {*counted, tool.name}
    text = remove_literals(tool.description)
    for path, param in params:
        if not any(isinstance(choice, str) for choice in param.choices):
            continue
        # A name that several objects have leaves open which of them the tool's text means.
        # The items of an array have no name.
        about = text if param.name and counted[param.name] == 1 else ""
        other = [
            value
            for value in _named_values(param, about)
            # Beside the enum, an alternative of the schema may take any text.
            if value not in names and _find_refusal([value], param.declared, tool)
        ]
        if other:
            said, listed = (", ".join(map(repr, values)) for values in (other, param.choices[:8]))
            problem = f"The text names values that its enum does not have: {path} ({said}"
            yield path, f"{problem}; the enum has {listed})."


def _check_types(_tool: Tool, params: _Params) -> Iterator[tuple[str, str]]:
    for path, param in params:
        if (
            param.kind in ("string", "integer", "number")
            and not param.choices
            # The text may be about a boolean among the alternatives.
            and not any(key in param.declared for key in (*_ALTERNATIVES, "$ref"))
            and not isinstance(param.declared.get("type"), list)
            and _BOOLEAN.search(first_sentence(param.description))
        ):
            yield path, f"The text says true or false, the schema says {param.kind}: {path}."


_CHECKS = {
    "enum-contradicts-type": _check_choices,
    "refused-example": _check_examples,
    "enum-contradicts-text": _check_named_values,
    "type-contradicts-text": _check_types,
}
"""Rule → yields the path and the problem of each parameter that breaks it."""


def _check_parameter_names(
    tool: Tool, params: _Params, others: frozenset[str]
) -> Iterator[LintFinding]:
    known = {param.name.lower() for _, param in params}
    texts = [tool.description, *(param.description for _, param in params)]
    unknown = dict.fromkeys(
        name
        for text in texts
        for name in _named_parameters(remove_literals(text), others)
        if name.lower() not in known
    )
    # Where other properties are allowed, the named one can be sent.
    if unknown and tool.input_schema.get("additionalProperties") in (None, False):
        yield LintFinding(
            rule="unknown-parameter",
            tool=tool.name,
            parameters=tuple(unknown),
            message=f"The text names parameters that the schema does not have: "
            f"{', '.join(unknown)}.",
        )


# ── Values and parameters that a text clearly names ──────────────────────────────────────────

_QUOTED = re.compile(r"(?<![\w'\"`])(?P<sign>['\"`])(?P<value>[\w][\w.-]{0,39})(?P=sign)(?!\w)")
_SETS = re.compile(
    r"(?:\bset(?:\s+(?:it|this))?\s+to|\bdefaults?\s+(?:to|is|=)|\bdefault:|\bpass|\buse)\s*$",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"(?:^|[:(\[=]|\b(?:of|either|are|is|to|be|by|values?|options?))\s*"
    r"(?P<items>[\w-]{1,30}(?:\s*[,|/]\s*(?:or\s+|and\s+)?[\w-]{1,30}){0,20}"
    r"(?:,?\s+(?:or|and)\s+[\w-]{1,30})?)"
    r"\s*(?=[.;:)\](]|$)",
    re.IGNORECASE,
)
"""A list of single words, from where it is announced to its end."""
_ITEM = re.compile(r"[\w-]+")
_JOINS = word_set(
    "or and the a an e g eg ie etc default more other others example instance none null"
)
"""Words in a list of values that are not values."""
_FEWEST = 2  # enum values that a list must have to count as a list of values

_CODE_NAME = r"[a-zA-Z]\w*"
_SENTENCE_START = re.compile(r"[.;!?]\s|\n\s*\n")
_TOOL_NAME = re.compile(r"[\w-]+")
_PARAMETER = re.compile(
    rf"(?:\b(?:parameters?|arguments?)\s+[`'\"](?P<after>{_CODE_NAME})[`'\"]"
    # `action: "open"` may have a line "parameters: …" below it.
    rf"|[`'\"](?P<before>{_CODE_NAME})[`'\"]\s+(?:parameter|argument)s?\b(?!\s*[:=])"
    rf"|\bthe\s+(?P<bare>[a-z]\w*_\w+|[a-z]+[A-Z]\w*)\s+(?:parameter|argument)s?\b)"
)
_ARGS = re.compile(
    r"^[ \t]*(?:Args|Arguments|Parameters|Params):[ \t]*\n"
    r"(?P<lines>(?:[ \t]+\S.*\n?|[ \t]*\n)+)",
    re.MULTILINE,
)
_ARG = re.compile(
    rf"^(?P<indent>[ \t]+)(?P<name>{_CODE_NAME})[ \t]*(?:\([^)\n]*\))?:", re.MULTILINE
)


def _named_values(param: Param, tool_text: str) -> tuple[str, ...]:
    """Return the values that texts name for ``param`` and that its enum does not have.

    ``tool_text`` is the description of the tool; it counts where it says to which value to set the
    parameter.
    """
    found = dict.fromkeys(
        (*_quoted_values(param), *_listed_values(param), *_assigned_values(param.name, tool_text))
    )
    known = _enum_words(param)
    return tuple(value for value in found if value.lower() not in known)


_NOTES = word_set("note notes example examples returns raises important warning see")
"""What begins a line below arguments without being one."""


def _named_parameters(text: str, others: frozenset[str]) -> Iterator[str]:
    """Yield the names that ``text`` calls parameters: "the `limit` parameter", or below "Args:".

    A sentence that names one of the ``others`` may be about a parameter of that tool.
    """
    for found in _PARAMETER.finditer(text):
        sentence = _SENTENCE_START.split(text[: found.start()])[-1]
        if others.isdisjoint(_TOOL_NAME.findall(sentence)):
            yield found["after"] or found["before"] or found["bare"]
    for section in _ARGS.finditer(text):
        args = list(_ARG.finditer(section["lines"]))
        # Deeper lines with a colon belong to the text of an argument.
        indent = min((len(arg["indent"]) for arg in args), default=0)
        named = (arg["name"] for arg in args if len(arg["indent"]) == indent)
        yield from (name for name in named if name.lower() not in _NOTES)


def _enum_words(param: Param) -> frozenset[str]:
    """Return the enum's values, and the words of those that have several words."""
    values = [str(choice).lower() for choice in param.choices]
    return frozenset((*values, *(word for value in values for word in _ITEM.findall(value))))


def _quoted_values(param: Param) -> Iterator[str]:
    """Yield the texts quoted as a value: after "set to", "default", "use"."""
    text = remove_literals(param.description)
    for found in _QUOTED.finditer(text):
        if _SETS.search(text[: found.start()]):
            yield found["value"]


def _listed_values(param: Param) -> Iterator[str]:
    """Yield the items of lists in which at least two, and most, are values of the enum."""
    known = _enum_words(param)
    # A list may be quoted item by item.
    plain = re.sub(r"['\"`]", "", remove_literals(param.description))
    for found in _LIST.finditer(plain):
        items = [item for item in _ITEM.findall(found["items"]) if item.lower() not in _JOINS]
        members = [item for item in items if item.lower() in known]
        if len(members) >= _FEWEST and len(members) * 2 > len(items):
            yield from items


def _assigned_values(name: str, text: str) -> Iterator[str]:
    """Yield the values to which ``text`` says to set the parameter: "status to 'open'"."""
    setting = re.compile(
        rf"(?<!\w)['\"`]?{re.escape(name)}['\"`]?\s*(?:to|=|:|is)\s*['\"`](?P<value>[\w.-]{{1,40}})['\"`]"
    )
    yield from (found["value"] for found in setting.finditer(text))


_BELIEVED = "A model that believes the text sends what the schema refuses."
_VALIDATION = reported_evidence(
    "a value has to satisfy all keywords at once", "JSON Schema 2020-12, Validation"
)

FAMILY = Family(
    check=check_contradictions,
    rules={
        "enum-contradicts-type": Rule(
            severity="error",
            why="No valid call can use such a value: the rest of the schema refuses it.",
            instead='Make type and enum agree; the choices of an array belong under "items".',
            evidence=_VALIDATION,
        ),
        "refused-example": Rule(
            severity="error",
            why="A model copies what it is shown, and that call breaks the tool's own schema.",
            instead="Correct the value, or the schema if the value is what the tool takes.",
            evidence=_VALIDATION,
        ),
        "enum-contradicts-text": Rule(
            severity="warning",
            why=_BELIEVED,
            instead="Name in the text exactly the values of the enum, or add the missing ones.",
            evidence=CONTRADICTED,
        ),
        "type-contradicts-text": Rule(
            severity="warning",
            why=_BELIEVED,
            instead='Declare it as "type": "boolean", or say in the text what to send.',
            evidence=CONTRADICTED,
        ),
        "unknown-parameter": Rule(
            severity="note",
            why="What the text asks for cannot be sent under that name.",
            instead="Use the names of the schema, or declare what is missing.",
            evidence=RENAMED,
        ),
    },
)
"""The rules on contradictions."""
