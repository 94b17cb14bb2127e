"""Operators on parameters: their texts, units, formats and values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from harness.descriptions.workbench.mutants.mutant import (
    Mutant,
    iterate_parameters,
    mutate_parameter,
    parameter_text,
)
from harness.runner import get_facet
from harness.types import ParameterEdit, Tool

_UNIT = re.compile(
    r",?\s*(?:\bin (?:US )?(?P<unit>[a-z]+)\b|[(](?P<short>[a-z]{1,12})[)])", re.IGNORECASE
)
_UNITS = {
    "seconds": "minutes",
    "second": "minute",
    "minutes": "hours",
    "hours": "days",
    "days": "weeks",
    "weeks": "months",
    "months": "years",
    "milliseconds": "seconds",
    "ms": "seconds",
    "dollars": "cents",
    "cents": "dollars",
    "euros": "cents",
    "percent": "per mille",
    "grams": "kilograms",
    "kilograms": "grams",
    "kg": "grams",
    "metres": "kilometres",
    "meters": "kilometers",
    "kilometres": "metres",
    "kilometers": "meters",
    "km": "metres",
    "miles": "yards",
    "bytes": "megabytes",
    "megabytes": "bytes",
    "celsius": "fahrenheit",
    "fahrenheit": "celsius",
}
_WORD = re.compile(r"[A-Za-z]+")
_DATES = (
    (re.compile(r"YYYY-MM-DD"), "DD/MM/YYYY"),
    (re.compile(r"DD/MM/YYYY"), "MM/DD/YYYY"),
    (re.compile(r"MM/DD/YYYY"), "DD/MM/YYYY"),
)
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_SUCH_AS = re.compile(
    r",?\s*(?:such as|for example|e\.g\.,?|like)\s+(?P<example>['\"]?[\w.-]*\w['\"]?)",
    re.IGNORECASE,
)
_MOST_MEMBERS = 20  # of one enum


def text_removed(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which one parameter has no description."""
    for tool in tools:
        for name, schema in iterate_parameters(tool):
            if parameter_text(schema):
                edit = ParameterEdit(description="")
                yield mutate_parameter("text-removed", tool, name, "it has no description", edit)


def unit_removed(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which one parameter no longer names its unit."""
    for tool in tools:
        for name, schema in iterate_parameters(tool):
            text = parameter_text(schema)
            for found in _UNIT.finditer(text):
                unit = found["unit"] or found["short"]
                if unit.lower() in _UNITS:
                    edit = ParameterEdit(description=text[: found.start()] + text[found.end() :])
                    defect = f"it does not say that it is in {unit}"
                    yield mutate_parameter("unit-removed", tool, name, defect, edit)
                    break


def wrong_unit(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which one parameter names another unit."""
    for tool in tools:
        for name, schema in iterate_parameters(tool):
            text = parameter_text(schema)
            for found in _WORD.finditer(text):
                other = _UNITS.get(found[0].lower())
                if other is not None:
                    changed = text[: found.start()] + other + text[found.end() :]
                    defect = f"it says {other!r} where it said {found[0]!r}"
                    edit = ParameterEdit(description=changed)
                    yield mutate_parameter("wrong-unit", tool, name, defect, edit)
                    break


def wrong_date(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which one parameter asks for dates in another order."""
    for tool in tools:
        for name, schema in iterate_parameters(tool):
            text = parameter_text(schema)
            for pattern, other in _DATES:
                if pattern.search(text):
                    # A date as an example in the text would give the right order away.
                    changed = _ISO.sub(r"\3/\2/\1", pattern.sub(other, text))
                    defect = f"it asks for dates as {other}, not {pattern.pattern}"
                    edit = ParameterEdit(description=changed)
                    yield mutate_parameter("wrong-date", tool, name, defect, edit)
                    break


def wrong_example(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which an example has another form: ``42`` for ``CUST_42``."""
    for tool in tools:
        for name, schema in iterate_parameters(tool):
            text, listed = parameter_text(schema), get_facet(schema, "examples")
            shown = _SUCH_AS.search(text)
            example = listed[0] if isinstance(listed, list) and listed else None
            example = example if example is not None else shown and shown["example"].strip("'\"")
            other = _distort_example(example)
            if not isinstance(example, str) or other is None:
                continue
            edit = ParameterEdit(
                description=text.replace(example, other) if example in text else None,
                examples=(other,) if listed else None,
            )
            defect = f"its example is {other!r} instead of {example!r}"
            yield mutate_parameter("wrong-example", tool, name, defect, edit)


def _distort_example(example: Any) -> str | None:
    """Return ``example`` in another form, or ``None`` if no form is clearly wrong."""
    if not isinstance(example, str):
        return None
    digits = "".join(re.findall(r"\d", example))
    if digits and digits != example:
        return digits.lstrip("0") or "0"
    return None if digits or not example.isupper() else f"{example.capitalize()} Incorporated"


def example_removed(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which one parameter no longer shows an example."""
    for tool in tools:
        for name, schema in iterate_parameters(tool):
            text, listed = parameter_text(schema), get_facet(schema, "examples")
            changed = _SUCH_AS.sub("", text)
            if listed or changed != text:
                edit = ParameterEdit(
                    description=changed if changed != text else None,
                    examples=() if listed else None,
                )
                yield mutate_parameter("example-removed", tool, name, "it shows no example", edit)


def member_removed(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which one value of an enum is missing."""
    for tool, name, members in _iterate_enums(tools):
        for member in members:
            rest = tuple(one for one in members if one != member)
            # Without any value left, no call would be valid.
            if rest:
                yield mutate_parameter(
                    "member-removed",
                    tool,
                    name,
                    f"{member!r} is not among its values",
                    ParameterEdit(enum=rest),
                    value=(member,),
                )


def member_replaced(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which one value of an enum becomes one that the server does not know."""
    for tool, name, members in _iterate_enums(tools):
        for member in members:
            if isinstance(member, str):
                other = "other" if "other" not in members else "something_else"
                changed = tuple(other if one == member else one for one in members)
                yield mutate_parameter(
                    "member-replaced",
                    tool,
                    name,
                    f"{other!r} stands for {member!r} among its values",
                    ParameterEdit(enum=changed),
                    value=(member,),
                )


def _iterate_enums(tools: Sequence[Tool]) -> Iterator[tuple[Tool, str, tuple[Any, ...]]]:
    for tool in tools:
        for name, schema in iterate_parameters(tool):
            listed = get_facet(schema, "enum")
            if isinstance(listed, list) and listed:
                yield tool, name, tuple(listed[:_MOST_MEMBERS])


def wrong_default(tools: Sequence[Tool]) -> Iterator[Mutant]:
    """Yield lists in which one parameter has another default."""
    for tool in tools:
        for name, schema in iterate_parameters(tool):
            default = get_facet(schema, "default")
            other = _other_default(default, get_facet(schema, "enum"))
            if other is not None:
                defect = f"its default is {other!r} instead of {default!r}"
                edit = ParameterEdit(default=(other,))
                yield mutate_parameter("wrong-default", tool, name, defect, edit)


def _other_default(default: Any, members: Any) -> Any:
    # Before numbers, since a bool is an int in Python.
    if isinstance(default, bool):
        return not default
    if isinstance(default, int | float):
        # Ten times 0 would be the same default.
        return default * 10 or 10
    if isinstance(members, list) and isinstance(default, str):
        return next((member for member in members if member != default), None)
    return None
