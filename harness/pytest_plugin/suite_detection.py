"""Recognises suites among all files that pytest collects: cheaply, and without guessing.

The content decides, not the folder: other tools also have YAML, CSV and JSON Lines in a folder
``evals``, and these files must not become errors in the user's tests. A suite with mistakes is
still a suite: its reader reports them.
"""

from __future__ import annotations

import ast
from fnmatch import fnmatch
from pathlib import Path

import pytest

FOLDER = "evals"
"""The folder that is searched for Python suites; other formats are recognised by their content."""

_SUITE_PARTS = frozenset({"check", "default_tools", "server"})
"""Attributes that make a class with ``name`` and ``cases()`` a suite: how it is judged, or what is
tested."""


def is_suite(path: Path) -> bool:
    """Whether the file at ``path`` is a suite, valid or not, in a format other than Python."""
    # Here, since pytest imports this module in every session.
    from harness.suites import is_recognised, load_built_in

    suffix = path.suffix.lower()
    # Not those of other tools: whoever runs pytest did not ask for them, and they may cost money.
    formats = [
        one for one in load_built_in().values() if suffix in one.extensions and not one.translates
    ]
    if not formats or path.name.startswith(".") or not path.is_file():
        return False
    return any(is_recognised(one, path) for one in formats)


def python_suites(path: Path, parent: pytest.Collector) -> tuple[str, ...]:
    """Return the classes in a Python file that are suites, by its source: nothing is imported.

    A suite has ``name``, ``cases()`` and a part that tells what is tested or how it is judged. Only
    files below ``evals`` are looked at, and those that were named, never modules of tests. In a
    file that was named, ``name`` and ``cases()`` are enough: the rest may come from a class
    elsewhere.
    """
    config, named = parent.config, parent.session.isinitpath(path)
    roots = (config.invocation_params.dir, config.rootpath)
    places = [path.relative_to(root) for root in roots if path.is_relative_to(root)]
    if (
        path.suffix != ".py"
        or any(fnmatch(path.name, one) for one in config.getini("python_files"))
        or not (named or any(FOLDER in place.parts[:-1] for place in places))
    ):
        return ()
    try:
        # As bytes: a source may name its own encoding.
        body = ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return ()  # the import will report the error
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    return tuple(name for name in classes if _is_python_suite(name, classes, named=named))


def _is_python_suite(name: str, classes: dict[str, ast.ClassDef], *, named: bool) -> bool:
    values, functions = _list_members(classes[name])
    if "cases" not in functions or "name" not in values | functions:
        return False
    if named or _SUITE_PARTS & _collect_attributes(name, classes, set()):
        return True
    # Its cases have checks: `{"assertions": …}` or `PythonCase(assertions=…)`.
    return any(
        getattr(part, "value", None) == "assertions" or getattr(part, "arg", None) == "assertions"
        for part in ast.walk(classes[name])
        if isinstance(part, ast.Constant | ast.keyword)
    )


def _list_members(node: ast.ClassDef) -> tuple[set[str], set[str]]:
    """Return the names that a class body defines: values and functions."""
    values: set[str] = set()
    for part in node.body:
        if isinstance(part, ast.Assign | ast.AnnAssign):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            values |= {target.id for target in targets if isinstance(target, ast.Name)}
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return values, {part.name for part in node.body if isinstance(part, kinds)}


def _collect_attributes(name: str, classes: dict[str, ast.ClassDef], seen: set[str]) -> set[str]:
    """Return all attribute names of a class, including those of its bases in the same file."""
    # In source that was never run, a class may be its own base in the end.
    if name in seen or name not in classes:
        return set()
    seen.add(name)
    bases = [base.id for base in classes[name].bases if isinstance(base, ast.Name)]
    return set().union(
        *_list_members(classes[name]), *(_collect_attributes(base, classes, seen) for base in bases)
    )
