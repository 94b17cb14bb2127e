"""Rules on tools that contradict themselves: within the schema, or between schema and text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from harness.base import Budget, validate_value
from harness.descriptions.linting.evidence import CONTRADICTED, RENAMED, reported_evidence
from harness.descriptions.linting.findings import Family, LintFinding, Rule
from harness.descriptions.linting.text_mentions import named_parameters, named_values
from harness.models import Param, first_sentence, iterate_params, read_params
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
        yield from _check_choices(tool, params)
        yield from _check_examples(tool, params)
        yield from _check_named_values(tool, params)
        yield from _check_types(tool, params)
        yield from _check_parameter_names(tool, params)


_Params = Sequence[tuple[str, Param]]


def _check_choices(tool: Tool, params: _Params) -> Iterator[LintFinding]:
    for path, param in params:
        for schema in _iterate_alternatives(param.declared):
            listed = schema.get("enum")
            if not isinstance(listed, list):
                continue
            # Without the enum itself, which accepts its own values.
            rest = {key: value for key, value in schema.items() if key != "enum"}
            refused = _find_refusal(listed, rest, tool)
            if refused:
                yield LintFinding(
                    rule="enum-contradicts-type",
                    tool=tool.name,
                    parameters=(path,),
                    message=f"Its enum lists values that its own schema refuses: {path} "
                    f"({refused}).",
                    instead="Make type and enum agree; the choices of an array belong under "
                    '"items".',
                )


def _check_examples(tool: Tool, params: _Params) -> Iterator[LintFinding]:
    # The whole input schema may have examples, too.
    whole = [("", Param(name="", kind="object", schema={}, declared=tool.input_schema))]
    for path, param in (*whole, *params):
        for what, values in _example_values(param.declared):
            refused = _find_refusal(values, param.declared, tool)
            if refused:
                yield LintFinding(
                    rule="refused-example",
                    tool=tool.name,
                    parameters=(path,) if path else (),
                    message=f"Its own schema refuses its {what}: {path or 'all arguments'} "
                    f"({refused}).",
                    instead="Correct the value, or the schema if the value is what the tool takes.",
                )


def _example_values(schema: JsonObject) -> Iterator[tuple[str, list[Any]]]:
    """Yield the examples and the default of a schema; ``null`` stands for none."""
    listed = schema.get("examples")
    if isinstance(listed, list):
        yield "examples", listed
    if schema.get("example") is not None:
        yield "example", [schema["example"]]
    if schema.get("default") is not None:
        yield "default", [schema["default"]]


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
    defined = {
        key: tool.input_schema[key]
        for key in ("$schema", "$defs", "definitions")
        if key in tool.input_schema
    }
    for value in values[:_MOST_VALUES]:
        found = validate_value(value, {**schema, **defined}, Budget(_STEPS), most=1)
        if value is not None and found.errors and found.gave_up is None:
            return f"{value!r}: {found.errors[0]}"[:200]
    return None


def _check_named_values(tool: Tool, params: _Params) -> Iterator[LintFinding]:
    # A quoted word may also be a parameter or the tool itself.
    names = {param.name for _, param in params} | {tool.name}
    for path, param in params:
        if not any(isinstance(choice, str) for choice in param.choices):
            continue
        other = [value for value in named_values(param, tool.description) if value not in names]
        if other:
            yield LintFinding(
                rule="enum-contradicts-text",
                tool=tool.name,
                parameters=(path,),
                message=f"The text names values that its enum does not have: {path} "
                f"({', '.join(map(repr, other))}; the enum has "
                f"{', '.join(map(repr, param.choices[:8]))}).",
                instead="Name in the text exactly the values of the enum, or add the missing ones.",
            )


def _check_types(tool: Tool, params: _Params) -> Iterator[LintFinding]:
    for path, param in params:
        if (
            param.kind in ("string", "integer", "number")
            and not param.choices
            # The text may be about a boolean among the alternatives.
            and not any(key in param.declared for key in (*_ALTERNATIVES, "$ref"))
            and not isinstance(param.declared.get("type"), list)
            and _BOOLEAN.search(first_sentence(param.description))
        ):
            yield LintFinding(
                rule="type-contradicts-text",
                tool=tool.name,
                parameters=(path,),
                message=f"The text says true or false, the schema says {param.kind}: {path}.",
                instead='Declare it as "type": "boolean", or say in the text what to send.',
            )


def _check_parameter_names(tool: Tool, params: _Params) -> Iterator[LintFinding]:
    known = {param.name.lower() for _, param in params}
    texts = [tool.description, *(param.description for _, param in params)]
    unknown = dict.fromkeys(
        name for text in texts for name in named_parameters(text) if name.lower() not in known
    )
    # Where other properties are allowed, the named one can be sent.
    if unknown and tool.input_schema.get("additionalProperties") in (None, False):
        names = tuple(unknown)
        yield LintFinding(
            rule="unknown-parameter",
            tool=tool.name,
            parameters=names,
            message=f"The text names parameters that the schema does not have: {', '.join(names)}.",
            instead="Use the names of the schema, or declare what is missing.",
        )


_VALIDATION = "JSON Schema 2020-12, Validation"

FAMILY = Family(
    check=check_contradictions,
    rules={
        "enum-contradicts-type": Rule(
            severity="error",
            why="No valid call can use such a value: the rest of the schema refuses it.",
            evidence=reported_evidence("a value has to satisfy all keywords at once", _VALIDATION),
        ),
        "refused-example": Rule(
            severity="error",
            why="A model copies what it is shown, and that call breaks the tool's own schema.",
            evidence=reported_evidence("a value has to satisfy all keywords at once", _VALIDATION),
        ),
        "enum-contradicts-text": Rule(
            severity="warning",
            why="A model that believes the text sends what the schema refuses.",
            evidence=CONTRADICTED,
        ),
        "type-contradicts-text": Rule(
            severity="warning",
            why="A model that believes the text sends what the schema refuses.",
            evidence=CONTRADICTED,
        ),
        "unknown-parameter": Rule(
            severity="note",
            why="What the text asks for cannot be sent under that name.",
            evidence=RENAMED,
        ),
    },
)
"""The rules on contradictions."""
