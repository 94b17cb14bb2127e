"""What a JSON Schema takes, in a few words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from harness.types import JsonObject

MOST_NAMES = 12
"""Names of an object that are listed; more are told by the schema alone."""
_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "a mapping",
}


def kind_of_value(schema: JsonObject) -> str:
    """Return it: ``text``, ``a list, each item text``, ``one of `a`, `b` ``."""
    for key, told in _TOLD.items():
        if key in schema:
            return told(schema)
    return _of_type(schema)


def _either(schema: JsonObject) -> str:
    """Tell the alternatives, and a list of the first one in a few words."""
    parts: list[JsonObject] = schema.get("anyOf") or schema["oneOf"]
    if all(part.keys() == {"required"} for part in parts):
        return _of_type(schema)
    told: list[str] = []
    for part in parts:
        several = part.get("type") == "array" and part.get("items") in parts
        told.append("a list of such" if several else kind_of_value(part))
    return ", or ".join(dict.fromkeys(told))


def _of_type(schema: JsonObject) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        return ", or ".join(_WORDS[one] for one in kind)
    if kind == "array" and schema.get("items"):
        return f"a list, each item {kind_of_value(schema['items'])}"
    if kind == "object" and schema.get("additionalProperties") not in (None, True, False, {}):
        return f"a mapping, each value {kind_of_value(schema['additionalProperties'])}"
    if kind == "object" and 0 < len(schema.get("properties", ())) <= MOST_NAMES:
        return "a mapping with " + ", ".join(f"`{name}`" for name in schema["properties"])
    return _WORDS.get(str(kind), "any value") + _bounds(schema)


def _bounds(schema: JsonObject) -> str:
    low, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    return f" from {low} up" if low is not None else f" above {above}" if above is not None else ""


def as_yaml(value: Any) -> str:
    """Return a plain value as it is written in YAML."""
    return value if isinstance(value, str) else json.dumps(value)


SECTIONS = {
    "alteration": "suite.md#interference",
    "assertions": "checks.md",
    "call": "suite.md#setup-and-teardown",
    "data_set": "suite.md#data-sets-of-an-alteration",
    "decoys": "suite.md#decoys",
    "defaults": "suite.md#defaults",
    "expectation": "suite.md#expect",
    "fault": "suite.md#faults",
    "fault_part": "suite.md#faults-of-one-trial",
    "identity": "configuration.md#identity",
    "elicit_rule": "suite.md#elicit_rule",
    "may_depend": "suite.md#may_depend",
    "server": "configuration.md#a-server",
    "test": "suite.md#tests",
    "tool_search": "suite.md#tool-search",
    "turn": "suite.md#turns",
    "user": "suite.md#user",
    "variant": "suite.md#variants",
    "variant_parameter": "suite.md#parameters-of-a-tool",
    "variant_tool": "suite.md#tools-of-a-variant",
    "via": "configuration.md#identity",
}
"""Name of a part of a schema → where the reference has its keys."""


def _reference(schema: JsonObject) -> str:
    name = schema["$ref"].rpartition("/")[2]
    return f"as under [`{name}`]({SECTIONS[name]})" if name in SECTIONS else f"as under `{name}`"


def _one_of(schema: JsonObject) -> str:
    values = dict.fromkeys(as_yaml(value) for value in schema["enum"])
    return "one of " + ", ".join(f"`{value}`" for value in values)


_TOLD: dict[str, Callable[[JsonObject], str]] = {
    "$ref": _reference,
    "const": lambda schema: f"`{as_yaml(schema['const'])}`",
    "enum": _one_of,
    "anyOf": _either,
    "oneOf": _either,
}
