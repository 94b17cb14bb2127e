"""The tool lists of a run as models see them, computed once for each list and variant."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from harness.base import UsageError
from harness.runner.variants.decoys import (
    choose_decoys,
    copy_tool,
    load_built_in_decoys,
    near_decoys,
)
from harness.runner.variants.shown_tools import ShownTools
from harness.suites import LEADERBOARDS, DecoyLeaderboard
from harness.types import Decoys, Tool, ToolList, Variant


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
        if not tools.digest or key not in self._kept:
            self._kept[key] = ShownTools(variant, tools, self._collect_decoys(variant, tools))
        return self._kept[key]

    def _collect_decoys(self, variant: Variant, tools: ToolList) -> list[Tool]:
        """Return all decoys, each name once."""
        renamed = {edit.name for edit in variant.tools.values() if edit is not None and edit.name}
        known = renamed | {tool.name for tool in tools.tools}
        found: dict[str, Tool] = {}
        for decoys in variant.add:
            # A name that is taken by an earlier group of decoys stays with it.
            for tool in choose_decoys(decoys, self._choose_pool(decoys, tools, {*known, *found})):
                found.setdefault(tool.name, tool)
        return list(found.values())

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
