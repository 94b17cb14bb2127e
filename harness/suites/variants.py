"""``variants:`` of a suite or of a separate file: tools and prompts as a model sees them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.base import Document, DocumentReader, Steps, read_document
from harness.suites.variant_layouts import (
    DECOYS_LAYOUT,
    FILE_LAYOUT,
    PARAMETER_LAYOUT,
    TOOL_LAYOUT,
    TOOL_SEARCH_LAYOUT,
    VARIANT_LAYOUT,
)
from harness.types import COPY_LETTERS, Decoys, ParameterEdit, ToolEdit, ToolSearch, Variant

MOST_DECOYS = 1_000
"""Most decoys; no model is offered as many tools at once."""

_CHANGES = ("tools", "order", "add", "prompts", "prefix", "max_result_tokens", "tool_search")
_LISTED = ":', '".join(_CHANGES[:-1])
_WHAT_CHANGES = f"Add '{_LISTED}:' or '{_CHANGES[-1]}:'."


def read_variants(
    reading: DocumentReader, path: Steps, given: Mapping[str, Any]
) -> tuple[Variant, ...]:
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
    return Variant(
        name=name,
        description=values.get("description"),
        tools={
            tool: None if edit is None else _read_tool(reading, (*path, "tools", tool), tool, edit)
            for tool, edit in tools.items()
        },
        order=values.get("order"),
        add=tuple(_read_decoys(reading, (*path, "add"), values.get("add", []))),
        prompts=values.get("prompts", {}),
        prefix=values.get("prefix", ""),
        max_result_tokens=values.get("max_result_tokens"),
        tool_search=None
        if search is None
        else ToolSearch(
            **reading.read_mapping(
                (*path, "tool_search"), search, TOOL_SEARCH_LAYOUT, "'tool_search'"
            )
        ),
        at=reading.document.locate_key(path),
    )


def _read_tool(
    reading: DocumentReader, path: Steps, name: str, given: Mapping[str, Any]
) -> ToolEdit:
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
        # a single item needs no list
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
