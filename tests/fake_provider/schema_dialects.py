"""What the APIs refuse inside the schema of a tool, in their own words.

Written from the providers' documents and errors, and not from the rules of harness.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.fake_provider.schemas import words

LONGEST_DESCRIPTION = 1024
"""Of a function, for OpenAI."""

_GEMINI_FIELDS = words(
    "type format title description nullable enum maxItems minItems properties required "
    "minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering "
    "default items minimum maximum"
)
_GEMINI_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")


def regex_problem(pattern: str) -> str | None:
    """Return what a linear regex engine says of a pattern that needs backtracking."""
    if re.search(r"\(\?(?:<?!|<?=)", pattern):
        return "look-around, including look-ahead and look-behind, is not supported"
    if re.search(r"\\[1-9]|\(\?P=|\\k<", pattern):
        return "backreferences are not supported"
    return None


def children(schema: Any) -> Iterator[tuple[str, Any]]:
    """Yield every schema directly inside ``schema`` with its step."""
    if not isinstance(schema, dict):
        return
    for word in ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"):
        if isinstance(schema.get(word), dict):
            for name, part in schema[word].items():
                yield f"{word}.{name}", part
    for word in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if isinstance(schema.get(word), list):
            for place, part in enumerate(schema[word]):
                yield f"{word}[{place}]", part
    for word in ("items", "not", "if", "then", "else", "contains", "additionalProperties"):
        if word in schema:
            yield word, schema[word]


def openai_problem(schema: Any, path: str = "") -> str | None:
    """Return OpenAI's words on a pattern or a reference that it refuses, at any depth."""
    if isinstance(schema, dict):
        if isinstance(pattern := schema.get("pattern"), str) and (why := regex_problem(pattern)):
            return f"In context=({path}), '{pattern}' is not a valid 'regex': {why}."
        reference = schema.get("$ref")
        if isinstance(reference, str) and not reference.startswith("#"):
            return f"In context=({path}), $ref '{reference}' must start with '#'."
    found = (openai_problem(part, f"{path}.{step}") for step, part in children(schema))
    return next((problem for problem in found if problem), None)


def gemini_problem(schema: Any, path: str = "parameters") -> str | None:
    """Return what Gemini's compatible endpoint says of a schema."""
    return next(_gemini_problems(schema, path), None)


def _gemini_problems(schema: Any, path: str) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"Invalid value at '{path}' (type.googleapis.com/Schema), {json.dumps(schema)}"
        return
    for name in schema.keys() - _GEMINI_FIELDS:
        yield (
            f"Invalid JSON payload received. Unknown name \"{name}\" at '{path}': Cannot find "
            "field."
        )
    yield from _gemini_type_problems(schema, path)
    for place, value in enumerate(schema.get("enum", ())):
        if not isinstance(value, str):
            yield f"Invalid value at '{path}.enum[{place}]' (TYPE_STRING), {json.dumps(value)}"
        elif not value:
            yield f"{path}.enum[{place}]: cannot be empty"
    for place, name in enumerate(schema.get("required", ())):
        if name not in schema.get("properties", {}):
            yield f"{path}.required[{place}]: property is not defined"
    if isinstance(pattern := schema.get("pattern"), str) and (why := regex_problem(pattern)):
        yield f"{path}.pattern: {why}"
    for step, part in children(schema):
        yield from _gemini_problems(part, f"{path}.{step}")


def _gemini_type_problems(schema: Any, path: str) -> Iterator[str]:
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        yield f"Invalid value at '{path}.type': Proto field is not repeating, cannot start list."
    elif kind not in _GEMINI_TYPES:
        yield f"Invalid value at '{path}.type' (TYPE_ENUM), \"{kind}\""
    elif kind == "array" and "items" not in schema:
        yield f"{path}.items: missing field."
    formats = ("enum", "date-time", "int32", "int64", "float", "double")
    if schema.get("format", "enum") not in formats:
        yield f"{path}.format: only 'enum' and 'date-time' are supported for STRING type"


def llama_cpp_problem(schema: Any) -> str | None:
    """Return why llama.cpp cannot make a grammar of a schema."""
    if not isinstance(schema, dict):
        return None
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        if not (pattern.startswith("^") and pattern.endswith("$")):
            return "JSON schema conversion failed:\nPattern must start with '^' and end with '$'"
        if why := regex_problem(pattern):
            return f"JSON schema conversion failed:\nUnsupported pattern syntax: {why}"
    if isinstance(schema.get("$ref"), str) and not schema["$ref"].startswith("#"):
        return f"JSON schema conversion failed:\nUnsupported ref: {schema['$ref']}"
    if set(schema) & {"not", "if"} and "type" not in schema:
        return f"JSON schema conversion failed:\nUnrecognized schema: {json.dumps(schema)}"
    found = (llama_cpp_problem(part) for _, part in children(schema))
    return next((problem for problem in found if problem), None)
