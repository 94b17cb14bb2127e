"""What each provider refuses inside the schema of a tool, at any depth, as data.

A refused keyword is left out and written into the description of its place, so that the model still
reads it; the server validates by its own schema in any case. Rules for the top of a schema alone
are those of `harness.models.traits.Dialect`.

Sources: platform.openai.com/docs/guides/function-calling and structured-outputs (supported
schemas), docs.anthropic.com/en/docs/agents-and-tools/tool-use, ai.google.dev/api/caching#Schema,
and ``json-schema-to-grammar.cpp`` of llama.cpp.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from harness.models.unions import DEEPEST, MOST_PARTS, local_target

Schema: TypeAlias = dict[str, Any]

LONGEST_WORDS = 400
"""Most characters of what is written into one description."""
_LOOK_AROUND = re.compile(r"\(\?<?[=!]")
_LOOK_AROUND_IN_WORDS = {
    "(?!": "(not before: ",
    "(?=": "(before: ",
    "(?<!": "(not after: ",
    "(?<=": "(after: ",
}
"""Look-around for a reader: models read words better, and some gateways refuse the signs in any
text of a request."""
_BACK_REFERENCE = re.compile(r"\\[1-9]|\\k<|\(\?P=")
NAMED = frozenset({"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"})
"""Keywords whose values are schemas by name."""
LISTED = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords whose values are lists of schemas."""
SINGLE = frozenset({"items", "contains", "additionalProperties", "propertyNames", "not"}) | {
    *("if", "then", "else", "unevaluatedItems", "unevaluatedProperties")
}
"""Keywords whose value is one schema."""
_SAYS_NOTHING = frozenset({"$schema", "$id", "$anchor", "$comment", "$defs", "definitions"}) | {
    *("title", "deprecated", "readOnly", "writeOnly")
}
"""Keywords that may go without a word: they tell a model nothing."""
_HELPS = frozenset({"examples"})
"""Keywords that restrict nothing: in a description they are as good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRules:
    """The rules of one provider for every part of a schema."""

    taken: frozenset[str] | None = None
    """The only keywords that it takes; ``None``: every one that is not in `refused`."""
    refused: frozenset[str] = frozenset()
    """Keywords that it refuses."""
    patterns: tuple[tuple[str, re.Pattern[str]], ...] = ()
    """Name of a feature of ``pattern`` that it refuses → where such a pattern has it."""
    whole_patterns: bool = False
    """Whether a ``pattern`` must begin with ``^`` and end with ``$``."""
    formats: frozenset[str] | None = None
    """The only values of ``format`` that it takes; ``None``: any."""
    text_choices: bool = False
    """Whether an ``enum`` may hold only texts that are not empty."""
    local_references: bool = False
    """Whether a ``$ref`` must stay in the schema."""
    longest_description: int | None = None
    """Most characters of a tool's description."""


NOTHING_REFUSED = SchemaRules()
OPENAI = SchemaRules(
    patterns=(("look-around", _LOOK_AROUND), ("back-reference", _BACK_REFERENCE)),
    local_references=True,
    longest_description=1024,
)
ANTHROPIC = NOTHING_REFUSED
LLAMA_CPP = SchemaRules(
    refused=frozenset({"not", "if", "then", "else"}),
    patterns=OPENAI.patterns,
    whole_patterns=True,
    local_references=True,
)
GEMINI = SchemaRules(
    taken=frozenset(
        {"type", "format", "title", "description", "nullable", "enum", "default", "pattern"}
        | {"minItems", "maxItems", "properties", "required", "minProperties", "maxProperties"}
        | {"minLength", "maxLength", "anyOf", "items", "minimum", "maximum"}
    ),
    patterns=OPENAI.patterns,
    formats=frozenset({"enum", "date-time", "int32", "int64", "float", "double"}),
    text_choices=True,
)
UNKNOWN = SchemaRules(
    refused=LLAMA_CPP.refused,
    patterns=OPENAI.patterns,
    whole_patterns=True,
    local_references=True,
    longest_description=1024,
)
"""Of a compatible endpoint that may be any: what one of OpenAI and llama.cpp refuses."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One part of a schema that a provider refuses."""

    what: str
    """The keyword, and its feature: ``pattern with look-around``."""
    place: str
    """The path to the part of the schema that has it."""


class Reduction:
    """A schema without what a provider refuses."""

    def __init__(self, root: Schema, rules: SchemaRules) -> None:
        """``root`` is the whole schema, for references in it."""
        self._root = root
        self._rules = rules
        self._left = MOST_PARTS
        self.refusals: list[Refusal] = []
        """What was left out, or is offered wider."""
        self.changed = False
        """Whether the schema is another one, be it only in another form."""
        self.schema: Schema = self._reduced(root, (), DEEPEST)
        """The schema, which describes what it lost."""

    def _reduced(self, part: Any, path: tuple[str, ...], levels: int) -> Any:
        if not isinstance(part, dict):
            return self._of_boolean(part, path)
        if self._rules.taken is not None:
            part = self._in_taken_form(part, path, levels)
        kept: Schema = {}
        lost: Schema = {}
        for word, value in part.items():
            what = self._refused(word, value)
            if what is None:
                kept[word] = self._inside(word, value, path, levels)
                continue
            self.changed = True
            if not _is_closed_object(word, value) and word not in _SAYS_NOTHING:
                lost[word] = value
                if word not in _HELPS:
                    self.refusals.append(Refusal(what, "/".join(path)))
        if self._rules.taken is not None and isinstance(kept.get("required"), list):
            known = kept.get("properties", {})
            kept["required"] = [name for name in kept["required"] if name in known]
        return _describing(kept, lost)

    def _of_boolean(self, part: Any, path: tuple[str, ...]) -> Any:
        if self._rules.taken is None or not isinstance(part, bool):
            return part
        self.changed = True
        if not part:
            self.refusals.append(Refusal("false as a schema", "/".join(path)))
        return {}

    def _refused(self, word: str, value: Any) -> str | None:
        """Return what is refused of a keyword with that value, in words."""
        rules = self._rules
        what = None
        if word in rules.refused or (rules.taken is not None and word not in rules.taken):
            what = repr(word)
        elif word == "$ref" and rules.local_references and not str(value).startswith("#"):
            what = "'$ref' to another document"
        elif word == "format" and rules.formats is not None and value not in rules.formats:
            what = f"'format' {value!r}"
        elif word == "enum" and rules.text_choices and not _are_texts(value):
            what = "'enum' of anything but texts"
        elif word == "pattern" and isinstance(value, str):
            what = self._refused_pattern(value)
        return what

    def _refused_pattern(self, pattern: str) -> str | None:
        for name, feature in self._rules.patterns:
            if feature.search(pattern):
                return f"'pattern' with {name}"
        if self._rules.whole_patterns and not (pattern.startswith("^") and pattern.endswith("$")):
            return "'pattern' that does not begin with ^ and end with $"
        return None

    def _inside(self, word: str, value: Any, path: tuple[str, ...], levels: int) -> Any:
        """Return the value of a keyword that stays, with the schemas in it reduced."""
        if word in NAMED and isinstance(value, dict):
            return {
                name: self._reduced(part, (*path, word, name), levels)
                for name, part in value.items()
            }
        if word in LISTED and isinstance(value, list):
            return [
                self._reduced(part, (*path, word, str(place)), levels)
                for place, part in enumerate(value)
            ]
        if word in SINGLE:
            return self._reduced(value, (*path, word), levels)
        return value

    # ── Where only some keywords are taken ───────────────────────────────────────────────────

    def _in_taken_form(self, part: Schema, path: tuple[str, ...], levels: int) -> Schema:
        """Return ``part`` in keywords that are taken, where that is possible without a loss."""
        part = dict(part)
        if "$ref" in part:
            part = self._resolve(part, path, levels)
        if isinstance(part.get("const"), str) and part["const"] and "enum" not in part:
            part["enum"] = [part.pop("const")]
            self.changed = True
        if isinstance(part.get("oneOf"), list) and "anyOf" not in part:
            part["anyOf"] = part.pop("oneOf")
            self.changed = True
        if isinstance(part.get("type"), list):
            self._name_one_type(part)
        for bound, limit, step in (
            ("exclusiveMinimum", "minimum", 1),
            ("exclusiveMaximum", "maximum", -1),
        ):
            value = part.get(bound)
            if part.get("type") == "integer" and type(value) is int and limit not in part:
                part[limit] = part.pop(bound) + step
                self.changed = True
        return part

    def _resolve(self, part: Schema, path: tuple[str, ...], levels: int) -> Schema:
        """Return the schema that ``part`` refers to, with its other keywords beside it."""
        self.changed = True
        self._left -= 1
        target = local_target(self._root, part["$ref"])
        beside = {word: value for word, value in part.items() if word != "$ref"}
        # A schema may refer to itself: it is written out some levels deep.
        if target is None or self._left < 0 or len(path) > levels:
            self.refusals.append(Refusal("'$ref' that cannot be written out", "/".join(path)))
            return _describing(beside, {"$ref": part["$ref"]})
        joined = {**target, **beside}
        return self._resolve(joined, (*path, "$ref"), levels) if "$ref" in joined else joined

    def _name_one_type(self, part: Schema) -> None:
        """Write a list of types as one type, which may be null, or as alternatives."""
        self.changed = True
        listed = part.pop("type")
        types = [kind for kind in listed if kind != "null"]
        if "null" in listed:
            part["nullable"] = True
        if len(types) == 1:
            part["type"] = types[0]
        elif types and "anyOf" not in part:
            part["anyOf"] = [{"type": kind} for kind in types]


def _describing(kept: Schema, lost: Schema) -> Schema:
    """Return ``kept`` with what it lost in its description."""
    if not lost:
        return kept
    said = []
    if isinstance(pattern := lost.get("pattern"), str):
        for sign, words in _LOOK_AROUND_IN_WORDS.items():
            pattern = pattern.replace(sign, words)
        said.append(f"Must match the pattern {pattern}")
        lost = {word: value for word, value in lost.items() if word != "pattern"}
    if lost:
        words = json.dumps(lost, ensure_ascii=False, default=dict)
        said.append(f"Must satisfy the JSON Schema {words}")
    said = [
        line if len(line) <= LONGEST_WORDS else f"{line[: LONGEST_WORDS - 1]}…" for line in said
    ]
    own = kept.get("description")
    return {
        **kept,
        "description": "\n".join([*([own] if isinstance(own, str) and own else []), *said]),
    }


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)


def _is_closed_object(word: str, value: Any) -> bool:
    return word in ("additionalProperties", "unevaluatedProperties") and isinstance(value, bool)


def beyond_limit(description: str, rules: SchemaRules) -> tuple[str, str]:
    """Return the description that a provider takes, and the rest of it."""
    limit = rules.longest_description
    if limit is None or len(description) <= limit:
        return description, ""
    cut = description.rfind(" ", limit // 2, limit - 1)
    cut = limit - 1 if cut < 0 else cut
    return f"{description[:cut].rstrip()}…", description[cut:].strip()


def with_rest(schema: Mapping[str, Any], rest: str) -> Mapping[str, Any]:
    """Return ``schema`` with the rest of a tool's description in its own one."""
    own = schema.get("description")
    return {**schema, "description": f"…{rest}" + (f"\n{own}" if isinstance(own, str) else "")}
