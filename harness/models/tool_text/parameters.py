"""A tool's parameters: from its JSON Schema, and from its descriptions.

Servers describe part of what a parameter takes in prose: "Id such as CUST_00042", "AAPL (Apple)",
"one of: open, closed". A `Param` combines schema and prose. Any schema can be read, even a broken
one: invalid parts are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import islice
from typing import Any

from harness.models.tool_text.terms import extract_terms, split_words, term_set
from harness.types import JsonObject, Tool, dataclass

_DEEPEST = 3  # levels of objects and arrays that are followed
_MOST_STEPS = 6  # references and alternatives that are resolved for one schema
_MOST_PARAMS = 200  # parameters of one tool, including nested ones
_MOST_CHOICES = 1_000  # values of an enum that are read
_LONGEST_EXAMPLE = 60
_LONGEST_DESCRIPTION = 2_000

_EXAMPLES = re.compile(
    r"(?:\be\.?g\.?,?:?|\bfor example,?|\bfor instance,?|\bsuch as|\blike|\bexamples?:|\bone "
    r"of:?|\beither"
    r"|\ballowed(?: values)?:|\bvalues?:|\boptions?:)\s+(?P<list>[^;\n)]{1,300})",
    re.IGNORECASE,
)
# A remark such as "(Apple)" in "AAPL (Apple), MSFT (Microsoft)", but not "(e.g. AAPL)".
_REMARK = re.compile(r"\s\((?!\s*(?:e\.?g|for |such|like|one of|either|ex))[^()]{1,60}\)")
_FOR_WHAT = re.compile(r"\s+(?:for|means|is|=)\s.*")  # 0.07 for 7%
_EXAMPLES_END = re.compile(r"\.(?:\s|$)")
_QUOTED = re.compile(r"\"([^\"]{1,60})\"|`([^`]{1,60})`|(?<!\w)'([^']{1,60})'(?!\w)")
_SEPARATOR = re.compile(r",?\s+(?:or|and)\s+|,\s*|\s*\|\s*")
# A remark behind a value tells what it means: "AAPL (Apple)", "1y: one year".
_ALIAS = re.compile(
    r"(?P<value>[\w./^=-]{1,40})['\"`]?\s*(?:\((?P<bracket>[^()]{1,60})\)"
    r"|(?:=|:|\bmeans\b|\bis\b|\bfor\b|\s[-–—]\s)\s*(?P<meaning>[^,;.()|]{1,60}))"
)
# The other way round, only for names before codes: "Apple (AAPL)".
_BACKWARDS = re.compile(r"(?P<meaning>[A-Z][^\W\d_]+)\s+\((?P<value>[A-Z0-9.]{1,10})\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """A parameter of a tool, or the items of an array."""

    name: str
    """The key; empty for items."""
    kind: str
    """JSON type: ``string``, ``number``, ``integer``, ``boolean``, ``array``, ``object`` or
    ``any``."""
    required: bool = False
    """Whether a call without it is invalid."""
    schema: JsonObject
    """The resolved schema, for bounds and patterns."""
    declared: JsonObject = field(default_factory=dict)
    """The schema as the server wrote it, with its references and alternatives."""
    description: str = ""
    """The server's description."""
    choices: tuple[Any, ...] = ()
    """Its ``enum`` or ``const``."""
    examples: tuple[str, ...] = ()
    """Values that the schema or the description gives as examples."""
    aliases: tuple[tuple[tuple[str, ...], Any], ...] = ()
    """``(terms, value)``: other words for a value, from the description."""
    items: Param | None = None
    """The items of an array."""
    properties: tuple[Param, ...] = ()
    """The properties of an object."""
    name_words: frozenset[str] = frozenset()
    """Words of the name, including "from" and "to"."""
    name_terms: frozenset[str] = frozenset()
    """Terms of the name."""
    terms: frozenset[str] = frozenset()
    """Terms of name, title and description."""

    def find_bound(self, *words: str) -> float | None:
        """Return the number of the first of these keywords that has one."""
        found = (self.schema.get(word) for word in words)
        # In Python `True` is an integer.
        numbers = (n for n in found if isinstance(n, int | float) and not isinstance(n, bool))
        return next(numbers, None)


def read_params(tool: Tool) -> tuple[Param, ...]:
    """Return the parameters of ``tool``, in the schema's order."""
    root = _to_mapping(tool.input_schema)
    return _SchemaReader(root=root).read_object(root, 0)


def add_description(param: Param, description: str) -> Param:
    """Return ``param`` with a description that stands elsewhere than in its schema."""
    examples = _list_examples(param.schema, description)
    aliases = _find_aliases(description, param.choices or examples)
    return replace(param, description=description, examples=examples, aliases=aliases)


def iterate_params(
    params: Sequence[Param], *, items: bool = False, above: str = ""
) -> Iterator[tuple[str, Param]]:
    """Yield each parameter with its path, including nested ones: ``filter.from``, ``edits[].text``.

    With ``items``, the items of an array are yielded too: ``tags[]``.
    """
    for param in params:
        path = f"{above}{param.name}"
        yield path, param
        yield from iterate_params(param.properties, items=items, above=f"{path}.")
        if param.items is not None:
            if items:
                yield f"{path}[]", param.items
            yield from iterate_params(param.items.properties, items=items, above=f"{path}[].")


@dataclass(slots=True, kw_only=True)
class _SchemaReader:
    """Reads one schema, with a limit, since a schema may contain itself."""

    root: JsonObject
    left: int = _MOST_PARAMS

    def read_object(self, schema: JsonObject, depth: int) -> tuple[Param, ...]:
        needed = schema.get("required")
        required = {n for n in needed if isinstance(n, str)} if isinstance(needed, list) else set()
        read: list[Param] = []
        for name, sub in _to_mapping(schema.get("properties")).items():
            # Each level may hold many parameters: the depth alone bounds nothing.
            if self.left <= 0 or depth > _DEEPEST:
                break
            read.append(self.read_param(str(name), sub, depth, required=str(name) in required))
        return tuple(read)

    def read_param(self, name: str, raw: Any, depth: int, *, required: bool) -> Param:
        self.left -= 1
        schema = _resolve_schema(_to_mapping(raw), self.root)
        description = str(schema.get("description") or "")[:_LONGEST_DESCRIPTION]
        choices = _list_choices(schema)
        kind = _find_kind(schema, choices)
        examples = _list_examples(schema, description)
        items = None
        if kind == "array" and depth < _DEEPEST and self.left > 0:
            items = self.read_param("", schema.get("items"), depth + 1, required=True)
        return Param(
            name=name,
            kind=kind,
            required=required,
            schema=schema,
            declared=_to_mapping(raw),
            description=description,
            choices=choices,
            examples=examples,
            aliases=_find_aliases(description, choices or examples),
            items=items,
            properties=self.read_object(schema, depth + 1) if kind == "object" else (),
            name_words=frozenset(split_words(name)),
            name_terms=term_set(name),
            terms=term_set(f"{name} {schema.get('title') or ''} {description}"),
        )


def _resolve_schema(schema: JsonObject, root: JsonObject) -> JsonObject:
    """Follow ``$ref``, merge ``allOf``, and take the first alternative that is not null."""
    merged = dict(schema)
    for _ in range(_MOST_STEPS):
        if isinstance(merged.get("$ref"), str):
            # What stands beside the reference counts more than its target.
            merged = {**_find_target(merged.pop("$ref"), root), **merged}
            continue
        branches = _merge_branches(merged)
        if not branches:
            break
        # The schema's own keywords stay, and those of the first branch before later ones.
        for branch in branches:
            merged = {**branch, **merged}
    return merged


def _merge_branches(merged: dict[str, Any]) -> list[JsonObject]:
    """Merge combined schemas into ``merged``: all of ``allOf``, the first useful one of others."""
    found: list[JsonObject] = []
    parts = merged.pop("allOf", None)
    if isinstance(parts, list):
        found += [_to_mapping(part) for part in parts[:_MOST_STEPS]]
    for key in ("anyOf", "oneOf"):
        options = merged.pop(key, None)
        if isinstance(options, list):
            useful = (one for one in map(_to_mapping, options) if one.get("type") != "null")
            found += islice(useful, 1)
    return found


def _find_target(reference: str, root: JsonObject) -> JsonObject:
    """Return the target of a local ``#/$defs/Name``; empty for any other reference."""
    if not reference.startswith("#/"):
        return {}
    node: Any = root
    for part in reference[1:].strip("/").split("/"):
        node = _to_mapping(node).get(part.replace("~1", "/").replace("~0", "~"))
    return _to_mapping(node)


def _find_kind(schema: JsonObject, choices: tuple[Any, ...]) -> str:
    declared = schema.get("type")
    if isinstance(declared, list):
        # Null may be sent, but nobody says it in a prompt.
        declared = next((kind for kind in declared if kind != "null"), None)
    if isinstance(declared, str):
        return declared
    if "properties" in schema:
        return "object"
    return "string" if any(isinstance(choice, str) for choice in choices) else "any"


def _list_choices(schema: JsonObject) -> tuple[Any, ...]:
    if "const" in schema:
        return (schema["const"],)
    listed = schema.get("enum")
    read = listed[:_MOST_CHOICES] if isinstance(listed, list) else ()
    return tuple(choice for choice in read if choice is not None)


def _list_examples(schema: JsonObject, description: str) -> tuple[str, ...]:
    """Return example values, from the schema first."""
    listed = schema.get("examples")
    given = [*(listed if isinstance(listed, list) else [listed]), schema.get("example")]
    scalars = (value for value in given if not isinstance(value, bool))
    found = [str(value) for value in scalars if isinstance(value, (str, int, float))]
    # Without remarks: the words in brackets would be taken for further examples.
    for match in _EXAMPLES.finditer(_REMARK.sub("", description)):
        shown = _EXAMPLES_END.split(match["list"], maxsplit=1)[0]
        found += [_FOR_WHAT.sub("", part).strip(" '\"`:.") for part in _SEPARATOR.split(shown)]
    found += ["".join(groups) for groups in _QUOTED.findall(description)]  # one of them matched
    return tuple(dict.fromkeys(text for text in found if 0 < len(text) <= _LONGEST_EXAMPLE))


def _find_aliases(
    description: str, known: tuple[Any, ...]
) -> tuple[tuple[tuple[str, ...], Any], ...]:
    """Return other words for known values: ``AAPL (Apple)``, ``1y: one year``, ``Apple (AAPL)``."""
    # Only values that are known: any word before a bracket would be one otherwise.
    by_text = {str(value).lower(): value for value in known}
    found: dict[tuple[str, ...], Any] = {}
    for match in [*_ALIAS.finditer(description), *_BACKWARDS.finditer(description)]:
        backwards, said = match.re is _BACKWARDS, match["value"]
        value = by_text.get(said.strip("'\"`").lower(), said if backwards else None)
        meaning = match["meaning"] if backwards else match["bracket"] or match["meaning"]
        for phrase in _SEPARATOR.split(meaning):
            if value is not None and extract_terms(phrase):
                found.setdefault(extract_terms(phrase), value)
    return tuple(found.items())


def _to_mapping(value: Any) -> JsonObject:
    return value if isinstance(value, Mapping) else {}
