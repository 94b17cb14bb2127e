"""The tool lists of a run as models see them, computed once for each list and variant."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from harness.base import UsageError, read_document
from harness.runner.variants.shown_tools import ShownTools
from harness.suites import LEADERBOARDS, DecoyLeaderboard
from harness.types import COPY_LETTERS, Decoys, Tool, ToolList, Variant

PACK = Path(__file__).with_name("decoys.yml")
"""The built-in pack: 150 tools from fifteen fields."""

_NEAR = (
    ("archived", "Only what was moved to the archive of earlier years."),
    ("draft", "Only drafts that nobody has released yet."),
    ("deleted", "Only what was deleted and may still be restored."),
    ("sample", "Made-up sample data for demonstrations."),
    ("external", "Of partner companies, not of this system."),
    ("scheduled", "Only what is planned for later and has not happened."),
    ("imported", "As it was imported from the former system."),
    ("internal", "For the staff of this system's maker alone."),
)
"""Word and sentence that make a similar tool for another purpose."""


@cache
def load_built_in_decoys() -> tuple[Tool, ...]:
    """Return the tools of the built-in pack, in the order of the file."""
    found: list[Tool] = []
    for tools in read_document(PACK).value.values():
        for name, (description, takes) in tools.items():
            schema: dict[str, Any] = {"type": "object", "properties": {}}
            for key, text in takes.items():
                kind, words = text.split(maxsplit=1)
                described = {"type": kind.removesuffix("?"), "description": words}
                if described["type"] == "array":
                    described["items"] = {"type": "string"}
                schema["properties"][key] = described
                if "?" not in kind:
                    schema.setdefault("required", []).append(key)
            found.append(Tool(name=name, description=description, input_schema=schema))
    return tuple(found)


def near_decoys(tools: ToolList) -> tuple[Tool, ...]:
    """Return tools that sound like ``tools``: ``search_archived_orders`` for ``search_orders``."""
    found = []
    for word, words in _NEAR:
        for tool in tools.tools:
            # The word comes after the verb, in the name's own style.
            mark = next((mark for mark in "_-." if mark in tool.name), None)
            name = (
                tool.name.replace(mark, f"{mark}{word}{mark}", 1) if mark else f"{tool.name}_{word}"
            )
            described = f"{tool.description.strip()} {words}".strip()
            # The real tool's title would not fit the new name.
            found.append(replace(tool, name=name, title=None, description=described))
    return tuple(found)


def copy_tool(tool: Tool, decoys: Decoys, taken: Collection[str]) -> tuple[Tool, ...]:
    """Return as many copies of ``tool`` as ``decoys`` asks for, under names that are not ``taken``.

    They differ from it only in the name, and in the description if ``decoys`` has one.
    """
    names = (f"{tool.name}_{letter}" for letter in COPY_LETTERS)
    # A server's tool may be called like a copy already.
    free = [name for name in names if name not in taken]
    described = tool.description if decoys.description is None else decoys.description
    return tuple(replace(tool, name=name, description=described) for name in free[: decoys.count])


def choose_decoys(decoys: Decoys, pool: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return as many tools of ``pool`` as ``decoys`` asks for, or all if there are fewer.

    With the same seed, a larger count extends the selection of a smaller one.
    """
    order = list(pool)
    random.Random(decoys.seed).shuffle(order)  # noqa: S311 - which decoys is no secret
    return tuple(order[: decoys.count])


class VariantViews:
    """The tool lists of a run as variants show them."""

    def __init__(self) -> None:
        """Start without any list."""
        self._servers: dict[str, Sequence[Tool]] = {}
        self._kept: dict[tuple[str, str], ShownTools] = {}

    def record_tools(self, server: str, tools: ToolList) -> None:
        """Remember the tools of ``server`` for use as decoys."""
        self._servers[server] = tools.tools

    def get_view(self, variant: Variant, tools: ToolList) -> ShownTools:
        """Return what a model sees of ``tools`` under ``variant``.

        Raises:
            UsageError: two tools would have the same name, or a source of decoys is missing.
        """
        key = variant.name, tools.digest
        # Lists without a digest cannot be told apart, so their view is made anew.
        if tools.digest and key in self._kept:
            return self._kept[key]
        renamed = {edit.name for edit in variant.tools.values() if edit is not None and edit.name}
        known = renamed | {tool.name for tool in tools.tools}
        found: dict[str, Tool] = {}
        for decoys in variant.add:
            # A name that is taken by an earlier group of decoys stays with it.
            for tool in choose_decoys(decoys, self._choose_pool(decoys, tools, {*known, *found})):
                found.setdefault(tool.name, tool)
        self._kept[key] = ShownTools(variant, tools, list(found.values()))
        return self._kept[key]

    def _choose_pool(
        self, decoys: Decoys, tools: ToolList, taken: Collection[str]
    ) -> Sequence[Tool]:
        if decoys.copied_tool is not None:
            original = tools.get(decoys.copied_tool)
            # A user without the tool does not get copies of it either.
            return () if original is None else copy_tool(original, decoys, taken)
        if decoys.kind == "near":
            return near_decoys(tools)
        if decoys.source == "builtin":
            return load_built_in_decoys()
        if decoys.source is not None and decoys.source in LEADERBOARDS:
            leaderboard = LEADERBOARDS.get(decoys.source)
            if isinstance(leaderboard, DecoyLeaderboard):
                return leaderboard.list_decoys()
        if decoys.server not in self._servers:
            asked = decoys.server or decoys.source
            raise UsageError(f"the tools of server {asked!r}, asked for as decoys, are not known")
        return self._servers[decoys.server]
