"""``variants:`` of a suite or of a file of its own: tools and prompts as a model sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from harness.documents.document import Document, Steps, read_document
from harness.documents.fields import (
    Field,
    Layout,
    as_line,
    as_list,
    as_mapping,
    choice,
    found,
    integer,
    line,
    text,
)
from harness.documents.reading import Reading
from harness.errors import InvalidValue
from harness.types import COPY_LETTERS, DecoyKind, Decoys, ParameterEdit, ToolEdit, Variant

MOST_DECOYS = 1_000
"""More tools than any model is offered at once."""

_ONE_TEXT = {"type": "string"}
_CHANGES = {"tools", "order", "add", "prompts", "prefix", "max_result_tokens"}
_WHAT_CHANGES = "Add 'tools:', 'order:', 'add:', 'prompts:', 'prefix:' or 'max_result_tokens:'."
_PREFIX = r"[A-Za-z0-9_-]{1,40}"


# ── What stands under the keys ───────────────────────────────────────────────────────────────


def _any_text(description: str) -> Field:
    """Text that may be empty: then the part is taken out."""

    def parse(value: Any) -> str:
        if not isinstance(value, str):
            raise InvalidValue(f"expected text, found {found(value)}")
        return value

    return Field(schema={**_ONE_TEXT, "description": description}, parse=parse)


def _values(description: str) -> Field:
    """A list of JSON values that may be empty: then the part is taken out."""
    schema = {"type": "array", "description": description}
    return Field(schema=schema, parse=lambda value: tuple(as_list(value)))


def _numbers(value: Any) -> tuple[int, ...]:
    given = value if isinstance(value, list) else [value]
    count = integer("", least=1)
    return tuple(count.parse(number) for number in given)


def _named(noun: str, value: Any) -> dict[str, Any]:
    """Take a mapping from names to mappings, or to nothing."""
    for name, part in as_mapping(value).items():
        as_line(name)
        if part is not None and not isinstance(part, dict):
            raise InvalidValue(
                f"expected a mapping, found {found(part)}",
                path=(name,),
                meant=f"Write 'null' to take the {noun} out.",
            )
    return as_mapping(value)


def _order(value: Any) -> int | tuple[str, ...]:
    if isinstance(value, list):
        return tuple(as_line(name) for name in value)
    if isinstance(value, dict) and value.keys() == {"seed"}:
        seed: int = integer("", least=0).parse(value["seed"])
        return seed
    raise InvalidValue(
        f"expected {{seed: NUMBER}} or a list of tools, found {found(value)}",
        meant="Write 'order: {seed: 7}' to shuffle, or the tools that come first.",
    )


def _source(value: Any) -> str:
    source = as_line(value).removeprefix("decoys:")
    named = Decoys(source=source)
    if source in {"builtin", "bfcl"} or named.server or named.copied:
        return source
    raise InvalidValue(
        f"there are no decoys {found(value)}",
        meant="Write 'builtin', 'bfcl', 'server:NAME' of a configured server, or 'copy:TOOL'.",
    )


def _added(value: Any) -> list[Any]:
    if not isinstance(value, list):
        return [as_mapping(value)]
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            raise InvalidValue(f"expected a mapping, found {found(item)}", path=(index,))
    return value


def _prompts(value: Any) -> dict[str, str]:
    given = as_mapping(value)
    if not given:
        raise InvalidValue("no test is named", meant="Write 'NAME OF A TEST: other words'.")
    for name, words in given.items():
        as_line(name)
        if not isinstance(words, str) or not words.strip():
            raise InvalidValue(
                f"expected the words of a prompt, found {found(words)}", path=(name,)
            )
    return given


def _prefix(value: Any) -> str:
    if not isinstance(value, str) or re.fullmatch(_PREFIX, value) is None:
        raise InvalidValue(
            f"expected at most 40 letters from A to Z, digits, '_' and '-', found {found(value)}",
            meant="Write what the client puts before the names, for example 'mcp__crm__'.",
        )
    return value


def _by_name(noun: str, definition: str, description: str) -> Field:
    return Field(
        schema={
            "type": "object",
            "additionalProperties": {
                "anyOf": [{"$ref": f"#/$defs/{definition}"}, {"type": "null"}]
            },
            "description": description,
        },
        parse=lambda value: _named(noun, value),
    )


# ── The layouts ──────────────────────────────────────────────────────────────────────────────

PARAMETER_LAYOUT = Layout(
    fields={
        "name": line("Another name; calls are mapped back."),
        "description": _any_text("Another description; an empty one takes it out."),
        "enum": _values("Other allowed values; an empty list takes them out."),
        "examples": _values("Other examples; an empty list takes them out."),
        "default": Field(
            schema={"description": "Another default; null takes it out."},
            parse=lambda value: () if value is None else (value,),
            takes_null=True,
        ),
    },
    elsewhere={"type": "A variant changes words, not what the server takes."},
)
"""A parameter under ``parameters:`` of a tool."""
TOOL_LAYOUT = Layout(
    fields={
        "name": line("Another name; calls are mapped back."),
        "title": _any_text("Another title; an empty one takes it out."),
        "description": _any_text("Another description; an empty one takes it out."),
        "without_sentences": Field(
            schema={
                "anyOf": [
                    {"type": "integer", "minimum": 1},
                    {"type": "array", "items": {"type": "integer", "minimum": 1}},
                ],
                "description": "Sentences of the description that are taken out, from 1.",
            },
            parse=_numbers,
        ),
        "parameters": _by_name(
            "parameter",
            "variant_parameter",
            "Parameters by the server's names; null takes one out of what the model sees.",
        ),
    },
    elsewhere={"drop_sentences": "Did you mean 'without_sentences'?"},
)
"""A tool under ``tools:`` of a variant."""
DECOYS_LAYOUT = Layout(
    fields={
        "from": Field(
            schema={
                "type": "string",
                "pattern": r"^(decoys:)?(builtin|bfcl|server:.+|copy:.+)$",
                "description": (
                    "Where they come from: builtin, bfcl, server:NAME, or copy:TOOL for copies "
                    "of a tool of the server itself."
                ),
            },
            parse=_source,
        ),
        "count": integer("How many.", least=1, default=Decoys().count),
        "kind": choice(
            "Tools of other fields, or tools that sound like the server's own.",
            get_args(DecoyKind),
        ),
        "seed": integer("Which of them; equal seed, equal decoys.", least=0, default=0),
        "description": _any_text("What copies are described with, in place of the tool's own."),
    },
    elsewhere={"source": "Did you mean 'from'?"},
)
"""``add:`` of a variant."""
VARIANT_LAYOUT = Layout(
    fields={
        "description": text("What the variant tries, in a sentence."),
        "tools": _by_name(
            "tool", "variant_tool", "Tools by the server's names; null does not offer one."
        ),
        "order": Field(
            schema={
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"seed": {"type": "integer", "minimum": 0}},
                        "required": ["seed"],
                        "additionalProperties": False,
                    },
                    {"type": "array", "items": {"type": "string", "pattern": r"\S"}},
                ],
                "description": "A shuffle by its seed, or the tools that come first.",
            },
            parse=_order,
        ),
        "add": Field(
            schema={
                "anyOf": [
                    {"$ref": "#/$defs/decoys"},
                    {"type": "array", "items": {"$ref": "#/$defs/decoys"}},
                ],
                "description": "Decoys: tools that lead nowhere.",
            },
            parse=_added,
        ),
        "prompts": Field(
            schema={
                "type": "object",
                "minProperties": 1,
                "additionalProperties": {"type": "string", "pattern": r"\S"},
                "description": "Other words for the first prompt of tests, by the test's name.",
            },
            parse=_prompts,
        ),
        "prefix": Field(
            schema={
                "type": "string",
                "pattern": f"^{_PREFIX}$",
                "description": "What a client puts before the name of each tool: mcp__crm__.",
            },
            parse=_prefix,
        ),
        "max_result_tokens": integer(
            "About how many tokens of a result the model is told.", least=1
        ),
    },
    elsewhere={"decoys": "Did you mean 'add'?", "prompt": "Did you mean 'prompts'?"},
)
"""A variant under ``variants:``."""
VARIANTS = Field(
    schema={
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/variant"},
        "description": "Tool lists as a model is to see them, by name, for --variant.",
    },
    parse=as_mapping,
)
"""``variants:`` of a suite."""
_FILE = Layout(
    fields={"variants": VARIANTS},
    elsewhere={"tests": "A file of variants has no tests; put 'variants:' into the suite."},
)


# ── Reading ──────────────────────────────────────────────────────────────────────────────────


def read_variants(reading: Reading, path: Steps, given: Mapping[str, Any]) -> tuple[Variant, ...]:
    """Return the variants that ``given`` at ``path`` describes.

    Problems are kept by ``reading``.
    """
    return tuple(_variant(reading, (*path, name), name, part) for name, part in given.items())


def read_variants_file(path: Path) -> tuple[Variant, ...]:
    """Return the variants of a file of their own.

    Raises:
        InvalidInput: with every problem of the file, in the order of its lines.
    """
    return variants_in(read_document(path))


def variants_in(document: Document) -> tuple[Variant, ...]:
    """Return the variants of a document that has nothing else.

    Raises:
        InvalidInput: as `read_variants_file`.
    """
    reading = Reading(document)
    content = document.value if isinstance(document.value, dict) else {}
    values = reading.record((), content, _FILE, "the file of variants")
    if not values.get("variants") and not reading.problems:
        reading.problem(
            document.at(()), "there are no variants in the file.", "Add 'variants:' with some."
        )
    found_variants = read_variants(reading, ("variants",), values.get("variants", {}))
    reading.finish()
    return found_variants


def _variant(reading: Reading, path: Steps, name: str, given: Any) -> Variant:
    noun = f"variant {name!r}"
    if not isinstance(given, dict):
        reading.problem(reading.document.at(path), f"{noun} is no mapping.", _WHAT_CHANGES)
        return Variant(name=name)
    values = reading.record(path, given, VARIANT_LAYOUT, noun)
    if not given.keys() & _CHANGES:
        reading.problem(reading.document.at(path), f"{noun} changes nothing.", _WHAT_CHANGES)
    tools = values.get("tools", {})
    return Variant(
        name=name,
        description=values.get("description"),
        tools={
            tool: None if edit is None else _tool(reading, (*path, "tools", tool), tool, edit)
            for tool, edit in tools.items()
        },
        order=values.get("order"),
        add=tuple(_decoys(reading, (*path, "add"), values.get("add", []))),
        prompts=values.get("prompts", {}),
        prefix=values.get("prefix", ""),
        max_result_tokens=values.get("max_result_tokens"),
        at=reading.document.at_key(path),
    )


def _tool(reading: Reading, path: Steps, name: str, given: Mapping[str, Any]) -> ToolEdit:
    values = reading.record(path, given, TOOL_LAYOUT, f"tool {name!r}")
    parameters = {
        key: None
        if edit is None
        else ParameterEdit(
            **reading.record(
                (*path, "parameters", key), edit, PARAMETER_LAYOUT, f"parameter {key!r}"
            )
        )
        for key, edit in values.pop("parameters", {}).items()
    }
    return ToolEdit(**values, parameters=parameters)


def _decoys(reading: Reading, path: Steps, given: list[Any]) -> Iterator[Decoys]:
    for index, part in enumerate(given):
        # One alone needs no list.
        at = (*path, index) if len(given) > 1 else path
        values = reading.record(at, part, DECOYS_LAYOUT, "'add'")
        source = values.pop("from", "builtin")
        if Decoys(source=source).copied is not None:
            most, noun = len(COPY_LETTERS), "copies of one tool"
            alien = [key for key in ("kind",) if key in values]
        else:
            most, noun = MOST_DECOYS, "decoys"
            alien = [key for key in ("description",) if key in values]
        if values.get("count", 0) > most:
            reading.problem(
                reading.document.at((*at, "count")), f"at most {most:,} {noun} are added."
            )
        for key in alien:
            which = "no copies have" if key == "kind" else "only copies have"
            reading.problem(
                reading.document.at_key((*at, key)),
                f"{which} {key!r}.",
                "Remove it." if key == "kind" else "Write 'from: copy:TOOL', or remove it.",
            )
        yield Decoys(source=source, **values)
