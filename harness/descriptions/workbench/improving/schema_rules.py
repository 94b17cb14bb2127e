"""Rules on parameters: use choices, examples and formats that a schema or a text already has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harness.base import matches_schema, text_matching
from harness.descriptions.workbench.improving.proposal import ProposerInput, parameter_schemas
from harness.types import ParameterEdit, Tool, ToolEdit

_MOST_EXAMPLES = 2
_ITEM = r"(?:\"[^\"\n]{1,40}\"|'[^'\n]{1,40}'|`[^`\n]{1,40}`|[\w-]{1,40})"
_CHOICES = re.compile(
    r"(?:\bone of|\beither|\bmust be|\bcan be|\bvalues?|\boptions?|:|\()\s*:?\s*"
    rf"(?P<list>{_ITEM}(?:\s*(?:,\s*or\s+|,|\||/|\bor\b)\s*{_ITEM})+)\s*(?=[.;)\n]|$)",
    re.IGNORECASE,
)
"""``one of open, shipped or closed``: nothing but the choices between its lead and its end."""
_SEPARATOR = re.compile(r"\s*(?:,\s*or\s+|,|\||/|\bor\b)\s*")
_OF_FORMAT: Mapping[str, tuple[str, str]] = {
    "date": ("2025-03-14", "A date written as YYYY-MM-DD."),
    "date-time": ("2025-03-14T09:30:00Z", "Date and time as ISO 8601, with the time zone."),
    "time": ("09:30:00Z", "A time written as HH:MM:SS, with the time zone."),
    "duration": ("P3D", "A duration as ISO 8601: P3D is three days."),
    "email": ("anna@example.com", "An e-mail address."),
    "uri": ("https://example.com/page", "A complete address, with https://."),
    "uuid": ("3f2b8c1e-5d4a-4b6f-9c7d-1a2b3c4d5e6f", "A UUID."),
}
"""Format of JSON Schema → an example, and its description."""


def add_enums(_known: ProposerInput, tool: Tool) -> Mapping[str, ToolEdit]:
    """Turn choices that a parameter's text lists into an enum."""

    def change_parameter(_name: str, schema: Mapping[str, Any]) -> ParameterEdit | None:
        if schema.get("type") != "string" or "enum" in schema or "const" in schema:
            return None
        listed = find_choices(str(schema.get("description") or ""))
        return ParameterEdit(enum=listed) if listed and _are_valid(listed, schema, tool) else None

    return _edit_parameters(tool, change_parameter)


def add_examples(known: ProposerInput, tool: Tool) -> Mapping[str, ToolEdit]:
    """Give parameters examples: values that failing questions expect, else from the schema."""

    def change_parameter(name: str, schema: Mapping[str, Any]) -> ParameterEdit | None:
        # Two booleans need no example.
        if {"examples", "enum", "const"} & schema.keys() or schema.get("type") == "boolean":
            return None
        made = [known.values.get((tool.name, name), ()), _invent_examples(schema)]
        values = next((found[:_MOST_EXAMPLES] for found in made if found), ())
        return (
            ParameterEdit(examples=values) if values and _are_valid(values, schema, tool) else None
        )

    return _edit_parameters(tool, change_parameter)


def add_formats(_known: ProposerInput, tool: Tool) -> Mapping[str, ToolEdit]:
    """Add requirements of a parameter's schema to its text, if they are missing there."""

    def change_parameter(_name: str, schema: Mapping[str, Any]) -> ParameterEdit | None:
        said = str(schema.get("description") or "").strip()
        missing = [
            sentence
            for sentence in _schema_requirements(schema)
            if not _has_sentence(said, sentence)
        ]
        if not missing:
            return None
        stop = "" if not said or said.endswith((".", "!", "?", ":")) else "."
        return ParameterEdit(description=" ".join(filter(None, (f"{said}{stop}", *missing))))

    return _edit_parameters(tool, change_parameter)


def find_choices(text: str) -> tuple[str, ...]:
    """Return the choices that ``text`` lists, at least two; none if it lists no plain words."""
    for found in _CHOICES.finditer(text):
        items = [item.strip("\"'`") for item in _SEPARATOR.split(found["list"])]
        if len(set(items)) > 1 and all(items):
            return tuple(dict.fromkeys(items))
    return ()


def _edit_parameters(
    tool: Tool, change: Callable[[str, Mapping[str, Any]], ParameterEdit | None]
) -> Mapping[str, ToolEdit]:
    edits = {
        name: edit
        for name, schema in parameter_schemas(tool).items()
        if isinstance(schema, Mapping) and (edit := change(name, schema)) is not None
    }
    return {tool.name: ToolEdit(parameters=edits)} if edits else {}


def _are_valid(values: tuple[Any, ...], schema: Mapping[str, Any], tool: Tool) -> bool:
    return all(matches_schema(value, dict(schema), tool.input_schema) for value in values)


def _invent_examples(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    pattern, format_ = schema.get("pattern"), schema.get("format")
    if isinstance(pattern, str):
        text = text_matching(pattern)
        return () if not text else (text,)
    return _OF_FORMAT[format_][:1] if isinstance(format_, str) and format_ in _OF_FORMAT else ()


def _schema_requirements(schema: Mapping[str, Any]) -> Iterator[str]:
    format_, pattern = schema.get("format"), schema.get("pattern")
    if isinstance(format_, str) and format_ in _OF_FORMAT:
        yield _OF_FORMAT[format_][1]
    if isinstance(pattern, str) and (text := text_matching(pattern)):
        yield f"Written like {text}."
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        yield f"From {low} to {high}."
    elif low is not None or high is not None:
        yield f"At least {low}." if high is None else f"At most {high}."


def _has_sentence(text: str, sentence: str) -> bool:
    """Whether ``text`` has the specific part of ``sentence``: its last word, or all its numbers."""
    numbers = re.findall(r"\d+", sentence)
    # The digits of a sample text are no requirement.
    special = numbers if numbers and "like" not in sentence else [sentence.rstrip(".").split()[-1]]
    return all(word.lower() in text.lower() for word in special)
