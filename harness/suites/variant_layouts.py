"""The fields under ``variants:``, and the layouts that they form."""

from __future__ import annotations

import re
from typing import Any, get_args

from harness.base import (
    Field,
    InvalidValue,
    Layout,
    as_line,
    as_list,
    as_mapping,
    choice,
    flag,
    found,
    integer,
    line,
    text,
)
from harness.types import DecoyKind, Decoys, ToolSearch

_ONE_TEXT = {"type": "string"}
_PREFIX = r"[A-Za-z0-9_-]{1,40}"
_SEARCH_NAME = r"[A-Za-z0-9_-]{1,64}"


# ── What stands under the keys ───────────────────────────────────────────────────────────────


def _any_text(description: str) -> Field:
    """Text that may be empty, which removes the part."""

    def parse(value: Any) -> str:
        if not isinstance(value, str):
            raise InvalidValue(f"expected text, found {found(value)}")
        return value

    return Field(schema={**_ONE_TEXT, "description": description}, parse=parse)


def _values(description: str) -> Field:
    """A list of JSON values that may be empty, which removes the part."""
    schema = {"type": "array", "description": description}
    return Field(schema=schema, parse=lambda value: tuple(as_list(value)))


def _numbers(value: Any) -> tuple[int, ...]:
    given = value if isinstance(value, list) else [value]
    count = integer("", least=1)
    return tuple(count.parse(number) for number in given)


def _named(noun: str, value: Any) -> dict[str, Any]:
    """Parse a mapping from names to mappings, or to null."""
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


def _search_name(value: Any) -> str:
    if not isinstance(value, str) or re.fullmatch(_SEARCH_NAME, value) is None:
        raise InvalidValue(
            f"expected at most 64 letters from A to Z, digits, '_' and '-', found {found(value)}",
            meant="Write what the client calls its search, for example 'ToolSearch'.",
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
TOOL_SEARCH_LAYOUT = Layout(
    fields={
        "beyond": integer(
            "A list of more tools than this is searched.", least=0, default=ToolSearch().beyond
        ),
        "results": integer(
            "How many tools one search finds at most.", least=1, default=ToolSearch().results
        ),
        "name": Field(
            schema={
                "type": "string",
                "pattern": f"^{_SEARCH_NAME}$",
                "description": "What the model sees the search as: tool_search.",
            },
            parse=_search_name,
        ),
        "names": flag("Whether the search tells the names of all tools beforehand."),
    },
    elsewhere={"limit": "Did you mean 'results'?", "threshold": "Did you mean 'beyond'?"},
)
"""``tool_search:`` of a variant."""
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
                "description": "Decoys: tools without a function.",
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
        "tool_search": Field(
            schema={
                "$ref": "#/$defs/tool_search",
                "description": "A search that stands in place of a long list of tools.",
            },
            parse=as_mapping,
        ),
    },
    elsewhere={
        "decoys": "Did you mean 'add'?",
        "prompt": "Did you mean 'prompts'?",
        "search": "Did you mean 'tool_search'?",
    },
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
FILE_LAYOUT = Layout(
    fields={"variants": VARIANTS},
    elsewhere={"tests": "A file of variants has no tests; put 'variants:' into the suite."},
)
"""A file with only variants."""
