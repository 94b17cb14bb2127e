"""``variants:`` of a suite or of a separate file: tools and prompts as a model sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, get_args

from harness.base import (
    TEXT,
    Document,
    DocumentReader,
    Field,
    InvalidValue,
    Layout,
    Steps,
    any_of,
    array_of,
    build_field,
    choice_field,
    describe_value,
    flag_field,
    integer_field,
    line_field,
    mapping_of,
    object_of,
    parse_entries,
    parse_list,
    parse_mapping,
    parse_single_line,
    read_document,
    refer_to,
    require_text,
    text_field,
)
from harness.suites.attacks.defences import DEFENCES
from harness.suites.faults import ERROR_TEXTS
from harness.types import (
    COPY_LETTERS,
    DecoyKind,
    Decoys,
    InstructionsEdit,
    JsonObject,
    ParameterEdit,
    ToolEdit,
    ToolSearch,
    Variant,
)


def _build_text_field(description: str) -> Field:
    """Text that may be empty, which removes the part."""

    def parse_text(value: Any) -> str:
        if not isinstance(value, str):
            raise InvalidValue(f"expected text, found {describe_value(value)}")
        return value

    return build_field(description, {"type": "string"}, parse_text)


def _build_values_field(description: str) -> Field:
    """A list of JSON values that may be empty, which removes the part."""
    return build_field(description, {"type": "array"}, lambda value: tuple(parse_list(value)))


def _build_word_field(description: str, most: int, meant: str) -> Field:
    """A part of a name: up to ``most`` letters, digits and signs that every client allows."""
    pattern = f"[A-Za-z0-9_-]{{1,{most}}}"

    def parse_word(value: Any) -> str:
        if not isinstance(value, str) or re.fullmatch(pattern, value) is None:
            found = describe_value(value)
            raise InvalidValue(
                f"expected at most {most} letters from A to Z, digits, '_' and '-', found {found}",
                meant=meant,
            )
        return value

    return build_field(description, {"type": "string", "pattern": f"^{pattern}$"}, parse_word)


_NUMBERS = any_of({"type": "integer", "minimum": 1}, array_of({"type": "integer", "minimum": 1}))
_COUNT = integer_field("", least=1)
_SEED = integer_field("", least=0)


def _parse_numbers(value: Any) -> tuple[int, ...]:
    return tuple(map(_COUNT.parse, value if isinstance(value, list) else [value]))


def _build_by_name_field(noun: str, definition: str, description: str) -> Field:
    """A mapping from names to mappings, or to null."""

    def parse_by_name(value: Any) -> dict[str, Any]:
        for name, part in parse_mapping(value).items():
            parse_single_line(name)
            if part is not None and not isinstance(part, dict):
                message = f"expected a mapping, found {describe_value(part)}"
                meant = f"Write 'null' to take the {noun} out."
                raise InvalidValue(message, path=(name,), meant=meant)
        return parse_mapping(value)

    schema = mapping_of(any_of(refer_to(definition), {"type": "null"}))
    return build_field(description, schema, parse_by_name)


def _parse_order(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(parse_single_line, value))
    if isinstance(value, dict) and value.keys() == {"seed"}:
        return _SEED.parse(value["seed"])
    message = f"expected {{seed: NUMBER}} or a list of tools, found {describe_value(value)}"
    meant = "Write 'order: {seed: 7}' to shuffle, or the tools that come first."
    raise InvalidValue(message, meant=meant)


def _parse_source(value: Any) -> str:
    source = parse_single_line(value).removeprefix("decoys:")
    named = Decoys(source=source)
    if source in {"builtin", "bfcl"} or named.server or named.copied_tool:
        return source
    meant = "Write 'builtin', 'bfcl', 'server:NAME' of a configured server, or 'copy:TOOL'."
    raise InvalidValue(f"there are no decoys {describe_value(value)}", meant=meant)


def _parse_added(value: Any) -> list[Any]:
    items = value if isinstance(value, list) else [parse_mapping(value)]
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise InvalidValue(f"expected a mapping, found {describe_value(item)}", path=(index,))
    return items


def _parse_prompts(value: Any) -> dict[str, str]:
    if not parse_mapping(value):
        raise InvalidValue("no test is named", meant="Write 'NAME OF A TEST: other words'.")
    for name in value:
        parse_single_line(name)
    return parse_entries(partial(require_text, "the words of a prompt"), value)


def _parse_instructions(value: Any) -> InstructionsEdit:
    if isinstance(value, str):
        return InstructionsEdit(text=value.strip())
    if isinstance(value, dict) and value.keys() == {"without_sentences"}:
        numbers = _parse_numbers(value["without_sentences"])
        return InstructionsEdit(without_sentences=numbers)
    raise InvalidValue(
        f"expected text or {{without_sentences: NUMBERS}}, found {describe_value(value)}",
        meant="Write other instructions, or '' to show none.",
    )


# ── The layouts ──────────────────────────────────────────────────────────────────────────────


PARAMETER_LAYOUT = Layout(
    fields={
        "name": line_field("Another name; calls are mapped back."),
        "description": _build_text_field("Another description; an empty one takes it out."),
        "enum": _build_values_field("Other allowed values; an empty list takes them out."),
        "examples": _build_values_field("Other examples; an empty list takes them out."),
        "default": build_field(
            "Another default; null takes it out.",
            {},
            lambda value: () if value is None else (value,),
            takes_null=True,
        ),
    },
    elsewhere={"type": "A variant changes words, not what the server takes."},
)
"""A parameter under ``parameters:`` of a tool."""
TOOL_LAYOUT = Layout(
    fields={
        "name": line_field("Another name; calls are mapped back."),
        "title": _build_text_field("Another title; an empty one takes it out."),
        "description": _build_text_field("Another description; an empty one takes it out."),
        "without_sentences": build_field(
            "Sentences of the description that are taken out, from 1.", _NUMBERS, _parse_numbers
        ),
        "parameters": _build_by_name_field(
            "parameter",
            "variant_parameter",
            "Parameters by the server's names; null takes one out of what the model sees.",
        ),
        "errors": ERROR_TEXTS,
    },
    elsewhere={"drop_sentences": "Did you mean 'without_sentences'?"},
)
"""A tool under ``tools:`` of a variant."""
DECOYS_LAYOUT = Layout(
    fields={
        "from": build_field(
            "Where they come from: builtin, bfcl, server:NAME, or copy:TOOL for copies "
            "of a tool of the server itself.",
            {"type": "string", "pattern": r"^(decoys:)?(builtin|bfcl|server:.+|copy:.+)$"},
            _parse_source,
        ),
        "count": integer_field("How many.", least=1, default=Decoys().count),
        "kind": choice_field(
            "Tools of other fields, or tools that sound like the server's own.", get_args(DecoyKind)
        ),
        "seed": integer_field("Which of them; equal seed, equal decoys.", least=0, default=0),
        "description": _build_text_field(
            "What copies are described with, in place of the tool's own."
        ),
    },
    elsewhere={"source": "Did you mean 'from'?"},
)
"""``add:`` of a variant."""
TOOL_SEARCH_LAYOUT = Layout(
    fields={
        "beyond": integer_field(
            "A list of more tools than this is searched.", least=0, default=ToolSearch().beyond
        ),
        "results": integer_field(
            "How many tools one search finds at most.", least=1, default=ToolSearch().results
        ),
        "name": _build_word_field(
            "What the model sees the search as: tool_search.",
            64,
            "Write what the client calls its search, for example 'ToolSearch'.",
        ),
        "names": flag_field("Whether the search tells the names of all tools beforehand."),
    },
    elsewhere={"limit": "Did you mean 'results'?", "threshold": "Did you mean 'beyond'?"},
)
"""``tool_search:`` of a variant."""
VARIANT_LAYOUT = Layout(
    fields={
        "description": text_field("What the variant tries, in a sentence."),
        "tools": _build_by_name_field(
            "tool", "variant_tool", "Tools by the server's names; null does not offer one."
        ),
        "instructions": build_field(
            "Other instructions of the server; empty ones take them out.",
            any_of(
                {"type": "string"}, object_of({"without_sentences": _NUMBERS}, "without_sentences")
            ),
            _parse_instructions,
        ),
        "order": build_field(
            "A shuffle by its seed, or the tools that come first.",
            any_of(object_of({"seed": {"type": "integer", "minimum": 0}}, "seed"), array_of(TEXT)),
            _parse_order,
        ),
        "add": build_field(
            "Decoys: tools without a function.",
            any_of(refer_to("decoys"), array_of(refer_to("decoys"))),
            _parse_added,
        ),
        "prompts": build_field(
            "Other words for the first prompt of tests, by the test's name.",
            mapping_of(TEXT, minProperties=1),
            _parse_prompts,
        ),
        "prefix": _build_word_field(
            "What a client puts before the name of each tool: mcp__crm__.",
            40,
            "Write what the client puts before the names, for example 'mcp__crm__'.",
        ),
        "max_result_tokens": integer_field(
            "About how many tokens of a result the model is told.", least=1
        ),
        "text_only": flag_field("Whether the model is given the text of results alone."),
        "offer_resources": flag_field("Whether the model has tools to list and read resources."),
        **DEFENCES,
        "tool_search": build_field(
            "A search that stands in place of a long list of tools.",
            refer_to("tool_search"),
            parse_mapping,
        ),
    },
    elsewhere={
        "decoys": "Did you mean 'add'?",
        "prompt": "Did you mean 'prompts'?",
        "search": "Did you mean 'tool_search'?",
    },
)
"""A variant under ``variants:``."""
VARIANTS = build_field(
    "Tool lists as a model is to see them, by name, for --variant.",
    mapping_of(refer_to("variant")),
    parse_mapping,
)
"""``variants:`` of a suite."""
FILE_LAYOUT = Layout(
    fields={"variants": VARIANTS},
    elsewhere={"tests": "A file of variants has no tests; put 'variants:' into the suite."},
)
"""A file with only variants."""
MOST_DECOYS = 1_000
"""Most decoys; no model is offered as many tools at once."""

_PLAIN = ("description", "instructions", "order", "prompts", "prefix")
_SHOWN = ("max_result_tokens", "text_only", "offer_resources", *DEFENCES)
_CHANGES = [key for key in VARIANT_LAYOUT.fields if key != "description"]
_LISTED = ":', '".join(_CHANGES[:-1])
_WHAT_CHANGES = f"Add '{_LISTED}:' or '{_CHANGES[-1]}:'."


def read_variants(reading: DocumentReader, path: Steps, given: JsonObject) -> tuple[Variant, ...]:
    """Return the variants that ``given`` at ``path`` describes.

    ``reading`` collects problems.
    """
    return tuple(_read_variant(reading, (*path, name), name, part) for name, part in given.items())


def read_variants_file(path: Path) -> tuple[Variant, ...]:
    """Return the variants of a file that has only variants.

    Raises:
        InvalidInput: with every problem of the file, in the order of its lines.
    """
    return read_variants_document(read_document(path))


def read_variants_document(document: Document) -> tuple[Variant, ...]:
    """Return the variants of a document that has nothing else.

    Raises:
        InvalidInput: as `read_variants_file`.
    """
    reading = DocumentReader(document)
    content = document.value if isinstance(document.value, dict) else {}
    values = reading.read_mapping((), content, FILE_LAYOUT, "the file of variants")
    # After other problems this would only repeat that something is missing.
    if not values.get("variants") and not reading.problems:
        reading.add_problem((), "there are no variants in the file.", "Add 'variants:' with some.")
    found_variants = read_variants(reading, ("variants",), values.get("variants", {}))
    reading.finish()
    return found_variants


def _read_variant(reading: DocumentReader, path: Steps, name: str, given: Any) -> Variant:
    noun = f"variant {name!r}"
    if not isinstance(given, dict):
        reading.add_problem(path, f"{noun} is not a mapping.", _WHAT_CHANGES)
        return Variant(name=name)
    values = reading.read_mapping(path, given, VARIANT_LAYOUT, noun)
    # By the keys as written: an invalid change is a change with a problem.
    if given.keys().isdisjoint(_CHANGES):
        reading.add_problem(path, f"{noun} changes nothing.", _WHAT_CHANGES)
    tools, search = values.get("tools", {}), values.get("tool_search")
    if search is not None and "tool_filter" in values:
        message = f"{noun} has 'tool_filter' and 'tool_search', which both choose its tools."
        reading.add_key_problem((*path, "tool_filter"), message, "Keep one of them.")
    if search is not None:
        place = (*path, "tool_search")
        search = ToolSearch(
            **reading.read_mapping(place, search, TOOL_SEARCH_LAYOUT, "'tool_search'")
        )
    return Variant(
        name=name,
        tools={
            tool: None if edit is None else _read_tool(reading, (*path, "tools", tool), tool, edit)
            for tool, edit in tools.items()
        },
        add=tuple(_read_decoys(reading, (*path, "add"), values.get("add", []))),
        tool_search=search,
        at=reading.document.locate_key(path),
        **{key: values[key] for key in (*_PLAIN, *_SHOWN) if key in values},
    )


def _read_tool(reading: DocumentReader, path: Steps, name: str, given: JsonObject) -> ToolEdit:
    values = reading.read_mapping(path, given, TOOL_LAYOUT, f"tool {name!r}")
    parameters = {
        key: None
        if edit is None
        else ParameterEdit(
            **reading.read_mapping(
                (*path, "parameters", key), edit, PARAMETER_LAYOUT, f"parameter {key!r}"
            )
        )
        for key, edit in values.pop("parameters", {}).items()
    }
    return ToolEdit(**values, parameters=parameters)


def _read_decoys(reading: DocumentReader, path: Steps, given: list[Any]) -> Iterator[Decoys]:
    for index, part in enumerate(given):
        at = (*path, index) if len(given) > 1 else path
        values = reading.read_mapping(at, part, DECOYS_LAYOUT, "'add'")
        source = values.pop("from", "builtin")
        copies = Decoys(source=source).copied_tool is not None
        most = len(COPY_LETTERS) if copies else MOST_DECOYS
        if values.get("count", 0) > most:
            noun = "copies of one tool" if copies else "decoys"
            reading.add_problem((*at, "count"), f"at most {most:,} {noun} are added.")
        if copies and "kind" in values:
            reading.add_key_problem((*at, "kind"), "no copies have 'kind'.", "Remove it.")
        if not copies and "description" in values:
            meant = "Write 'from: copy:TOOL', or remove it."
            reading.add_key_problem((*at, "description"), "only copies have 'description'.", meant)
        yield Decoys(source=source, **values)
