"""The tool lists of a run as models see them, computed once for each list and variant."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from harness.base import UsageError
from harness.runner.variants.decoys import built_in_decoys, chosen, copies, near_decoys
from harness.runner.variants.shown import ShownTools
from harness.suites import LEADERBOARDS, OffersDecoys
from harness.types import Decoys, Tool, ToolList, Variant


class Views:
    """The tool lists of a run as variants show them."""

    def __init__(self) -> None:
        """Start without any list."""
        self._servers: dict[str, Sequence[Tool]] = {}
        self._kept: dict[tuple[str, str], ShownTools] = {}

    def learn(self, server: str, tools: ToolList) -> None:
        """Remember the tools of ``server`` for use as decoys."""
        self._servers[server] = tools.tools

    def of(self, variant: Variant, tools: ToolList) -> ShownTools:
        """Return what a model sees of ``tools`` under ``variant``.

        Raises:
            UsageError: two tools would have the same name, or a source of decoys is missing.
        """
        key = variant.name, tools.digest
        if not tools.digest or key not in self._kept:
            self._kept[key] = ShownTools(variant, tools, self._decoys(variant, tools))
        return self._kept[key]

    def _decoys(self, variant: Variant, tools: ToolList) -> list[Tool]:
        """Return all decoys, each name once."""
        renamed = {edit.name for edit in variant.tools.values() if edit is not None and edit.name}
        known = renamed | {tool.name for tool in tools.tools}
        found: dict[str, Tool] = {}
        for decoys in variant.add:
            for tool in chosen(decoys, self._pool(decoys, tools, {*known, *found})):
                found.setdefault(tool.name, tool)
        return list(found.values())

    def _pool(self, decoys: Decoys, tools: ToolList, taken: Collection[str]) -> Sequence[Tool]:
        if decoys.copied is not None:
            original = tools.get(decoys.copied)
            # A user without the tool does not get copies of it either.
            return () if original is None else copies(original, decoys, taken)
        if decoys.kind == "near":
            return near_decoys(tools)
        if decoys.source == "builtin":
            return built_in_decoys()
        if decoys.source is not None and decoys.source in LEADERBOARDS:
            leaderboard = LEADERBOARDS.get(decoys.source)
            if isinstance(leaderboard, OffersDecoys):
                return leaderboard.decoys()
        if decoys.server not in self._servers:
            asked = decoys.server or decoys.source
            raise UsageError(f"the tools of server {asked!r}, asked for as decoys, are not known")
        return self._servers[decoys.server]
