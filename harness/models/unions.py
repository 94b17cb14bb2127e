"""Flattens the top of a schema: no ``$ref``, ``allOf``, ``anyOf``, ``oneOf``, ``enum``, ``not``.

Constraints that always hold stay exact. Alternatives become one object with the properties of all
of them; those that every alternative requires are required. A hint says which belong together.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

DEEPEST = 16
"""Most levels of references and combinations: a schema may refer to itself."""
MOST_PARTS = 500
"""Most references and combinations in one schema, since each may contain two more."""
LONGEST_HINT = 400
"""Most characters of one hint."""
_NOT_SHARED = frozenset(
    {"properties", "required", "additionalProperties", "unevaluatedProperties", "$defs"}
)
_HOW_MANY = {"anyOf": "at least one", "oneOf": "exactly one"}
_VALUES = {"enum": "one of", "const": "exactly", "not": "anything but"}


class SchemaFlattener:
    """Flattens the top of one schema, and collects the lost information."""

    def __init__(self, root: Schema) -> None:
        """``root`` is the whole schema, for local references."""
        self._root = root
        self._left = MOST_PARTS
        self.hints: list[str] = []
        """Lost information, as hints for the model."""
        self.lost: list[str] = []
        """The keywords that could not be kept exactly."""

    @property
    def is_cut(self) -> bool:
        """Whether there were too many parts, so that the result is wider."""
        return self._left < 0

    def flatten(self, refused: Iterable[str]) -> Schema:
        """Return the schema without top-level references and without the keywords ``refused``."""
        flat = self._flatten(self._root, DEEPEST)
        for word in refused:
            if word in _VALUES and word in flat:
                value = json.dumps(flat.pop(word), ensure_ascii=False)
                self._record_loss(word, f"The arguments must be {_VALUES[word]}: {value}")
        return flat

    def _flatten(self, schema: object, levels: int) -> Schema:
        if not isinstance(schema, dict) or levels == 0:
            return {}
        self._left -= 1
        if self._left < 0:
            return {}
        combined = {"$ref", "allOf", "anyOf", "oneOf"}
        # Its own keywords first: `_add_constraints` lets them count before those of its parts.
        flat = {word: value for word, value in schema.items() if word not in combined}
        every = [
            *_to_list(schema.get("allOf")),
            *([self._find_target(schema["$ref"])] if "$ref" in schema else []),
        ]
        for part in every:
            _add_constraints(flat, self._flatten(part, levels - 1))
        for word, how_many in _HOW_MANY.items():
            alternatives = [self._flatten(part, levels - 1) for part in _to_list(schema.get(word))]
            if alternatives:
                _add_constraints(flat, _widen_alternatives(alternatives))
                groups = " or ".join(filter(None, map(_describe_alternative, alternatives)))
                hint = f"Give the arguments of {how_many} of: {groups}."
                self._record_loss(word, hint if groups else None)
        return flat

    def _find_target(self, reference: object) -> object:
        """Return the target of a local reference such as ``#/$defs/Query``."""
        target = local_target(self._root, reference)
        if target is None:
            self._record_loss("$ref", None)
        # Anything is allowed in its place, rather than nothing.
        return target or {}

    def _record_loss(self, word: str, hint: str | None) -> None:
        if word not in self.lost:
            self.lost.append(word)
        if hint:
            self.hints.append(hint if len(hint) <= LONGEST_HINT else hint[: LONGEST_HINT - 1] + "…")


def local_target(root: Schema, reference: object) -> Schema | None:
    """Return the part of ``root`` that a local reference such as ``#/$defs/Query`` names."""
    target: object = root
    for step in str(reference).removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        target = target.get(name) if isinstance(target, dict) else None
    return target if isinstance(target, dict) and str(reference).startswith("#") else None


def _add_constraints(flat: Schema, part: Schema) -> None:
    """Add the constraints of ``part`` to ``flat``."""
    properties = {**_to_dict(flat.get("properties"))}
    for name, schema in _to_dict(part.get("properties")).items():
        known = properties.setdefault(name, schema)
        every = known["allOf"] if isinstance(known, dict) and set(known) == {"allOf"} else [known]
        # Two schemas of one property both hold; which is the stricter cannot be told in general.
        if schema not in (known, *_to_list(every)):
            properties[name] = {"allOf": [*_to_list(every), schema]}
    if properties:
        flat["properties"] = properties
    names = [*_to_list(flat.get("required")), *_to_list(part.get("required"))]
    required = list(dict.fromkeys(name for name in names if isinstance(name, str)))
    if required:
        flat["required"] = required
    for word, value in part.items():
        # `additionalProperties` of a part would forbid the properties of the others.
        if word not in _NOT_SHARED:
            flat.setdefault(word, value)


def _widen_alternatives(alternatives: Sequence[Schema]) -> Schema:
    """Return an object schema that accepts all of ``alternatives``."""
    variants: dict[str, list[Any]] = {}
    for alternative in alternatives:
        for name, schema in _to_dict(alternative.get("properties")).items():
            seen = variants.setdefault(name, [])
            if schema not in seen:
                seen.append(schema)
    # Only what every alternative requires: what one alone asks for is said in the hint.
    first, *others = (_to_list(alternative.get("required")) for alternative in alternatives)
    return {
        "properties": {
            name: found[0] if len(found) == 1 else {"anyOf": found}
            for name, found in variants.items()
        },
        "required": [name for name in first if all(name in other for other in others)],
    }


def _describe_alternative(alternative: Schema) -> str:
    """Return the arguments of one alternative in words: ``(kind="circle", radius)``."""
    properties = _to_dict(alternative.get("properties"))
    required = [name for name in _to_list(alternative.get("required")) if isinstance(name, str)]
    shown = []
    for name in required or properties:
        part = _to_dict(properties.get(name))
        value = f"={json.dumps(part['const'], ensure_ascii=False)}" if "const" in part else ""
        shown.append(f"{name}{value}")
    return f"({', '.join(shown)})" if shown else ""


def _to_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _to_dict(value: object) -> Schema:
    return value if isinstance(value, dict) else {}
