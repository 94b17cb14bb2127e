"""JSON Schemas of tools, checked as far as they can be: a server may send anything as a schema."""

from __future__ import annotations

import functools
import json
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from referencing import Registry

from harness.canonical import canonical_json
from harness.types import JsonObject, ToolList

MAX_ERRORS = 10
"""Errors told of one value; the eleventh helps nobody."""

MAX_ERROR_CHARS = 300
"""Length of one error; a validator repeats the whole offending value."""

CHECKED_BYTES = 1_000_000
"""Size up to which a result is checked: a validator needs seconds for more, and everybody waits."""


def schema_problem(schema: JsonObject) -> str | None:
    """Return why ``schema`` is not a JSON Schema, in a sentence, or ``None`` when it is one."""
    compiled = _compiled(canonical_json(schema))
    return compiled if isinstance(compiled, str) else None


class ToolSchemas:
    """The schemas of one tool list, each compiled once."""

    def __init__(self, tools: ToolList) -> None:
        """Compile what ``tools`` declare."""
        self._inputs = {tool.name: _validator(tool.input_schema) for tool in tools.tools}
        self._outputs = {
            tool.name: _validator(tool.output_schema) for tool in tools.tools if tool.output_schema is not None
        }

    def argument_errors(self, tool: str, arguments: JsonObject) -> tuple[str, ...]:
        """Return where ``arguments`` break the tool's ``inputSchema``; a tool that is not listed has none."""
        return _errors(self._inputs.get(tool), arguments)

    def output_errors(self, tool: str, structured: Any, size: int) -> tuple[str, ...]:
        """Return where ``structured``, of a result of ``size`` bytes, breaks the tool's ``outputSchema``."""
        if tool not in self._outputs:
            return ()
        if structured is None:
            return ("the tool has an outputSchema, and its result has no structuredContent",)
        if size > CHECKED_BYTES:
            return (f"not checked against its outputSchema: the result is larger than {CHECKED_BYTES:,} bytes",)
        return _errors(self._outputs[tool], structured)


def _validator(schema: JsonObject) -> Validator | None:
    compiled = _compiled(canonical_json(schema))
    return None if isinstance(compiled, str) else compiled


@functools.lru_cache(maxsize=1024)
def _compiled(text: str) -> Validator | str:
    schema = json.loads(text)
    try:
        kind = validator_for(schema, default=Draft202012Validator)
        kind.check_schema(schema)
        # An empty registry: a `$ref` never leaves the schema, let alone the machine.
        return kind(schema, registry=Registry())
    except SchemaError as error:
        return f"{_place(error.absolute_path)}{error.message}"[:MAX_ERROR_CHARS]
    except Exception as error:  # noqa: BLE001 - the schema is the server's, and may break the validator in any way
        return f"{type(error).__name__}: {error}"[:MAX_ERROR_CHARS]


def _errors(validator: Validator | None, value: Any) -> tuple[str, ...]:
    if validator is None:
        return ()
    found: list[str] = []
    try:
        for error in validator.iter_errors(value):
            found.append(f"{_place(error.absolute_path)}{error.message}"[:MAX_ERROR_CHARS])
            if len(found) == MAX_ERRORS:
                break
    except Exception as error:  # noqa: BLE001 - as above: a `$ref` to nowhere, a regex that does not compile, an endless recursion
        found.append(f"the schema could not be applied: {type(error).__name__}: {error}"[:MAX_ERROR_CHARS])
    return tuple(found)


def _place(path: Any) -> str:
    steps = ".".join(str(step) for step in path)
    return f"at {steps!r}: " if steps else ""
