"""What each provider refuses inside the schema of a tool, at any depth, as data.

A refused keyword is left out and written into the description of its place, so that the model still
reads it; the server validates by its own schema in any case. Rules for the top of a schema alone
are those of `harness.models.model.Dialect`.

Sources: platform.openai.com/docs/guides/function-calling and structured-outputs (supported
schemas), docs.anthropic.com/en/docs/agents-and-tools/tool-use, ai.google.dev/api/caching#Schema,
``json-schema-to-grammar.cpp`` of llama.cpp, and the errors of these as users report them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, TypeAlias

from harness.models.dialects import schema_forms
from harness.models.dialects.schema_forms import (
    BACKTRACKING,
    NO_GRAMMAR,
    NOT_PYTHON,
    PatternRule,
    describe_patterns,
)
from harness.models.unions import DEEPEST, MOST_PARTS, local_target
from harness.types import dataclass

Schema: TypeAlias = dict[str, Any]

LONGEST_WORDS = 400
"""Most characters of what is written into one description."""
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


_GIVES_A_TYPE = frozenset({"type", "$ref", "anyOf", "oneOf", "allOf", "const", "enum"}) | {
    *("properties", "additionalProperties", "items", "prefixItems", "pattern", "format")
}
"""Keywords of which llama.cpp knows what to make."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaRules:
    """The rules of one provider for every part of a schema."""

    taken: frozenset[str] | None = None
    """The only keywords that it takes; ``None``: every one."""
    refused_alone: frozenset[str] = frozenset()
    """Keywords that it refuses in a part of which nothing else gives the type."""
    patterns: tuple[PatternRule, ...] = ()
    """What it refuses of a ``pattern``."""
    keys: tuple[PatternRule, ...] = ()
    """What it refuses of a pattern in ``patternProperties``."""
    formats: Mapping[str, frozenset[str]] | None = field(default=None, hash=False)
    """Type → the only values of ``format`` that it takes there; ``None``: any."""
    most: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Keyword → the largest value that it takes."""
    text_choices: bool = False
    """Whether an ``enum`` may hold only texts that are not empty."""
    references: str | None = None
    """With what a ``$ref`` must begin, which must lead somewhere; ``None``: any is taken."""
    only_objects: bool = False
    """Whether ``true`` and ``false`` are no schemas for it, where a value is described."""
    unread: frozenset[str] = frozenset()
    """Keywords whose schemas it does not read."""
    lone_any_of: bool = False
    """Whether nothing may stand beside an ``anyOf``."""
    longest_description: int | None = None
    """Most characters of a tool's description."""


NOTHING_REFUSED = SchemaRules()
OPENAI = SchemaRules(
    patterns=BACKTRACKING + NOT_PYTHON,
    keys=BACKTRACKING + NOT_PYTHON,
    references="#",
    longest_description=1024,
)
ANTHROPIC = NOTHING_REFUSED
LIKE_ANTHROPIC = SchemaRules(patterns=NOT_PYTHON, keys=NOT_PYTHON)
"""Of an endpoint that is compatible with Anthropic's."""
LLAMA_CPP = SchemaRules(
    refused_alone=frozenset({"not", "if", "then", "else"}),
    patterns=BACKTRACKING + NO_GRAMMAR,
    most={"minLength": 1999, "maxLength": 1999, "minItems": 1998, "maxItems": 1998},
    references="#/",
    only_objects=True,
    unread=frozenset({"not", "if", "then", "else", "contains", "propertyNames"})
    | {*("patternProperties", "dependentSchemas", "unevaluatedItems", "unevaluatedProperties")},
)
GEMINI = SchemaRules(
    taken=frozenset(
        {"type", "format", "title", "description", "nullable", "enum", "default", "pattern"}
        | {"minItems", "maxItems", "properties", "required", "minProperties", "maxProperties"}
        | {"minLength", "maxLength", "anyOf", "items", "minimum", "maximum"}
    ),
    patterns=OPENAI.patterns,
    formats={
        "string": frozenset({"enum", "date-time"}),
        "integer": frozenset({"int32", "int64"}),
        "number": frozenset({"float", "double"}),
    },
    text_choices=True,
    only_objects=True,
)
VERTEX = replace(GEMINI, lone_any_of=True)
HOSTED = replace(OPENAI, only_objects=True)
"""Of a service in the web that speaks OpenAI's API."""
UNKNOWN = replace(
    LLAMA_CPP,
    patterns=OPENAI.patterns + NO_GRAMMAR,
    keys=OPENAI.keys,
    unread=frozenset(),
    longest_description=1024,
)
"""Of a compatible endpoint that may be any: what one of OpenAI and llama.cpp refuses."""


@dataclass(frozen=True, slots=True)
class SchemaRefusal:
    """One part of a schema that a provider refuses."""

    what: str
    """The keyword, and its feature: ``pattern with look-around``."""
    place: str
    """The path to the part of the schema that has it."""


class SchemaReduction:
    """A schema without what a provider refuses."""

    def __init__(self, root: Schema, rules: SchemaRules) -> None:
        """``root`` is the whole schema, for references in it."""
        self._root = root
        self._rules = rules
        self._left = MOST_PARTS
        self.refusals: list[SchemaRefusal] = []
        """What was left out, or is offered wider."""
        self.changed = False
        """Whether the schema is another one, be it only in another form."""
        self.schema: Schema = self._reduce(root, (), DEEPEST)
        """The schema, which describes what it lost."""

    def _reduce(self, part: Any, path: tuple[str, ...], levels: int) -> Any:
        if not isinstance(part, dict):
            part = self._reduce_boolean(part, path)
            # `{}` in place of a boolean goes on: a provider may want a type there as well.
            if part or not isinstance(part, dict):
                return part
        if self._rules.taken is not None:
            part = self._convert_form(part, path, levels)
        part, lost = self._take_keys(part, path)
        kept: Schema = {}
        for word, value in part.items():
            what = self._find_refusal(word, value, part)
            if what is None:
                kept[word] = self._reduce_keyword(word, value, path, levels)
                continue
            self.changed = True
            if not _is_closed_object(word, value) and word not in _SAYS_NOTHING:
                lost[word] = value
                if word not in _HELPS:
                    self.refusals.append(SchemaRefusal(what, "/".join(path)))
        if self._rules.taken is not None and isinstance(kept.get("required"), list):
            # Gemini refuses a required name that is no property.
            known = kept.get("properties", {})
            kept["required"] = [name for name in kept["required"] if name in known]
        described = _describe_loss(kept, lost)
        if not self._rules.lone_any_of:
            return described
        # After the description, which has to stand in each alternative as well.
        alone = schema_forms.distribute_any_of(described)
        self.changed = self.changed or alone is not described
        return alone

    def _reduce_boolean(self, part: Any, path: tuple[str, ...]) -> Any:
        if not self._rules.only_objects or not isinstance(part, bool):
            return part
        if path[-1:] in (("additionalProperties",), ("unevaluatedProperties",)):
            return part  # not the description of a value
        self.changed = True
        if not part:
            self.refusals.append(SchemaRefusal("false as a schema", "/".join(path)))
        return {}

    def _find_refusal(self, word: str, value: Any, part: Schema) -> str | None:
        """Return what is refused of a keyword of ``part`` with that value, in words."""
        rules = self._rules
        what = None
        if (rules.taken is not None and word not in rules.taken) or (
            word in rules.refused_alone and not part.keys() & _GIVES_A_TYPE
        ):
            what = repr(word)
        elif word == "$ref" and rules.references is not None:
            what = self._refused_reference(str(value), rules.references)
        elif word == "format" and rules.formats is not None:
            known = value in rules.formats.get(part.get("type", "string"), ())
            what = None if known else f"'format' {value!r}"
        elif word == "enum" and rules.text_choices:
            fits = part.get("type") == "string" and _are_texts(value)
            what = None if fits else "'enum' of anything but texts"
        elif word == "pattern" and isinstance(value, str):
            what = _refused_pattern(value, rules.patterns)
        elif word in rules.most and isinstance(value, int | float) and value > rules.most[word]:
            what = f"{word!r} of more than {rules.most[word]:,}"
        return what

    def _refused_reference(self, reference: str, beginning: str) -> str | None:
        if not reference.startswith("#"):
            return "'$ref' to another document"
        if not reference.startswith(beginning) or local_target(self._root, reference) is None:
            return "'$ref' that leads nowhere"
        return None

    def _take_keys(self, part: Schema, path: tuple[str, ...]) -> tuple[Schema, Schema]:
        """Return ``part`` without the ``patternProperties`` that are refused, and these."""
        named = part.get("patternProperties")
        named = named if isinstance(named, dict) and self._rules.keys else {}
        refused = {key: what for key in named if (what := _refused_pattern(key, self._rules.keys))}
        if not refused:
            return part, {}
        self.changed = True
        what = next(iter(refused.values()))
        self.refusals.append(SchemaRefusal(f"{what} in 'patternProperties'", "/".join(path)))
        taken = {key: value for key, value in named.items() if key not in refused}
        lost = {key: named[key] for key in refused}
        return {**part, "patternProperties": taken}, {"patternProperties": lost}

    def _reduce_keyword(self, word: str, value: Any, path: tuple[str, ...], levels: int) -> Any:
        """Return the value of a keyword that stays, with the schemas in it reduced."""
        # llama.cpp skips these keywords: what stands in them cannot be refused.
        if word in self._rules.unread:
            return value
        if word in NAMED and isinstance(value, dict):
            return {n: self._reduce(part, (*path, word, n), levels) for n, part in value.items()}
        if word in LISTED and isinstance(value, list):
            return [self._reduce(one, (*path, word, str(n)), levels) for n, one in enumerate(value)]
        if word in SINGLE:
            return self._reduce(value, (*path, word), levels)
        return value

    # ── Where only some keywords are taken ───────────────────────────────────────────────────

    def _convert_form(self, part: Schema, path: tuple[str, ...], levels: int) -> Schema:
        """Return ``part`` in keywords that are taken, where that is possible without a loss."""
        formed = part
        for _ in range(levels):  # what a reference or a null leads to may have these, too
            before = formed
            if "$ref" in formed:
                formed = self._resolve(formed, path, levels)
            formed = schema_forms.merge_all_of(formed, lambda one: self._resolve(one, path, levels))
            if formed is before:
                break
        formed = schema_forms.split_types(formed)
        self.changed = self.changed or formed != part
        return formed

    def _resolve(self, part: Schema, path: tuple[str, ...], levels: int) -> Schema:
        """Return the schema that ``part`` refers to, with its other keywords beside it."""
        self.changed = True
        # Two references in each level double the parts: the depth alone bounds nothing.
        self._left -= 1
        target = local_target(self._root, part["$ref"])
        beside = {word: value for word, value in part.items() if word != "$ref"}
        # A schema may refer to itself: it is written out some levels deep.
        if target is None or self._left < 0 or len(path) > levels:
            self.refusals.append(SchemaRefusal("'$ref' that cannot be written out", "/".join(path)))
            return _describe_loss(beside, {"$ref": part["$ref"]})
        joined = {**target, **beside}
        return self._resolve(joined, (*path, "$ref"), levels) if "$ref" in joined else joined


def _describe_loss(kept: Schema, lost: Schema) -> Schema:
    """Return ``kept`` with what it lost in its description."""
    if not lost:
        return kept
    said = []
    if isinstance(pattern := lost.get("pattern"), str):
        said.append(f"Must match the pattern {describe_patterns(pattern)}")
        lost = {word: value for word, value in lost.items() if word != "pattern"}
    if lost:
        words = json.dumps(lost, ensure_ascii=False, default=dict)
        said.append(f"Must satisfy the JSON Schema {describe_patterns(words)}")
    said = [w if len(w) <= LONGEST_WORDS else f"{w[: LONGEST_WORDS - 1]}…" for w in said]
    if isinstance(own := kept.get("description"), str) and own:
        said.insert(0, own)
    return {**kept, "description": "\n".join(said)}


def _refused_pattern(pattern: str, rules: tuple[PatternRule, ...]) -> str | None:
    found = (words for words, has in rules if has(pattern))
    return next((f"'pattern' {words}" for words in found), None)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(v and isinstance(v, str) for v in value)


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


def append_description(schema: Mapping[str, Any], rest: str) -> Mapping[str, Any]:
    """Return ``schema`` with the rest of a tool's description in its own one."""
    own = schema.get("description")
    return {**schema, "description": f"…{rest}" + (f"\n{own}" if isinstance(own, str) else "")}
