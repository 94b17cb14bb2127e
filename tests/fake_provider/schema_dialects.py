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
_LLAMA_CPP_REPEATS = 2_000
_LLAMA_CPP_UNREAD = words("not if then else contains patternProperties dependentSchemas")
_LLAMA_CPP_IGNORES = words("not if then else description title default examples")
_GEMINI_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")


def regex_problem(pattern: str) -> str | None:
    """Return what a linear regex engine says of a pattern that needs backtracking."""
    bare = re.sub(r"\\\\|\\[^1-9k]|\[\^?(?:\\.|[^]\\])+\]", "", pattern)
    if re.search(r"\(\?(?:<?!|<?=)", bare):
        return "look-around, including look-ahead and look-behind, is not supported"
    if re.search(r"\\[1-9]|\(\?P=|\\k<", bare):
        return "backreferences are not supported"
    return None


def python_problem(pattern: str) -> str | None:
    """Return what a validator written in Python says of a pattern."""
    try:
        re.compile(pattern)
    except re.error:
        return f"'{pattern}' is not a 'regex'"
    return None


def _grammar_problem(pattern: str) -> str | None:
    """Return what llama.cpp says of a pattern, of which it makes a grammar."""
    if not (pattern.startswith("^") and pattern.endswith("$")):
        return "Pattern must start with '^' and end with '$'"
    place, in_set = 1, False
    while place < len(pattern) - 1:
        sign = pattern[place]
        if sign == "\\":
            place += 1
            known = 'xuUtrn\\"[]' if in_set else 'xuUtrn\\"[]^$.()|{}*+?'
            if pattern[place] not in known:
                return f"unknown escape at \\{pattern[place]}"
        in_set = sign == "[" or (in_set and sign != "]")
        place += 1
    counts = re.findall(r"\{(\d*),?(\d*)\}", pattern)
    if any(int(number or 0) >= _LLAMA_CPP_REPEATS for count in counts for number in count):
        return "number of repetitions exceeds sane defaults"
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


def openai_problem(schema: Any, path: str = "", root: Any = None) -> str | None:
    """Return OpenAI's words on a pattern or a reference that it refuses, at any depth."""
    root = schema if root is None else root
    if isinstance(schema, dict):
        patterns = [*schema.get("patternProperties", {}), schema.get("pattern")]
        for pattern in filter(lambda one: isinstance(one, str), patterns):
            if why := python_problem(pattern) or regex_problem(pattern):
                return f"In context=({path}), '{pattern}' is not a valid 'regex': {why}."
        reference = schema.get("$ref")
        if isinstance(reference, str) and not _leads_somewhere(root, reference):
            return f"In context=({path}), reference to component '{reference}' was not found."
    found = (openai_problem(part, f"{path}.{step}", root) for step, part in children(schema))
    return next((problem for problem in found if problem), None)


def _leads_somewhere(root: Any, reference: str) -> bool:
    if not reference.startswith("#"):
        return False
    for step in reference[1:].split("/")[1:]:
        root = root.get(step) if isinstance(root, dict) else None
    return isinstance(root, dict)


def gemini_problem(schema: Any, path: str = "parameters") -> str | None:
    """Return what Gemini's compatible endpoint says of a schema."""
    return next(_gemini_problems(schema, path), None)


def vertex_problem(schema: Any, path: str = "parameters") -> str | None:
    """Return what Vertex AI says of a schema for Gemini."""
    if isinstance(schema, dict) and "anyOf" in schema and len(schema) > 1:
        return (
            f"`{path}` schema specified other fields alongside any_of. When using any_of, it must "
            "be the only field set."
        )
    found = (vertex_problem(part, f"{path}.{step}") for step, part in children(schema))
    return gemini_problem(schema, path) or next((problem for problem in found if problem), None)


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
    if isinstance(pattern, str) and (why := python_problem(pattern)):
        yield f"{path}.pattern: {why}"
    for step, part in children(schema):
        yield from _gemini_problems(part, f"{path}.{step}")


def _gemini_type_problems(schema: Any, path: str) -> Iterator[str]:
    kind = schema.get("type")
    if kind is None:
        if "anyOf" not in schema:
            yield f"{path}.type: must be specified when not using one_of, any_of or all_of fields"
    elif isinstance(kind, list):
        yield f"Invalid value at '{path}.type': Proto field is not repeating, cannot start list."
    elif kind not in _GEMINI_TYPES:
        yield f"Invalid value at '{path}.type' (TYPE_ENUM), \"{kind}\""
    elif kind == "array" and "items" not in schema:
        yield f"{path}.items: missing field."
    for word, only in (("properties", "object"), ("required", "object"), ("enum", "string")):
        if word in schema and kind != only:
            yield f"{path}.{word}: only allowed for {only.upper()} type"
    formats = {"integer": ("int32", "int64"), "number": ("float", "double")}
    known = formats.get(str(kind), ("enum", "date-time"))
    if "format" in schema and schema["format"] not in known:
        yield f"{path}.format: only 'enum' and 'date-time' are supported for STRING type"


def llama_cpp_problem(schema: Any, root: Any = None) -> str | None:
    """Return why llama.cpp cannot make a grammar of a schema."""
    root = schema if root is None else root
    if not isinstance(schema, dict):
        return f"JSON schema conversion failed:\nUnrecognized schema: {json.dumps(schema)}"
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and (why := _grammar_problem(pattern) or regex_problem(pattern)):
        return f"JSON schema conversion failed:\n{why}"
    reference = schema.get("$ref")
    local = str(reference).startswith("#/") and _leads_somewhere(root, str(reference))
    if isinstance(reference, str) and not local:
        return f"JSON schema conversion failed:\nError resolving ref {reference}"
    if set(schema) & {"not", "if"} and not set(schema) - _LLAMA_CPP_IGNORES:
        return f"JSON schema conversion failed:\nUnrecognized schema: {json.dumps(schema)}"
    for word, most in (("Length", _LLAMA_CPP_REPEATS), ("Items", _LLAMA_CPP_REPEATS - 1)):
        if max(schema.get(f"min{word}", 0), schema.get(f"max{word}", 0)) >= most:
            return "Failed to initialize samplers: failed to parse grammar"
    found = (
        llama_cpp_problem(part, root)
        for step, part in children(schema)
        if not (step == "additionalProperties" and isinstance(part, bool))
        and step.partition(".")[0] not in _LLAMA_CPP_UNREAD
    )
    return next((problem for problem in found if problem), None)
