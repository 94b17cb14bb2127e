"""What OpenAI's two APIs have in common.

The error body, and the rules for functions and parameters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.fake_provider.incoming import Json, Rejected
from tests.fake_provider.schema_dialects import LONGEST_DESCRIPTION, openai_problem
from tests.fake_provider.schemas import problem_2020_12

FUNCTION_NAME = re.compile(r"[a-zA-Z0-9_-]+")
MAX_NAME = 64
MAX_TOOLS = 128
REASONING_MODEL = re.compile(r"(o\d|gpt-5)")
"""Models that take neither ``max_tokens`` nor a temperature."""
BARRED_AT_TOP = frozenset({"oneOf", "anyOf", "allOf", "enum", "not"})


def error(status: int, message: str, param: str | None = None, code: str | None = None) -> Json:
    """Return the body of an error."""
    kind = {429: "rate_limit_exceeded", 403: "permission_error"}.get(status)
    kind = kind or ("server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


# ── Fields ───────────────────────────────────────────────────────────────────────────────────


def missing(path: str) -> Rejected:
    """Return the error for a field that is not there."""
    return Rejected(
        f"Missing required parameter: '{path}'.", param=path, code="missing_required_parameter"
    )


def unknown(path: str) -> Rejected:
    """Return the error for a field that does not exist."""
    return Rejected(f"Unknown parameter: '{path}'.", param=path, code="unknown_parameter")


def wrong_type(path: str, expected: str, value: Any) -> Rejected:
    """Return the error for a value of another type, naming both."""
    names = {
        type(None): "null",
        bool: "a boolean",
        int: "an integer",
        float: "a decimal",
        str: "a string",
    }
    got = names.get(type(value), "an object" if isinstance(value, dict) else "an array")
    return Rejected(
        f"Invalid type for '{path}': expected {expected}, but got {got} instead.",
        param=path,
        code="invalid_type",
    )


def check_keys(path: str, value: Any, required: str, optional: str) -> None:
    """Hold an object's keys against two blank-separated lists."""
    if not isinstance(value, dict):
        raise wrong_type(path, "an object", value)
    for name in required.split():
        if name not in value:
            raise missing(f"{path}.{name}")
    for name in value:
        if name not in required.split() and name not in optional.split():
            raise unknown(f"{path}.{name}")


def check_string(path: str, value: Any, max_length: int | None = None) -> None:
    """Hold a value to be a string of a certain length."""
    if not isinstance(value, str):
        raise wrong_type(path, "a string", value)
    if max_length is not None and len(value) > max_length:
        raise Rejected(
            f"Invalid '{path}': string too long. Expected a string with maximum length "
            f"{max_length}, but got a string "
            f"with length {len(value)} instead.",
            param=path,
            code="string_above_max_length",
        )


def check_not_empty(path: str, value: Any) -> None:
    """Hold a value to be a list of at least one."""
    if not isinstance(value, list):
        raise wrong_type(path, "an array of objects", value)
    if not value:
        raise Rejected(
            f"Invalid '{path}': empty array. Expected an array with minimum length 1, but got an "
            f"empty array instead.",
            param=path,
            code="empty_array",
        )


def check_top_level(body: Json, fields: frozenset[str], required: tuple[str, ...]) -> None:
    """Hold the request's own fields: known, and there."""
    for name in body:
        if name not in fields:
            raise unknown(name)
    for name in required:
        if name not in body:
            raise missing(name)
    check_string("model", body["model"])
    if not 0 <= (body.get("temperature") or 0) <= 2:
        raise Rejected(
            "Invalid 'temperature': expected a value between 0 and 2.", param="temperature"
        )
    _check_reasoning_model(body)
    if "tools" in body:
        check_not_empty("tools", body["tools"])
        if len(body["tools"]) > MAX_TOOLS:
            raise Rejected(
                f"Invalid 'tools': array too long. Expected an array with maximum length "
                f"{MAX_TOOLS}, but got an "
                f"array with length {len(body['tools'])} instead.",
                param="tools",
                code="array_above_max_length",
            )
        return
    for name in ("tool_choice", "parallel_tool_calls"):
        if name in body:
            raise Rejected(
                f"Invalid value for '{name}': only allowed when 'tools' are specified.", param=name
            )


def check_stream(body: Json, known: str) -> None:
    """Hold what is said about streaming; ``known`` are the options that the API has."""
    if not isinstance(body.get("stream") or False, bool):
        raise wrong_type("stream", "a boolean", body["stream"])
    options = body.get("stream_options")
    if options is None:
        return
    if not body.get("stream"):
        raise Rejected(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            param="stream_options",
        )
    check_keys("stream_options", options, "", known)


def _check_reasoning_model(body: Json) -> None:
    if not REASONING_MODEL.match(body["model"]):
        return
    if "max_tokens" in body:
        raise Rejected(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' "
            "instead.",
            param="max_tokens",
            code="unsupported_parameter",
        )
    if body.get("temperature", 1) != 1:
        raise Rejected(
            f"Unsupported value: 'temperature' does not support {body['temperature']} with this "
            f"model. Only the "
            "default (1) value is supported.",
            param="temperature",
            code="unsupported_value",
        )


def check_tool_choice(choice: Any, chosen: Any, names: list[str]) -> None:
    """Hold ``tool_choice``; ``chosen`` is the function's name inside it, if it is an object."""
    if isinstance(choice, dict):
        if choice.get("type") != "function" or chosen not in names:
            raise Rejected(
                f"Tool choice {chosen!r} not found in 'tools' parameter.", param="tool_choice"
            )
    elif choice not in (None, "auto", "none", "required"):
        raise Rejected(
            f"Invalid value: {choice!r}. Supported values are: 'none', 'auto' and 'required'."
        )


# ── Functions ────────────────────────────────────────────────────────────────────────────────


def check_function(path: str, function: Json, schema_param: str) -> None:
    """Hold a function's name, description and schema."""
    name = function["name"]
    check_string(f"{path}.name", name, MAX_NAME)
    if not FUNCTION_NAME.fullmatch(name):
        raise Rejected(
            f"Invalid '{path}.name': string does not match pattern. Expected a string that matches "
            f"the pattern "
            "'^[a-zA-Z0-9_-]+$'.",
            param=f"{path}.name",
            code="invalid_value",
        )
    if function.get("description") is not None:
        check_string(f"{path}.description", function["description"], LONGEST_DESCRIPTION)
    schema = function.get("parameters")
    problem = (
        None if schema is None else _schema_problem(schema, strict=function.get("strict") is True)
    )
    if problem:
        raise Rejected(
            f"Invalid schema for function '{name}': {problem}",
            param=schema_param,
            code="invalid_function_parameters",
        )


def _schema_problem(schema: Any, *, strict: bool) -> str | None:
    if not isinstance(schema, dict):
        return f"{json.dumps(schema)} is not of type 'object', 'boolean'."
    if schema.get("type") != "object":
        return (
            f"schema must be a JSON Schema of 'type: \"object\"', got 'type: "
            f'"{schema.get("type")}"\'.'
        )
    if schema.keys() & BARRED_AT_TOP:
        return (
            "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' "
            "at the top level."
        )
    if problem := problem_2020_12(schema) or openai_problem(schema):
        return problem
    if "properties" not in schema:
        return "In context=(), object schema missing properties."
    return next(_nested_problems(schema, (), strict=strict), None)


def _nested_problems(schema: Any, context: tuple[str, ...], *, strict: bool) -> Iterator[str]:
    """Yield what is wrong at any depth.

    Arrays say what they hold, strict objects are closed and complete.
    """
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "array" and "items" not in schema:
        yield f"In context={context}, array schema missing items."
    if strict and schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            yield (
                f"In context={context}, 'additionalProperties' is required to be supplied and "
                f"to "
                f"be false."
            )
        if absent := schema.get("properties", {}).keys() - set(schema.get("required", ())):
            yield (
                f"In context={context}, 'required' is required to be supplied and to be an array "
                f"including every key "
                f"in properties. Missing '{min(absent)}'."
            )
    for name, inner in schema.get("properties", {}).items():
        yield from _nested_problems(inner, (*context, "properties", name), strict=strict)
    for key in ("items", "additionalProperties"):
        yield from _nested_problems(schema.get(key), (*context, key), strict=strict)
    for key in ("anyOf", "oneOf", "allOf"):
        for number, inner in enumerate(schema.get(key, ())):
            yield from _nested_problems(inner, (*context, key, str(number)), strict=strict)


def check_arguments(path: str, arguments: Any, issued: str | None) -> None:
    """Hold a call's arguments.

    A string of JSON, or just what was sent although it is not (``issued``).
    """
    check_string(path, arguments)
    if arguments == issued:
        return
    try:
        json.loads(arguments)
    except RecursionError:
        return  # JSON, as far as anybody reads it
    except ValueError as problem:
        raise Rejected(
            f"Invalid '{path}': expected a string of JSON.", param=path, code="invalid_value"
        ) from problem
