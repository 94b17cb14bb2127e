"""The data's descriptions of functions as MCP tools: types by their names in JSON Schema.

As upstream, Java and JavaScript values are passed as strings, and the description names their type.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness.leaderboards.bfcl.catalog import Language
from harness.types import JsonObject

_JSON_TYPES = {
    "dict": "object",
    "float": "number",
    "tuple": "array",
    "integer": "integer",
    "string": "string",
    "boolean": "boolean",
    "array": "array",
}
_SYNTAX = {"python": "Python 3", "java": "Java 8 SDK", "javascript": "JavaScript"}
_NAMES = {"java": "Java", "javascript": "JavaScript"}
_LISTS = ("Array", "ArrayList", "array")


def build_description(function: Mapping[str, Any], language: Language) -> str:
    """Return the description of a function for the model."""
    return (
        f"{function['description']} Note that the provided function is in {_SYNTAX[language]} "
        "syntax."
    )


def build_parameters(function: Mapping[str, Any], language: Language) -> JsonObject:
    """Return the JSON Schema of a function's arguments, which are always an object."""
    described = function["parameters"]
    properties = described.get("properties", {})
    schema = json_schema({**described, "type": "dict"})
    if language == "python":
        return schema
    return {
        **schema,
        "properties": {
            name: _build_text_schema(one, _NAMES[language]) for name, one in properties.items()
        },
    }


def json_schema(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data's description of a value as JSON Schema: ``float`` is a number."""
    schema = {key: value for key, value in described.items() if key != "type"}
    kind = _JSON_TYPES.get(described.get("type", ""))
    # The type "any" has no counterpart: a schema without a type allows everything.
    if kind is not None:
        schema["type"] = kind
    if isinstance(schema.get("properties"), dict):
        schema["properties"] = {
            name: json_schema(one) for name, one in schema["properties"].items()
        }
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            schema[key] = json_schema(schema[key])
    if isinstance(schema.get("optional"), bool):
        del schema["optional"]  # no keyword of JSON Schema; `required` has the others
    return schema


def _build_text_schema(described: Mapping[str, Any], language: str) -> dict[str, Any]:
    """Return the schema of a value that is written as text in ``language``."""
    kind, words = described["type"], described.get("description", "")
    if kind == "any":
        words += (
            f" This parameter can be of any type of {language} object in string representation."
        )
    else:
        words += f" This is {language} {kind} type parameter in string representation."
    if kind in _LISTS and "items" in described:
        inner = described["items"].get("type")
        words += f" The list elements are of type {inner}; they are not in string representation."
    if kind == "dict" and "properties" in described:
        entries = json.dumps(described["properties"])
        words += (
            " The dictionary entries have the following schema; they are not in string "
            f"representation. {entries}"
        )
    kept = {
        key: value
        for key, value in described.items()
        if key not in ("type", "items", "properties", "required")
    }
    return {**kept, "type": "string", "description": words}
