"""Checks on what the answer holds as data: ``answer_json`` and ``answer_number``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Context, Decimal
from typing import Any
from urllib.parse import unquote

from jsonschema import FormatChecker
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import Draft202012Validator, extend

from harness.base import Budget, InvalidValue, did_you_mean, find_errors
from harness.judging.checks import Evidence
from harness.judging.checks.explaining.no_calls import hint_without_calls, without_calls
from harness.judging.checks.explaining.transcript_lines import ending, no_answer
from harness.judging.checks.kind import (
    CheckDoc,
    CheckFinding,
    Kind,
    one_or_list,
    passed_if,
    several,
    single,
)
from harness.judging.checks.kinds.answer_text import kept
from harness.judging.checks.parsing import long_form, mapping, number
from harness.judging.checks.witness.expectations import allows_nothing
from harness.judging.matching.amounts import Amount, amounts, check_tolerance, close
from harness.judging.matching.json_in_text import MISSING, json_in, loads
from harness.judging.matching.json_values import brief, is_number, plain, show
from harness.judging.matching.patterns import check_pattern
from harness.judging.matching.texts import clip, line
from harness.types import JsonObject, JsonPath

_NO_FORMATS = FormatChecker(())  # the default one for patterns uses another syntax than RE2
_NAMED_SCHEMAS = ("properties", "$defs", "definitions", "dependentSchemas")
_LISTED_SCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems")
# fmt: off
_SCHEMAS = (
    "additionalProperties", "unevaluatedProperties", "propertyNames", "items", "unevaluatedItems",
    "contains",
    "not", "if", "then", "else",
)
_KEYWORDS = frozenset({
    *_NAMED_SCHEMAS, *_LISTED_SCHEMAS, *_SCHEMAS, "$anchor", "$comment", "$dynamicAnchor",
    "$dynamicRef", "$id", "$ref",
    "$schema", "$vocabulary", "const", "contentEncoding", "contentMediaType", "contentSchema",
    "default",
    "dependentRequired", "deprecated", "description", "enum", "examples", "exclusiveMaximum",
    "exclusiveMinimum",
    "format", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum", "minContains",
    "minItems",
    "minLength", "minProperties", "minimum", "multipleOf", "pattern", "patternProperties",
    "readOnly", "required",
    "title", "type", "uniqueItems", "writeOnly",
})
# fmt: on
_INSTEAD = {
    "dependencies": "Write dependentRequired or dependentSchemas.",
    "additionalItems": "Write prefixItems for the first elements, and items for those after them.",
    "nullable": "Write type: [string, 'null'].",
}
_STEPS = 200_000  # of validation, for one answer: a second at worst
_EXACT = Context(
    prec=5_000
)  # digits: more than a number of JSON can have before and after its point


# ── answer_json ──────────────────────────────────────────────────────────────────────────────


def _multiple_of(
    _validator: Any, step: float, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    if is_number(instance) and not _is_multiple(instance, step):
        yield ValidationError(f"{show(instance)} is not a multiple of {show(step)}")


def _is_multiple(value: float, step: float) -> bool:
    """Whether the decimals as written divide: 19.99 is a multiple of 0.01, though not as floats."""
    written = Decimal(str(value))
    return written.is_finite() and _EXACT.remainder(written, Decimal(str(step))) == 0


_Validator = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"multipleOf": _multiple_of}
)
"""JSON Schema, with decimals taken as written."""


def _read_json(value: Any) -> JsonObject:
    if isinstance(value, Mapping) and "schema" in value:
        found = mapping(value, (), required=("schema",))
        _check_schema(found["schema"], ("schema",))
        return found
    if isinstance(value, Mapping) and "severity" in value:
        raise InvalidValue(
            "severity is not a keyword of JSON Schema",
            path=("severity",),
            meant="Write {schema: {…}, severity: warn}.",
        )
    schema = plain(value)
    _check_schema(schema, ())
    return {"schema": schema}


def _check_schema(schema: Any, path: JsonPath) -> None:
    if not isinstance(schema, bool | Mapping):
        raise InvalidValue(f"a JSON Schema is a mapping, not {show(schema)}", path=path)
    try:
        Draft202012Validator.check_schema(schema, format_checker=_NO_FORMATS)
    except SchemaError as error:
        where = (*path, *error.absolute_path)
        raise InvalidValue(
            f"this is not valid JSON Schema: {line(error.message)}", path=where
        ) from error
    except RecursionError as error:
        raise InvalidValue("this schema is nested too deeply", path=path) from error
    parts = dict(_parts(schema, ()))
    if allows_nothing(schema):
        raise InvalidValue("no answer is valid by this schema, so it cannot hold", path=path)
    for place, part in parts.items():
        _check_part(part, (*path, *place), {tuple(map(str, place)) for place in parts})


def _parts(schema: Any, path: JsonPath) -> Iterator[tuple[JsonPath, Any]]:
    """Yield every schema inside a schema, itself first, with its place."""
    yield path, schema
    for key, part in schema.items() if isinstance(schema, Mapping) else ():
        inside = (*path, key)
        if key in _NAMED_SCHEMAS:
            for name, named in part.items():
                yield from _parts(named, (*inside, name))
        elif key in _LISTED_SCHEMAS:
            for index, listed in enumerate(part):
                yield from _parts(listed, (*inside, index))
        elif key in _SCHEMAS:
            yield from _parts(part, inside)


def _check_part(schema: Any, path: JsonPath, places: set[tuple[str, ...]]) -> None:
    """Refuse keywords without effect, patterns beyond RE2, and references that lead nowhere."""
    for key, part in schema.items() if isinstance(schema, Mapping) else ():
        inside = (*path, key)
        if key not in _KEYWORDS and not key.startswith("x-"):
            meant = (
                did_you_mean(key, _KEYWORDS)
                or _INSTEAD.get(key)
                or "A note belongs under $comment."
            )
            raise InvalidValue(
                f"{show(key)} is not a keyword of JSON Schema: it has no effect",
                path=inside,
                meant=meant,
            )
        if key == "pattern":
            check_pattern(part, inside)
        elif (
            key == "patternProperties"
        ):  # the validator would match it with an engine that can hang
            raise InvalidValue(
                "patternProperties is not supported",
                path=inside,
                meant="Use additionalProperties for the values and propertyNames: {pattern: …} for "
                "the keys.",
            )
        elif key in ("$ref", "$dynamicRef", "$id"):
            if key != "$ref" or not (part == "#" or part.startswith("#/")):
                raise InvalidValue(
                    "a schema may only refer to parts of itself, by $ref: '#/$defs/…'", path=inside
                )
            if _target(part) not in places:
                raise InvalidValue(f"there is no schema at {show(part)}", path=inside)


def _target(reference: str) -> tuple[str, ...]:
    return tuple(
        step.replace("~1", "/").replace("~0", "~") for step in unquote(reference).split("/")[1:]
    )


def _judge_json(params: JsonObject, evidence: Evidence) -> CheckFinding:
    answer = evidence.transcript.answer
    value = json_in(answer)
    lines: list[str] = []
    hint = None
    verdict = passed_if(value is not MISSING)
    if value is MISSING:
        lines, hint = (
            _not_json(evidence),
            "Ask in the prompt for JSON and nothing else, and name the fields.",
        )
    else:
        found, gave_up = find_errors(value, params["schema"], Budget(_STEPS), kind=_Validator)
        errors = sorted(found, key=_depth)
        lines = _schema_errors(errors)
        verdict = passed_if(not errors)
        hint = (
            "Name the field, its type and its form in the prompt, or relax the schema."
            if errors
            else None
        )
        if gave_up is not None and not errors:
            verdict = "not_judged"
            lines = [f"The answer could not be fully validated against the schema: {gave_up}"]
    return CheckFinding(
        label="",
        verdict=verdict,
        expected={"schema": params["schema"]},
        actual=kept(evidence) if value is MISSING else brief(value),
        explanation=lines,
        hint=hint,
    )


def _not_json(evidence: Evidence) -> list[str]:
    answer = evidence.transcript.answer
    if not answer.strip():
        return [
            "Answer is not JSON: there is none",
            no_answer(evidence.transcript)
            if evidence.transcript.only_thinking
            else f"The conversation ended {ending(evidence.transcript)}.",
        ]
    try:
        loads(answer)
    except (ValueError, RecursionError) as error:
        return [f"Answer is not JSON: {line(str(error))}", f"It begins: “{line(answer, 200)}”"]
    return ["Answer is not JSON"]


def _depth(error: ValidationError) -> int:
    return len(error.absolute_path)


def _schema_errors(errors: list[ValidationError]) -> list[str]:
    if not errors:
        return []
    told = [f"  {line(error.json_path, 60)}: {line(error.message, 160)}" for error in errors[:6]]
    more = [f"  … and {len(errors) - 6} more"] if len(errors) > len(told) else []
    return [
        (
            f"Answer does not fit the JSON Schema, in {len(errors)} "
            f"place{'s' if len(errors) > 1 else ''}:"
        ),
        *told,
        *more,
    ]


ANSWER_JSON = Kind(
    name="answer_json",
    schema={
        "anyOf": [
            {"type": "boolean"},
            {
                "type": "object",
                "not": {"anyOf": [{"required": ["schema"]}, {"required": ["severity"]}]},
            },
            long_form({"schema": {"type": ["object", "boolean"]}}, required=("schema",)),
        ]
    },
    read=single(_read_json),
    judge=_judge_json,
    doc=CheckDoc(
        section="Answers",
        asks=(
            "the answer, or the first code block of it that is JSON, fits this JSON "
            "Schema (2020-12); `multipleOf` takes decimals as they are written, `format` "
            "is a note, and an unknown keyword is refused; what takes more than 200,000 "
            "[steps](servers.md#schemas-of-tools) is not judged"
        ),
        fails=(
            "Answer is not JSON: …",
            "Answer does not fit the JSON Schema, in 2 places:",
        ),
        example="answer_json: {type: object, required: [id]}  # long: {schema: {…}}",
    ),
)


# ── answer_number ────────────────────────────────────────────────────────────────────────────


def _read_number(value: Any, path: JsonPath) -> JsonObject:
    if not isinstance(value, Mapping):
        return {"value": number(value, path)}
    found = mapping(value, path, required=("value",), optional=("tolerance",))
    number(found["value"], (*path, "value"))
    if "tolerance" in found:
        check_tolerance(found["tolerance"], (*path, "tolerance"))
    return found


def _judge_number(params: JsonObject, evidence: Evidence) -> CheckFinding:
    wanted, tolerance = params["value"], params.get("tolerance", 0)
    found = list(amounts(evidence.transcript.answer))
    hit = any(close(wanted, reading, tolerance) for amount in found for reading in amount.readings)
    lines, hint = ([], None) if hit else _explain_number(params, found, evidence)
    told = f" ± {tolerance}" if tolerance else ""
    return CheckFinding(
        label=f"{show(wanted)}{told}",
        verdict=passed_if(hit),
        expected={"value": wanted, "tolerance": tolerance},
        actual=[line(amount.text, 60) for amount in found[:20]],
        explanation=lines,
        hint=hint,
    )


def _explain_number(
    params: JsonObject, found: list[Amount], evidence: Evidence
) -> tuple[list[str], str]:
    wanted = params["value"]
    room = f" (tolerance {params['tolerance']})" if "tolerance" in params else ""
    lines = [f"Answer does not contain expected number: {show(wanted)}{room}"]
    if not found:
        said = line(evidence.transcript.answer, 200)
        lines.append(
            f"There is no number in the answer: “{said}”" if said else "There is no answer."
        )
        hint = "Ask for the figure in the prompt, and see whether a tool returned it."
        if not evidence.transcript.tool_calls:
            lines.append(without_calls(evidence.transcript))
            hint = hint_without_calls(evidence.transcript, hint)
        return lines, hint
    nearest, reading = min(
        ((amount, reading) for amount in found for reading in amount.readings),
        key=lambda pair: abs(pair[1] - wanted),
    )
    texts = clip(", ".join(dict.fromkeys(line(amount.text, 30) for amount in found)), 200)
    lines += [
        f"Nearest number: “{line(nearest.text, 60)}”, off by {abs(reading - wanted):g}",
        f"Numbers: {texts}",
    ]
    if close(wanted, reading, "2%"):
        return lines, 'It is near: allow for rounding with {value: …, tolerance: "1%"}.'
    if not evidence.transcript.tool_calls:
        hint = hint_without_calls(evidence.transcript, "Ask for data that only a tool can know.")
        return [*lines, without_calls(evidence.transcript)], hint
    return (
        lines,
        "See whether the tools returned this figure, and whether the expected one is up to date.",
    )


_NUMBER: JsonObject = {"type": "number"}

ANSWER_NUMBER = Kind(
    name="answer_number",
    schema=one_or_list(
        {
            "anyOf": [
                _NUMBER,
                long_form(
                    {
                        "value": _NUMBER,
                        "tolerance": {
                            "anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]
                        },
                    },
                    required=("value",),
                ),
            ]
        }
    ),
    read=several(_read_number),
    judge=_judge_number,
    doc=CheckDoc(
        section="Answers",
        asks=(
            "the answer contains the number, in any notation: `1,234.50`, `1.234,50 €`, "
            "`$1.2k`, `1.2 million`, `12%` (12 or 0.12), `−3`, `minus 3`, `twenty-three`,"
            " `a hundred`, `1½`, `3/4` (0.75 alone), `10⁶`, `１００`, `1 x 10^3` "
            "(1,000 alone). It is read whole or not at all: dates, times, versions and "
            "telephones are no numbers. The "
            "markers of a numbered list, the "
            'digits of a name (`ABC-42`) and *one* in "no one" or "one of them" do not count'
        ),
        fails=("Answer does not contain expected number: …",),
        example='answer_number: {value: 1234.5, tolerance: "1%"}  # short: 1234.5',
    ),
)
