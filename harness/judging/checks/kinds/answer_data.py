"""Checks on what the answer holds as data: ``answer_json`` and ``answer_number``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Context, Decimal
from typing import Any
from urllib.parse import unquote

from jsonschema import FormatChecker
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import Draft202012Validator, extend

from harness.base import Budget, InvalidValue, did_you_mean, find_errors
from harness.judging.checks.explaining.missing_call import (
    explain_no_calls,
    explain_no_result,
    hint_without_calls,
)
from harness.judging.checks.explaining.transcript_lines import describe_ending, no_answer
from harness.judging.checks.kind import (
    NOTHING_WRONG,
    CheckDoc,
    CheckFinding,
    Evidence,
    Explanation,
    FunctionKind,
    make_list_reader,
    make_single_reader,
    single_or_list_schema,
)
from harness.judging.checks.kinds.answer_text import clip_answer
from harness.judging.checks.parsing import (
    either_form,
    long_form,
    read_either_form,
    read_mapping,
    read_number,
)
from harness.judging.checks.witness.expectations import allows_nothing
from harness.judging.matching.amounts import Amount, check_tolerance, find_amounts, is_close
from harness.judging.matching.json_values import (
    MISSING,
    find_json,
    format_value,
    is_number,
    load_strict_json,
    shorten_value,
    to_plain_json,
)
from harness.judging.matching.texts import check_pattern, clip_text, format_line
from harness.types import JsonObject, JsonPath

_NO_FORMATS = FormatChecker(())  # the default one for patterns uses another syntax than RE2
_NAMED_SCHEMAS = ("properties", "$defs", "definitions", "dependentSchemas")
_LISTED_SCHEMAS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SCHEMAS = (
    *("additionalProperties", "unevaluatedProperties", "propertyNames", "items"),
    *("unevaluatedItems", "contains", "not", "if", "then", "else"),
)
# fmt: off
_KEYWORDS = frozenset({
    *_NAMED_SCHEMAS, *_LISTED_SCHEMAS, *_SCHEMAS, "$anchor", "$comment", "$dynamicAnchor",
    "$dynamicRef", "$id", "$ref", "$schema", "$vocabulary", "const", "contentEncoding",
    "contentMediaType", "contentSchema", "default", "dependentRequired", "deprecated",
    "description", "enum", "examples", "exclusiveMaximum", "exclusiveMinimum", "format",
    "maxContains", "maxItems", "maxLength", "maxProperties", "maximum", "minContains", "minItems",
    "minLength", "minProperties", "minimum", "multipleOf", "pattern", "patternProperties",
    "readOnly", "required", "title", "type", "uniqueItems", "writeOnly",
})
# fmt: on
_INSTEAD = {
    "dependencies": "Write dependentRequired or dependentSchemas.",
    "additionalItems": "Write prefixItems for the first elements, and items for those after them.",
    "nullable": "Write type: [string, 'null'].",
}
_STEPS = 200_000  # of validation, for one answer: a second at worst
# Digits: more than a number of JSON can have before and after its point.
_EXACT = Context(prec=5_000)


# ── answer_json ──────────────────────────────────────────────────────────────────────────────


def _validate_multiple(
    _validator: Any, step: float, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    # As decimals: 19.99 is a multiple of 0.01, though not as floats.
    written = Decimal(str(instance)) if is_number(instance) else Decimal(0)
    if not written.is_finite() or _EXACT.remainder(written, Decimal(str(step))) != 0:
        yield ValidationError(f"{format_value(instance)} is not a multiple of {format_value(step)}")


_Validator = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {"multipleOf": _validate_multiple}
)
"""JSON Schema, with decimals taken as written."""


def _read_json(value: Any) -> JsonObject:
    if isinstance(value, Mapping) and "schema" in value:
        found = read_mapping(value, (), required=("schema",))
        _check_schema(found["schema"], ("schema",))
        return found
    if isinstance(value, Mapping) and "severity" in value:
        raise InvalidValue(
            "severity is not a keyword of JSON Schema",
            path=("severity",),
            meant="Write {schema: {…}, severity: warn}.",
        )
    schema = to_plain_json(value)
    _check_schema(schema, ())
    return {"schema": schema}


def _check_schema(schema: Any, path: JsonPath) -> None:
    if not isinstance(schema, bool | Mapping):
        raise InvalidValue(f"a JSON Schema is a mapping, not {format_value(schema)}", path=path)
    try:
        Draft202012Validator.check_schema(schema, format_checker=_NO_FORMATS)
    except SchemaError as error:
        where = (*path, *error.absolute_path)
        raise InvalidValue(
            f"this is not valid JSON Schema: {format_line(error.message)}", path=where
        ) from error
    except RecursionError as error:
        raise InvalidValue("this schema is nested too deeply", path=path) from error
    parts = dict(_iterate_schemas(schema, ()))
    if allows_nothing(schema):
        raise InvalidValue("no answer is valid by this schema, so it cannot hold", path=path)
    for place, part in parts.items():
        _check_part(part, (*path, *place), {tuple(map(str, place)) for place in parts})


def _iterate_schemas(schema: Any, path: JsonPath) -> Iterator[tuple[JsonPath, Any]]:
    """Yield every schema inside a schema, itself first, with its place."""
    yield path, schema
    for key, part in schema.items() if isinstance(schema, Mapping) else ():
        inside = (*path, key)
        if key in _NAMED_SCHEMAS:
            for name, named in part.items():
                yield from _iterate_schemas(named, (*inside, name))
        elif key in _LISTED_SCHEMAS:
            for index, listed in enumerate(part):
                yield from _iterate_schemas(listed, (*inside, index))
        elif key in _SCHEMAS:
            yield from _iterate_schemas(part, inside)


def _check_part(schema: Any, path: JsonPath, places: set[tuple[str, ...]]) -> None:
    """Refuse keywords without effect, patterns beyond RE2, and references that lead nowhere."""
    for key, part in schema.items() if isinstance(schema, Mapping) else ():
        inside = (*path, key)
        if key not in _KEYWORDS and not key.startswith("x-"):
            raise InvalidValue(
                f"{format_value(key)} is not a keyword of JSON Schema: it has no effect",
                path=inside,
                meant=did_you_mean(key, _KEYWORDS)
                or _INSTEAD.get(key, "A note belongs under $comment."),
            )
        if key == "pattern":
            check_pattern(part, inside)
        # The validator would match it with an engine that can hang.
        elif key == "patternProperties":
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
            steps = unquote(part).split("/")[1:]
            if tuple(step.replace("~1", "/").replace("~0", "~") for step in steps) not in places:
                raise InvalidValue(f"there is no schema at {format_value(part)}", path=inside)


def _judge_json(params: JsonObject, evidence: Evidence) -> CheckFinding:
    value = find_json(evidence.transcript.answer)
    found = CheckFinding(
        label="",
        expected={"schema": params["schema"]},
        actual=clip_answer(evidence) if value is MISSING else shorten_value(value),
    )
    if value is MISSING:
        hint = "Ask in the prompt for JSON and nothing else, and name the fields."
        return replace(found, why=(_not_json(evidence), hint))
    errors, gave_up = find_errors(value, params["schema"], Budget(_STEPS), kind=_Validator)
    if errors:
        hint = "Name the field, its type and its form in the prompt, or relax the schema."
        return replace(found, why=(_schema_errors(errors), hint))
    if gave_up is not None:
        words = f"The answer could not be fully validated against the schema: {gave_up}"
        return replace(found, verdict="not_judged", why=([words], None))
    return found


def _not_json(evidence: Evidence) -> list[str]:
    transcript, answer = evidence.transcript, evidence.transcript.answer
    if not answer.strip():
        ended = f"The conversation ended {describe_ending(transcript)}."
        told = no_answer(transcript) if transcript.only_thinking else ended
        return ["Answer is not JSON: there is none", told]
    try:
        load_strict_json(answer)
    except (ValueError, RecursionError) as error:
        return [
            f"Answer is not JSON: {format_line(str(error))}",
            f"It begins: “{format_line(answer, 200)}”",
        ]
    return ["Answer is not JSON"]


def _schema_errors(errors: Sequence[ValidationError]) -> list[str]:
    places = f"{len(errors)} place{'s' if len(errors) > 1 else ''}"
    lines = [f"Answer does not fit the JSON Schema, in {places}:"]
    lines += [
        f"  {format_line(error.json_path, 60)}: {format_line(error.message, 160)}"
        for error in sorted(errors, key=lambda error: len(error.absolute_path))[:6]
    ]
    return [*lines, f"  … and {len(errors) - 6} more"] if len(errors) > 6 else lines  # noqa: PLR2004


ANSWER_JSON = FunctionKind(
    name="answer_json",
    needs_model=True,
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
    read=make_single_reader(_read_json),
    judge=_judge_json,
    doc=CheckDoc(
        section="Answers",
        asks=(
            "the answer, or the first code block of it that is JSON, fits this JSON "
            "Schema (2020-12); `multipleOf` takes decimals as they are written, `format` "
            "is a note, and an unknown keyword is refused; what takes more than 200,000 "
            "[steps](servers.md#schemas-of-tools) is not judged"
        ),
        fails=("Answer is not JSON: …", "Answer does not fit the JSON Schema, in 2 places:"),
        example="answer_json: {type: object, required: [id]}  # long: {schema: {…}}",
    ),
)


# ── answer_number ────────────────────────────────────────────────────────────────────────────


def _read_number(value: Any, path: JsonPath) -> JsonObject:
    found = read_either_form(value, path, "value", read_number, optional=("tolerance",))
    if "tolerance" in found:
        check_tolerance(found["tolerance"], (*path, "tolerance"))
    return found


def _judge_number(params: JsonObject, evidence: Evidence) -> CheckFinding:
    wanted, tolerance = params["value"], params.get("tolerance", 0)
    found = list(find_amounts(evidence.transcript.answer))
    hit = any(is_close(wanted, reading, tolerance) for one in found for reading in one.readings)
    return CheckFinding(
        label=f"{format_value(wanted)}{f' ± {tolerance}' if tolerance else ''}",
        expected={"value": wanted, "tolerance": tolerance},
        actual=[format_line(amount.text, 60) for amount in found[:20]],
        why=NOTHING_WRONG if hit else _explain_number(params, found, evidence),
    )


def _explain_number(params: JsonObject, found: list[Amount], evidence: Evidence) -> Explanation:
    wanted = params["value"]
    room = f" (tolerance {params['tolerance']})" if "tolerance" in params else ""
    lines = [f"Answer does not contain expected number: {format_value(wanted)}{room}"]
    if not found:
        said = format_line(evidence.transcript.answer, 200)
        lines.append(
            f"There is no number in the answer: “{said}”" if said else "There is no answer."
        )
        hint = "Ask for the figure in the prompt, and see whether a tool returned it."
        if not evidence.transcript.tool_calls:
            lines.append(explain_no_calls(evidence.transcript))
            hint = hint_without_calls(evidence.transcript, hint)
        return lines, hint
    nearest, reading = min(
        ((amount, reading) for amount in found for reading in amount.readings),
        key=lambda pair: abs(pair[1] - wanted),
    )
    texts = ", ".join(dict.fromkeys(format_line(amount.text, 30) for amount in found))
    lines += [
        f"Nearest number: “{format_line(nearest.text, 60)}”, off by {abs(reading - wanted):g}",
        f"Numbers: {clip_text(texts, 200)}",
    ]
    if is_close(wanted, reading, "2%"):
        return lines, 'It is near: allow for rounding with {value: …, tolerance: "1%"}.'
    if not evidence.transcript.tool_calls:
        reasons, advice = explain_no_result({}, evidence)
        return [*lines, *reasons], advice
    return lines, (
        "See whether the tools returned this figure, and whether the expected one is up to date."
    )


ANSWER_NUMBER = FunctionKind(
    name="answer_number",
    needs_model=True,
    schema=single_or_list_schema(
        either_form(
            "value",
            {"type": "number"},
            tolerance={"anyOf": [{"type": "number", "minimum": 0}, {"type": "string"}]},
        )
    ),
    read=make_list_reader(_read_number),
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
