"""Which files are suites: asked of every file that pytest meets, so it has to be cheap and must not guess.

Whatever lies below a folder ``evals`` is meant as a suite, as for ``harness evals``: a file there that is none is
an error, not a test less. Elsewhere YAML and CSV belong to others, unless they look like a suite.
"""

from __future__ import annotations

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

FOLDER = "evals"
"""The folder of suites."""

_YAML = re.compile(rb"^[\"']?suite[\"']?\s*:", re.MULTILINE)
_OURS = re.compile(rb"^[\"']?mxcp[\"']?\s*:|^\s+(?:- +)?[\"']?(?:prompt|turns)[\"']?\s*:", re.MULTILINE)
"""Other tools' files begin with ``suite:`` too; only ours go on like this."""
_COLUMNS = (b"test_id", b"query", b"expected_tool")
_HEAD = 65_536
"""Bytes of a file that are looked at."""


def is_suite(path: Path, config: pytest.Config) -> bool:
    """Whether the YAML, CSV or JSON Lines file at ``path`` is a suite."""
    suffix = path.suffix.lower()
    if suffix not in {".yml", ".yaml", ".csv", ".jsonl"} or path.name.startswith("."):
        return False
    return _is_below_evals(path, config) or _looks_like_one(path, suffix)


def python_suites(path: Path, parent: pytest.Collector) -> tuple[str, ...]:
    """Return the classes in a Python file that are suites: with ``name`` and ``cases()``, read but not imported.

    Only files below ``evals`` are looked at, and those that were named, never modules of tests.
    """
    if path.suffix != ".py" or any(fnmatch(path.name, one) for one in parent.config.getini("python_files")):
        return ()
    if not (_is_below_evals(path, parent.config) or parent.session.isinitpath(path)):
        return ()
    try:
        body = ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return ()  # whoever imports it will tell
    return tuple(node.name for node in body if isinstance(node, ast.ClassDef) and _is_python_suite(node))


def _is_below_evals(path: Path, config: pytest.Config) -> bool:
    roots = (config.invocation_params.dir, config.rootpath)
    return any(FOLDER in path.relative_to(root).parts[:-1] for root in roots if path.is_relative_to(root))


def _looks_like_one(path: Path, suffix: str) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    if suffix == ".jsonl":
        return all(column in head for column in (b'"questions"', b'"answers"'))
    if suffix == ".csv":
        first = head.partition(b"\n")[0]
        return all(column in first for column in _COLUMNS)
    return _YAML.search(head) is not None and _OURS.search(head) is not None


def _is_python_suite(node: ast.ClassDef) -> bool:
    names = set()
    for part in node.body:
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(part.name)
        elif isinstance(part, ast.Assign | ast.AnnAssign):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {"name", "cases"} <= names
