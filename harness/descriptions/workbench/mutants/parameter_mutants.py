"""Operators on parameters: their texts, units, formats and values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.descriptions.workbench.mutants.mutant import (
    ParameterDefect,
    parameter_text,
    read_word_pairs,
)
from harness.runner import get_facet
from harness.types import ParameterEdit

_UNIT = re.compile(
    r",?\s*(?:\bin (?:US )?(?P<unit>[a-z]+)\b|[(](?P<short>[a-z]{1,12})[)])", re.IGNORECASE
)
_UNITS = read_word_pairs(
    "seconds minutes, second minute, minutes hours, hours days, days weeks, weeks months, months "
    "years, milliseconds seconds, ms seconds, dollars cents, cents dollars, euros cents, percent "
    "per mille, grams kilograms, kilograms grams, kg grams, metres kilometres, meters kilometers, "
    "kilometres metres, kilometers meters, km metres, miles yards, bytes megabytes, megabytes "
    "bytes, celsius fahrenheit, fahrenheit celsius"
)
_WORD = re.compile(r"[A-Za-z]+")
_DATES = {"YYYY-MM-DD": "DD/MM/YYYY", "DD/MM/YYYY": "MM/DD/YYYY", "MM/DD/YYYY": "DD/MM/YYYY"}
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_SUCH_AS = re.compile(
    r",?\s*(?:such as|for example|e\.g\.,?|like)\s+(?P<example>['\"]?[\w.-]*\w['\"]?)",
    re.IGNORECASE,
)
_MOST_MEMBERS = 20  # of one enum


def remove_text(schema: Mapping[str, Any]) -> Iterator[ParameterDefect]:
    """Leave out the description."""
    if parameter_text(schema):
        yield ParameterDefect("it has no description", ParameterEdit(description=""))


def remove_unit(schema: Mapping[str, Any]) -> Iterator[ParameterDefect]:
    """Leave out the unit."""
    text = parameter_text(schema)
    for found in _UNIT.finditer(text):
        unit = found["unit"] or found["short"]
        if unit.lower() in _UNITS:
            edit = ParameterEdit(description=text[: found.start()] + text[found.end() :])
            yield ParameterDefect(f"it does not say that it is in {unit}", edit)
            return


def replace_unit(schema: Mapping[str, Any]) -> Iterator[ParameterDefect]:
    """Name another unit."""
    text = parameter_text(schema)
    for found in _WORD.finditer(text):
        if other := _UNITS.get(found[0].lower()):
            changed = text[: found.start()] + other + text[found.end() :]
            defect = f"it says {other!r} where it said {found[0]!r}"
            yield ParameterDefect(defect, ParameterEdit(description=changed))
            return


def reorder_date(schema: Mapping[str, Any]) -> Iterator[ParameterDefect]:
    """Ask for dates in another order."""
    text = parameter_text(schema)
    for form, other in _DATES.items():
        if form in text:
            # A date as an example in the text would give the right order away.
            changed = _ISO.sub(r"\3/\2/\1", text.replace(form, other))
            defect = f"it asks for dates as {other}, not {form}"
            yield ParameterDefect(defect, ParameterEdit(description=changed))
            return


def distort_example(schema: Mapping[str, Any]) -> Iterator[ParameterDefect]:
    """Show an example in another form: ``42`` for ``CUST_42``."""
    text, listed = parameter_text(schema), get_facet(schema, "examples")
    shown = _SUCH_AS.search(text)
    example = listed[0] if isinstance(listed, list) and listed else None
    example = example if example is not None else shown and shown["example"].strip("'\"")
    if isinstance(example, str) and (other := _distort_text(example)) is not None:
        edit = ParameterEdit(
            description=text.replace(example, other) if example in text else None,
            examples=(other,) if listed else None,
        )
        yield ParameterDefect(f"its example is {other!r} instead of {example!r}", edit)


def _distort_text(example: str) -> str | None:
    """Return ``example`` in another form, or ``None`` if no form is clearly wrong."""
    digits = "".join(re.findall(r"\d", example))
    if digits and digits != example:
        return digits.lstrip("0") or "0"
    return None if digits or not example.isupper() else f"{example.capitalize()} Incorporated"


def remove_example(schema: Mapping[str, Any]) -> Iterator[ParameterDefect]:
    """Show no example any more."""
    text, listed = parameter_text(schema), get_facet(schema, "examples")
    changed = _SUCH_AS.sub("", text)
    if listed or changed != text:
        edit = ParameterEdit(
            description=changed if changed != text else None, examples=() if listed else None
        )
        yield ParameterDefect("it shows no example", edit)


def remove_member(schema: Mapping[str, Any]) -> Iterator[ParameterDefect]:
    """Leave out one value of an enum."""
    members = _enum_members(schema)
    for member in members:
        # Without any value left, no call would be valid.
        if rest := tuple(one for one in members if one != member):
            defect = f"{member!r} is not among its values"
            yield ParameterDefect(defect, ParameterEdit(enum=rest), (member,))


def replace_member(schema: Mapping[str, Any]) -> Iterator[ParameterDefect]:
    """Put a value that the server does not know in the place of one of an enum."""
    members = _enum_members(schema)
    other = "other" if "other" not in members else "something_else"
    for member in members:
        if isinstance(member, str):
            changed = tuple(other if one == member else one for one in members)
            defect = f"{other!r} stands for {member!r} among its values"
            yield ParameterDefect(defect, ParameterEdit(enum=changed), (member,))


def _enum_members(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    listed = get_facet(schema, "enum")
    return tuple(listed[:_MOST_MEMBERS]) if isinstance(listed, list) else ()


def replace_default(schema: Mapping[str, Any]) -> Iterator[ParameterDefect]:
    """Declare another default."""
    default = get_facet(schema, "default")
    other = _other_default(default, get_facet(schema, "enum"))
    if other is not None:
        defect = f"its default is {other!r} instead of {default!r}"
        yield ParameterDefect(defect, ParameterEdit(default=(other,)))


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
