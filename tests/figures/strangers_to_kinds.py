"""Files that know by name what a kind of check or a way of identity should say of itself."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

_CHECKS = ("/checks/kinds/", "harness/suites/", "harness/leaderboards/")
"""Where kinds of checks are defined, and suites that name them are read."""
_DELIVERIES = ("/identity/", "harness/suites/", "harness/config/")
"""The same for the ways in which a server learns the identity."""


def list_files_that_name_a_check(
    modules: Mapping[str, ast.Module], kinds: Collection[str]
) -> list[str]:
    """Return the modules outside of `_CHECKS` in which one of ``kinds`` is a text of the code."""
    # "not" and "python" are words of other things, "max_tokens" and its like are keys of limits
    named = {kind for kind in kinds if "_" in kind and not kind.startswith("max_")}
    return [
        path
        for path, tree in modules.items()
        if not _is_in(path, _CHECKS) and named.intersection(_list_texts(tree))
    ]


def list_files_that_compare_a_via(modules: Mapping[str, ast.Module]) -> list[str]:
    """Return the modules outside of `_DELIVERIES` that decide by ``identity.via``."""
    return [
        path
        for path, tree in modules.items()
        if not _is_in(path, _DELIVERIES) and any(map(_compares_a_via, ast.walk(tree)))
    ]


def _is_in(path: str, places: Collection[str]) -> bool:
    return any(place in path for place in places)


def _list_texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _compares_a_via(node: ast.AST) -> bool:
    if not isinstance(node, ast.Compare):
        return False
    names = (
        getattr(side, "attr", getattr(side, "id", "")) for side in (node.left, *node.comparators)
    )
    return "via" in names
