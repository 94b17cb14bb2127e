"""Keywords with regular expressions, matched in linear time.

JSON Schema asks for ECMA-262 expressions. RE2 supports these except look-around and
back-references, which would prevent linear time; a value cannot be validated by such an expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema.exceptions import ValidationError

from harness.base.linear_regex import BrokenPattern, program_size, search_pattern
from harness.base.validation.budget import spend_steps

_WORK_PER_STEP = 4_000
"""Instructions of a compiled pattern times characters that take at most as long as one step."""
_CODE_POINT = re.compile(
    r"(?P<before>(?<!\\)(?:\\\\)*)\\u(?:\{(?P<long>[0-9A-Fa-f]{1,6})\}|(?P<short>[0-9A-Fa-f]{4}))"
)


class UnsupportedPattern(Exception):
    """A regular expression that cannot be matched in linear time; the message has the reason."""


def matches_pattern(pattern: str, text: str) -> bool:
    """Whether ``pattern`` matches anywhere in ``text``.

    Raises:
        UnsupportedPattern: RE2 does not support it.
        OutOfSteps: it would take too long.
    """
    try:
        # RE2 writes a code point as \x{20ac}.
        spelled = (
            _CODE_POINT.sub(r"\g<before>\\x{\g<long>\g<short>}", pattern)
            if r"\u" in pattern
            else pattern
        )
        # Paid before the search: RE2 cannot be interrupted.
        spend_steps(1 + program_size(spelled) * (len(text) + 1) // _WORK_PER_STEP)
        return search_pattern(spelled, text) is not None
    except BrokenPattern as error:
        raise UnsupportedPattern(
            f"the pattern {pattern[:80]!r} cannot be matched in linear time: {error}"
        ) from error


def check_pattern(
    validator: Any, expression: Any, value: Any, _schema: Any
) -> Iterator[ValidationError]:
    """``pattern``."""
    if validator.is_type(value, "string") and not matches_pattern(expression, value):
        yield ValidationError(f"{value!r} does not match {expression!r}")


def check_pattern_properties(
    validator: Any, patterns: Any, value: Any, _schema: Any
) -> Iterator[ValidationError]:
    """``patternProperties``."""
    if validator.is_type(value, "object"):
        for expression, schema in patterns.items():
            for name, part in value.items():
                if matches_pattern(expression, name):
                    yield from validator.descend(part, schema, path=name, schema_path=expression)


def check_additional_properties(
    validator: Any, wanted: Any, value: Any, schema: Any
) -> Iterator[ValidationError]:
    """``additionalProperties``."""
    if not validator.is_type(value, "object"):
        return
    patterns = schema.get("patternProperties", {})
    extras = [
        name
        for name in value
        if name not in schema.get("properties", {}) and not _any_matches(patterns, name)
    ]
    if validator.is_type(wanted, "object"):
        for name in extras:
            yield from validator.descend(value[name], wanted, path=name)
    elif not wanted and extras:
        named = ", ".join(map(repr, sorted(extras)))
        if patterns:
            verb = "does" if len(extras) == 1 else "do"
            expected = ", ".join(map(repr, sorted(patterns)))
            yield ValidationError(f"{named} {verb} not match any of the regexes: {expected}")
        else:
            verb = "was" if len(extras) == 1 else "were"
            yield ValidationError(
                f"Additional properties are not allowed ({named} {verb} unexpected)"
            )


def _any_matches(patterns: Mapping[str, Any], name: str) -> bool:
    return any(matches_pattern(expression, name) for expression in patterns)
