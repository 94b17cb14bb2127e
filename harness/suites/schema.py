"""The JSON Schemas of suites and of files of attacks, made from the tables that the readers use.

``suite.schema.json`` beside this module is its output for the built-in checks, and
``attacks/attacks.schema.json`` that for attacks. Editors complete and check a file that names one
in its first line.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.base import EXTENSION, Field, Layout, any_of, canonical_json, object_of, refer_to
from harness.suites.attacks.reading import ATTACK_LAYOUT, FILE_LAYOUT, GOAL_LAYOUT
from harness.suites.config.server_entries import SERVER, identity_layout
from harness.suites.faults import FAULT_LAYOUT, PART_LAYOUT
from harness.suites.format_tables import SuiteLayouts, build_layouts
from harness.suites.identities import build_expectation_schema
from harness.suites.interference import ALTERATION_LAYOUT, DATA_SET_LAYOUT, MAY_DEPEND_LAYOUT
from harness.suites.parameters import FILLED
from harness.suites.readers import Vocabulary
from harness.suites.simulated_users import ELICIT_LAYOUT, USER_LAYOUT
from harness.suites.variants import (
    DECOYS_LAYOUT,
    PARAMETER_LAYOUT,
    TOOL_LAYOUT,
    TOOL_SEARCH_LAYOUT,
    VARIANT_LAYOUT,
)
from harness.types import JsonObject

SCHEMA_FILE = Path(__file__).with_name("suite.schema.json")
"""JSON Schema of suites in YAML, for editors; this module makes it."""
ATTACK_SCHEMA_FILE = Path(__file__).parent / "attacks" / "attacks.schema.json"
"""JSON Schema of files of attacks, likewise."""
_DRAFT = "https://json-schema.org/draft/2020-12/schema"

_MEMBERS = "members_of_a_group"
_NOTES: tuple[str, ...] = ("description", "default")


def build_suite_schema(vocabulary: Vocabulary) -> JsonObject:
    """Return the schema (draft 2020-12) of suites that may use the checks of ``vocabulary``.

    It accepts every suite that the reader accepts, and rejects every unknown key. Mistakes that a
    schema cannot express (duplicate names, lists without checks, the values of placeholders) are
    found only by the reader.
    """
    layout = build_layouts(vocabulary)
    checks = {name: vocabulary.schema(name) for name in vocabulary.names()}
    known = {
        canonical_json(part): refer_to(f"check_{name}")
        for bare in (True, False)  # an exact description takes precedence over the general form
        for name in reversed(checks)
        for part in [_remove_notes(checks[name]) if bare else checks[name]]
    }
    # Groups take mappings of all checks, and each of them several times.
    members = [
        part
        for schema in checks.values()
        for part in schema.get("anyOf", ())
        if part.get("properties", {}).keys() == checks.keys()
    ][:1]
    known |= {canonical_json(part): refer_to(_MEMBERS) for part in members}
    body = {
        **_build_mapping(layout.suite),
        **_checks_something(layout),
        "$defs": {
            "test": _describe("One question to the model, or a conversation.", _build_test(layout)),
            **{
                name: _describe(description, _build_mapping(part))
                for name, (description, part) in _list_parts(layout).items()
            },
            "expectation": build_expectation_schema(layout.expectation),
            "server": _describe(
                "How the server is started or reached.",
                {**_build_mapping(SERVER), "anyOf": _any_required("command", "url")},
            ),
        },
    }
    shared = _share_schemas(body, known)
    # Each schema's parts are shared, but not the schema itself: it would refer to itself.
    for each in members:
        own = {key: _share_schemas(part, known) for key, part in each.items()}
        shared["$defs"][_MEMBERS] = own
    shared["$defs"] |= {
        f"check_{name}": {key: _share_schemas(part, known) for key, part in schema.items()}
        for name, schema in checks.items()
    }
    return {
        "$schema": _DRAFT,
        "title": "Eval suite",
        "description": (
            "Prompts for a model that may use an MCP server's tools, with the checks of each."
        ),
        **shared,
    }


def build_attack_schema() -> JsonObject:
    """Return the schema (draft 2020-12) of files of attacks.

    It accepts every file that the reader accepts, and rejects every unknown key. What a goal needs
    beside its keys, and places in a text such as ``{order}``, are left to the reader.
    """
    call: dict[str, Any] = {
        **object_of({"tool": {"type": "string"}, "args": {"type": ["object", "null"]}}, "tool")
    }
    return {
        "$schema": _DRAFT,
        "title": "Attacks",
        "description": "Texts that are planted between a server and a model.",
        **_build_mapping(FILE_LAYOUT),
        "$defs": {
            "attack": _describe("A text, and where it stands.", _build_mapping(ATTACK_LAYOUT)),
            "goal": _describe("What shows that it worked.", _build_mapping(GOAL_LAYOUT)),
            "call": _describe("A call of a tool.", call),
        },
    }


def _list_parts(layout: SuiteLayouts) -> dict[str, tuple[str, Layout]]:
    return {
        "turn": ("One turn of the user.", layout.turn),
        "defaults": ("Settings and assertions for every test.", layout.defaults),
        "user": ("A simulated user who talks with the model.", USER_LAYOUT),
        "elicit_rule": ("How a question of the server is answered.", ELICIT_LAYOUT),
        "call": ("A tool call that the test makes itself.", layout.call),
        "assertions": ("The checks.", layout.assertions),
        "variant": ("A tool list as a model is to see it.", VARIANT_LAYOUT),
        "variant_tool": ("What a model sees of a tool.", TOOL_LAYOUT),
        "variant_parameter": ("What a model sees of a parameter.", PARAMETER_LAYOUT),
        "tool_search": ("A search in place of a list of tools.", TOOL_SEARCH_LAYOUT),
        "decoys": ("Tools without a function.", DECOYS_LAYOUT),
        "fault": ("Something that goes wrong between server and model.", FAULT_LAYOUT),
        "fault_part": ("One of several faults in the same trial.", PART_LAYOUT),
        "alteration": ("A withheld value that is altered.", ALTERATION_LAYOUT),
        "data_set": ("How the data of a server is prepared.", DATA_SET_LAYOUT),
        "may_depend": ("A tool that may depend on an altered value.", MAY_DEPEND_LAYOUT),
        "identity": ("How the caller's identity is sent to the server.", identity_layout()),
    }


def _describe(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, **schema}


def format_schema(vocabulary: Vocabulary) -> str:
    """Return `build_suite_schema` as the text of a file."""
    return _format(build_suite_schema(vocabulary))


def format_attack_schema() -> str:
    """Return `build_attack_schema` as the text of a file."""
    return _format(build_attack_schema())


def _format(schema: JsonObject) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


_NOTHING_ELSE = {"patternProperties": {f"^{EXTENSION}": True}, "additionalProperties": False}
"""Of a mapping that takes the keys of its layout, and those of the file's author."""


def _build_mapping(layout: Layout) -> dict[str, Any]:
    required = [name for name, field in layout.fields.items() if field.required]
    return {
        "type": "object",
        "properties": {name: _build_property(field) for name, field in layout.fields.items()},
        **({"required": required} if required else {}),
        **_NOTHING_ELSE,
    }


def _build_test(layout: SuiteLayouts) -> dict[str, Any]:
    """Return the schema of a test, which is looser where a placeholder may be any value."""
    schema = _build_mapping(layout.test)
    # With parameters, a placeholder may stand for a value of any type.
    strict = {name: schema["properties"][name] for name in FILLED if name in schema["properties"]}
    described = {name: {"description": part["description"]} for name, part in strict.items()}
    assertions = {"properties": dict.fromkeys(layout.assertions.fields, True), **_NOTHING_ELSE}
    return {
        **schema,
        "properties": {**schema["properties"], **described},
        "anyOf": _any_required("prompt", "turns", "user", "use_prompt", "call"),
        "if": {"anyOf": _any_required(*layout.parameters.fields)},
        "then": {"properties": {"assertions": assertions}},
        "else": {"properties": strict},
    }


def _checks_something(layout: SuiteLayouts) -> dict[str, Any]:
    """Return the schema part that requires a check in every test, unless the defaults have one."""
    keys = ("assertions", "expected_answer", "turns", "as", "expect")
    asked = [key for key in keys if key in layout.test.fields]
    # A schema can only ask whether defaults have these keys; the reader looks into them.
    some = {
        "properties": {"defaults": {"anyOf": _any_required("assertions", "as")}},
        "required": ["defaults"],
    }
    return {
        "if": {"not": some},
        "then": {"properties": {"tests": {"items": {"anyOf": _any_required(*asked)}}}},
    }


def _any_required(*keys: str) -> list[JsonObject]:
    return [{"required": [key]} for key in keys]


def _build_property(field: Field) -> JsonObject:
    """Return the schema of a key, including null where null counts as absent."""
    # A copy: the layouts are the reader's, too.
    schema: dict[str, Any] = dict(field.schema)
    if field.required:
        return schema
    # An enum would still refuse null, whatever types are allowed beside it.
    if isinstance(schema.get("type"), str) and "enum" not in schema and not field.takes_null:
        return {**schema, "type": [schema["type"], "null"]}
    notes = {key: schema.pop(key) for key in _NOTES if key in schema}
    return {**notes, **(schema if field.takes_null else any_of(schema, {"type": "null"}))}


def _remove_notes(schema: JsonObject) -> JsonObject:
    return {key: part for key, part in schema.items() if key not in _NOTES}


def _share_schemas(schema: Any, known: Mapping[str, JsonObject]) -> Any:
    """Return ``schema`` with repeated schemas of checks replaced by references."""
    if isinstance(schema, Mapping):
        notes = {key: part for key, part in schema.items() if key in _NOTES}
        # Whole first, then without notes, which stay beside the reference.
        for around, part in (({}, schema), (notes, _remove_notes(schema))):
            if reference := known.get(canonical_json(part)):
                return {**around, **reference}
        return {key: _share_schemas(part, known) for key, part in schema.items()}
    if isinstance(schema, list | tuple):
        return [_share_schemas(part, known) for part in schema]
    return schema
