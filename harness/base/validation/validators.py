"""Validators of every draft that count every step, and their results."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend, validator_for
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # has no stubs
from referencing import Registry

from harness.base.validation.budget import (
    Budget,
    OutOfSteps,
    apply_budget,
    charge_searches,
    enter_level,
    get_active_budget,
    spend_on_reference,
    spend_steps,
)
from harness.base.validation.keywords import (
    UnsupportedPattern,
    check_additional_properties,
    check_const,
    check_enum,
    check_pattern,
    check_pattern_properties,
    check_unevaluated_items,
    check_unevaluated_properties,
    check_unique_items,
    matches_pattern,
)
from harness.types import JsonObject, dataclass


@cache
def get_metaschema(kind: Any) -> Any:
    """Return the metaschema of the draft of ``kind``, one of the library's validators."""
    meta = kind.META_SCHEMA
    if kind is not Draft202012Validator:
        return meta
    folder = meta["$id"].rpartition("/")[0]
    parts = [REGISTRY.contents(f"{folder}/{one['$ref']}") for one in meta["allOf"]]
    whole = {"$schema": meta["$schema"], "type": meta["type"], "properties": {}, "$defs": {}}
    # The whole comes last: its own properties replace those of the vocabularies.
    for part in (*parts, meta):
        for word in ("properties", "$defs"):
            whole[word] |= _within_the_whole(part.get(word, {}))
    return whole


def _within_the_whole(value: Any) -> Any:
    """Return ``value``, a part of a vocabulary, with references to where the whole has it."""
    if isinstance(value, list):
        return [_within_the_whole(one) for one in value]
    if not isinstance(value, dict):
        return value
    # Each vocabulary leads back to the whole in this way, which now is one schema.
    if "$dynamicRef" in value and isinstance(value["$dynamicRef"], str):
        return {"$ref": "#"}
    return {
        key: f"#{one.rpartition('#')[2]}"
        if key == "$ref" and isinstance(one, str)
        else _within_the_whole(one)
        for key, one in value.items()
    }


MAX_ERRORS = 10
"""Maximum number of errors that are reported for one value."""

MAX_ERROR_CHARS = 300
"""Maximum length of one error."""
_MAX_VALUE_CHARS = 40  # of the offending value, which the library repeats whole before the reason

_LONGEST_PATTERN = 10_000  # longest text, in characters, that is tested for being a pattern
_PER_STEP = 8  # items of a list or an object that are visited in about the time of a step
_CHARS_PER_STEP = 100  # of the message of an error
_SCHEMA = 3  # steps of any part of a schema
_REFERENCES = frozenset({"$ref", "$dynamicRef"})

_OWN = {
    "enum": check_enum,
    "const": check_const,
    "uniqueItems": check_unique_items,
    "pattern": check_pattern,
    "patternProperties": check_pattern_properties,
    "additionalProperties": check_additional_properties,
    "unevaluatedItems": check_unevaluated_items,
    "unevaluatedProperties": check_unevaluated_properties,
}
"""Keywords that the library evaluates by backtracking or in quadratic time."""


_LOOK_AROUND = re.compile(r"\(\?<?[=!]")
_FORMATS = FormatChecker(formats=())
"""Formats that metaschemas require beyond their keywords: a pattern must be a regular
expression."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """The result of validating a value by a schema."""

    errors: tuple[str, ...] = ()
    """Places where the value violates the schema, as far as they were found."""
    gave_up: str | None = None
    """Why validation is incomplete, which is not the value's fault; ``None`` when it is
    complete."""


def schema_problem(schema: Any, budget: Budget) -> str | None:
    """Return why ``schema`` is not a valid JSON Schema, as a sentence; ``None`` when it is.

    Raises:
        OutOfSteps: the check needs more work than ``budget``.
    """
    with apply_budget(budget):
        try:
            meta = get_metaschema(_find_validator(schema))
            kind = _bound_validator(validator_for(meta, default=Draft202012Validator))
            errors = kind(meta, registry=Registry(), format_checker=_FORMATS).iter_errors(schema)
            return next(map(describe_error, errors), None)
        except OutOfSteps:
            raise
        except Exception as error:  # noqa: BLE001 - the schema is others', and may break the validator in any way
            return f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARS]


def validate_value(
    value: Any, schema: Any, budget: Budget, *, most: int = MAX_ERRORS
) -> Validation:
    """Return where ``value`` violates ``schema``, which must be a valid JSON Schema.

    At most ``most`` errors are returned.
    """
    found, why = find_errors(value, schema, budget, most=most)
    return Validation(errors=tuple(map(describe_error, found)), gave_up=why)


def find_errors(
    value: Any, schema: Any, budget: Budget, *, most: int | None = None, kind: Any = None
) -> tuple[list[ValidationError], str | None]:
    """Return the errors of ``value`` by ``schema``, and why validation is incomplete, if it is.

    ``kind`` is the library's validator to use; the default is that of the draft that ``schema``
    declares.
    """
    found: list[ValidationError] = []
    why = None
    with apply_budget(budget):
        try:
            # An empty registry, so that a `$ref` never leaves the schema or the machine.
            bounded = _bound_validator(kind or _find_validator(schema))
            validator = bounded(schema, registry=Registry())
            with charge_searches(schema):
                found.extend(islice(validator.iter_errors(value), most))
        except OutOfSteps as error:
            why = f"to validate it takes {error}"
        except UnsupportedPattern as error:
            why = str(error)
        except Exception as error:  # noqa: BLE001 - as above: a `$ref` to nowhere, an endless recursion
            why = f"the schema could not be applied: {type(error).__name__}: {error}"
    return found, why and why[:MAX_ERROR_CHARS]


def meta_errors(schema: Any) -> Iterator[ValidationError]:
    """Yield where ``schema`` violates JSON Schema draft 2020-12; within a budget.

    Raises:
        OutOfSteps: the check needs too much work.
    """
    meta = get_metaschema(Draft202012Validator)
    yield from _bound_validator(Draft202012Validator)(meta, registry=Registry()).iter_errors(schema)


def _find_validator(schema: Any) -> Any:
    """Return the library's validator for the draft that ``schema`` declares."""
    return validator_for(schema, default=Draft202012Validator)


@cache
def _bound_validator(kind: Any) -> Any:
    """Return a validator of the same draft whose work is counted."""
    counted = {
        word: _count_steps(word, _OWN.get(word, function))
        for word, function in kind.VALIDATORS.items()
    }
    bounded: Any = extend(kind, counted)  # type: ignore[no-untyped-call]  # jsonschema's
    # The library's own would return its unbounded class for each part of a schema.
    bounded.evolve = _evolve
    return bounded


def _count_steps(word: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def apply(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        spend_steps(1 + (_count_things(wanted) + _count_things(value)) // _PER_STEP)
        if word in _REFERENCES:
            spend_on_reference(wanted)
        with enter_level():
            for error in function(validator, wanted, value, schema) or ():
                # Before it is paid for, so that it is reported even if it is the last within the
                # budget.
                yield error
                spend_steps(1 + len(error.message) // _CHARS_PER_STEP)

    return apply


def _evolve(self: Any, **changes: Any) -> Any:
    """Return the validator for a part of a schema.

    A part that declares another draft is bounded too.
    """
    schema = changes.get("schema", self.schema)
    spend_steps(_SCHEMA + _count_things(schema) // _PER_STEP)
    kind = type(self)
    if isinstance(schema, dict) and "$schema" in schema:
        kind = _bound_validator(_find_validator(schema))
    resolver = changes.get("_resolver", self._resolver)
    return kind(
        schema, registry=self._registry, format_checker=self.format_checker, _resolver=resolver
    )


def _count_things(value: Any) -> int:
    return len(value) if isinstance(value, list | dict) else 0


def describe_error(error: ValidationError) -> str:
    """Return where the value is wrong and why: ``at 'filter.size': 'x' is not of type 'integer'``.

    A value that fits none of several schemas is described by what is wrong by the nearest one,
    which names the field; the library's message only repeats the whole value.
    """
    words = ""
    while error.context:
        if all(map(_is_other_type, error.context)):
            types = dict.fromkeys(repr(part.validator_value) for part in error.context)
            value = _shorten_value(repr(error.instance))
            whole = f"{_format_place(error)}{value} is not of type {', '.join(types)}"
            return whole[:MAX_ERROR_CHARS]
        error = _find_nearest(error.context)
        words = " (by the nearest of the schemas allowed there)"
    value = repr(error.instance)
    reason = error.message
    if reason.startswith(value):  # the reason stands behind the value, however long that is
        reason = _shorten_value(value) + reason[len(value) :]
    return f"{_format_place(error)}{reason}"[: MAX_ERROR_CHARS - len(words)] + words


def _format_place(error: ValidationError) -> str:
    steps = ".".join(str(step) for step in error.absolute_path)
    return f"at {steps!r}: " if steps else ""


def _shorten_value(value: str) -> str:
    return value if len(value) <= _MAX_VALUE_CHARS else f"{value[:_MAX_VALUE_CHARS]}…"


def _is_other_type(error: ValidationError) -> bool:
    """Whether the value as a whole has another type than one of several schemas asks for."""
    return error.validator == "type" and not error.relative_path


def _find_nearest(errors: Sequence[ValidationError]) -> ValidationError:
    """Return the first error of the schema, among several, that the value comes nearest to.

    The library's `best_match` takes the shallowest error, which for an object that may also be null
    is that it is not null.
    """
    schemas: dict[Any, list[ValidationError]] = {}
    for error in errors:
        # The error of the schema ``false`` has no path.
        place = next(iter(error.relative_schema_path), id(error))
        schemas.setdefault(place, []).append(error)
    return min(schemas.values(), key=lambda found: (any(map(_is_other_type, found)), len(found)))[0]


@_FORMATS.checks("regex", raises=re.error)
def _is_pattern(text: object) -> bool:
    """Whether ``text`` is a regular expression: of RE2, apart from look-around, or of Python.

    A text that is too long counts as one.
    """
    if not isinstance(text, str) or len(text) > _LONGEST_PATTERN:
        return True
    try:
        matches_pattern(_LOOK_AROUND.sub("(?:", text), "")
    except UnsupportedPattern:
        re.compile(text)
    return True


STEPS = 10_000
"""Most validation steps for the arguments of one tool, about 50 ms; most tools need a tenth."""

_CONTROL = re.compile(r'\\[^"\\]')  # JSON's escapes of line breaks and other control characters
_LONGEST = 160  # characters of a value as JSON that fits into a prompt


def is_speakable(value: Any) -> bool:
    """Whether ``value`` is plain JSON, short, and on one line, so that a prompt can contain it."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return len(text) <= _LONGEST and text.isprintable() and _CONTROL.search(text) is None


def matches_schema(value: Any, schema: JsonObject, root: JsonObject) -> bool:
    """Whether ``value`` is valid for ``schema``, a part of ``root``, the base of references."""
    # References in the part are written for the root, so its definitions come along.
    shared = {word: root[word] for word in ("$defs", "definitions") if word in root}
    return is_valid(value, {**shared, "allOf": [schema]})


def is_valid(value: Any, schema: JsonObject) -> bool:
    """Whether ``value`` is valid for the whole ``schema``, as far as the budget allows."""
    budget = get_active_budget() or Budget(STEPS)
    return budget.left >= 0 and validate_value(value, dict(schema), budget, most=1) == Validation()
