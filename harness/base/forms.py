"""The forms by which servers ask for input: what is wrong with one, and what fits in it.

MCP allows one level of fields: texts, numbers, flags, and choices of texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.base.redaction import MARK
from harness.base.redaction.secret_names import may_name_secret, names_secret
from harness.base.validation.budget import Budget, OutOfSteps
from harness.base.validation.validators import schema_problem as find_schema_problem
from harness.base.validation.validators import validate_value
from harness.types import JsonObject

MOST_FIELDS = 200
"""Fields beyond which a form is none that a person could fill in."""
_STEPS = 20_000
_TYPES = frozenset({"string", "number", "integer", "boolean"})
_SECRET_WORDS = re.compile(
    r"\b(?:pass(?:word|code|phrase)s?|api[ -]?keys?|(?:access|refresh|bearer|auth\w*|secret) "
    r"?(?:tokens?|keys?)|private keys?|client secrets?|credentials?|pin(?: code)?|cvv|cvc|"
    r"(?:credit )?card numbers?|(?:one[ -]?time|2fa|mfa|otp|recovery|security) ?(?:codes?|keys?)|"
    r"otp|ssn|seed phrases?)\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"\btoken\b", re.IGNORECASE)
_ASKS_FOR_SECRET = re.compile(
    r"(?<!never )\b(?:enter|type|provide|give|paste|supply|send|confirm)(?: (?!for|of|to)\w+){0,3} "
    + _SECRET_WORDS.pattern,
    re.IGNORECASE,
)


def find_form_flaw(schema: Any) -> str | None:
    """Return why ``schema`` is no form that a client can show, in words; ``None`` if it is one."""
    if not isinstance(schema, Mapping):
        return "it has no schema of its fields"
    fields = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(fields, Mapping):
        return "its schema is not that of an object with properties"
    if len(fields) > MOST_FIELDS:
        return f"it has {len(fields):,} fields"
    for name, field in fields.items():
        if not _is_plain_field(field):
            return f"its field {str(name)[:60]!r} is no text, number, flag or choice"
    return _find_schema_flaw(schema, fields)


def _find_schema_flaw(schema: Mapping[str, Any], fields: Mapping[str, Any]) -> str | None:
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(name in fields for name in required):
        return "it requires a field that it does not have"
    try:
        return find_schema_problem(dict(schema), Budget(_STEPS))
    except OutOfSteps:
        return "its schema is too large to be checked"


def _is_plain_field(field: Any) -> bool:
    if not isinstance(field, Mapping):
        return False
    if field.get("type") == "array":
        items = field.get("items")
        return isinstance(items, Mapping) and bool({"enum", "anyOf", "oneOf"} & items.keys())
    return field.get("type") in _TYPES or "enum" in field


def fill_form(schema: JsonObject, content: JsonObject) -> dict[str, Any]:
    """Return ``content`` with the defaults of the fields that it leaves out."""
    defaults = {
        name: field["default"] for name, field in schema["properties"].items() if "default" in field
    }
    return {**defaults, **content}


def find_misfits(schema: JsonObject, content: JsonObject) -> Sequence[str]:
    """Return what keeps ``content`` from being sent as an answer to the form of ``schema``."""
    fields = schema["properties"]
    foreign = [f"the form has no field {name!r}" for name in content if name not in fields]
    return foreign or validate_value(content, schema, Budget(_STEPS)).errors


def find_secret_fields(schema: JsonObject | None, message: str = "") -> Iterator[str]:
    """Yield the fields of a form that ask for a secret: a password, a token, a key.

    ``message`` is the question: *type your password* makes one of any text field.
    """
    fields = (schema or {}).get("properties")
    for name, field in fields.items() if isinstance(fields, Mapping) else ():
        told = field if isinstance(field, Mapping) else {}
        # A flag or a choice may be about a password, and holds none; a number may be a PIN.
        if told.get("type") in ("boolean", "array") or "enum" in told or "oneOf" in told:
            continue
        is_text = told.get("type", "string") == "string"
        words = [name.replace("_", " "), *(told.get(key) for key in ("title", "description"))]
        if (
            names_secret(name)
            or told.get("format") == "password"
            or any(isinstance(text, str) and _SECRET_WORDS.search(text) for text in words)
            or (is_text and isinstance(told.get("title"), str) and _TOKEN.search(told["title"]))
            or (is_text and _ASKS_FOR_SECRET.search(message))
        ):
            yield name


def mask_content(schema: JsonObject, content: JsonObject) -> dict[str, Any]:
    """Return ``content`` without the values of fields that may hold a secret."""
    secret = set(find_secret_fields(schema))
    return {
        name: MARK if name in secret or may_name_secret(name) else value
        for name, value in content.items()
    }
