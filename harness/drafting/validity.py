"""Whether a drafted value is what a tool's schema asks for.

The schema is the server's, and may be anything. Its patterns are matched in linear time, and one that
breaks the validator fits no value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing import Registry

from harness.checks.patterns import check_pattern
from harness.errors import InvalidValue
from harness.patterns import search
from harness.types import JsonObject

_CONTROL = re.compile(r'\\[^"\\]')  # how JSON writes a line break or another control character
_LONGEST = 160  # characters of a value as JSON that a person would still put into a prompt


def is_speakable(value: Any) -> bool:
    """Whether ``value`` is plain JSON, short, and on one line: what can be said in a prompt."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return len(text) <= _LONGEST and text.isprintable() and _CONTROL.search(text) is None


def fits(value: Any, schema: JsonObject, root: JsonObject) -> bool:
    """Whether ``value`` is valid for ``schema``, a part of ``root`` that its references count from."""
    shared = {word: root[word] for word in ("$defs", "definitions") if word in root}
    return is_valid(value, {**shared, "allOf": [schema]})


def is_valid(value: Any, schema: JsonObject) -> bool:
    """Whether ``value`` is valid for the whole ``schema``."""
    try:
        # An empty registry: a `$ref` never leaves the schema, let alone the machine.
        return bool(_VALIDATOR(_plain(schema), registry=Registry()).is_valid(value))
    except Exception:  # noqa: BLE001 - the schema is the server's, and may break the validator in any way
        return False


def _pattern(_validator: Any, pattern: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    if not isinstance(value, str):
        return
    try:
        check_pattern(pattern)
    except InvalidValue:
        yield ValidationError("the pattern cannot be matched in linear time")
        return
    if search(pattern, value) is None:
        yield ValidationError("it does not match")


def _pattern_properties(validator: Any, patterns: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    if not isinstance(value, Mapping):
        return
    for pattern, schema in patterns.items():
        for name, part in value.items():
            if not any(_pattern(validator, pattern, name, None)):
                yield from validator.descend(part, schema, path=name, schema_path=pattern)


_VALIDATOR: Any = extend(  # type: ignore[no-untyped-call]  # jsonschema's
    Draft202012Validator, {"pattern": _pattern, "patternProperties": _pattern_properties}
)


def _plain(schema: JsonObject) -> Any:
    return dict(schema)
