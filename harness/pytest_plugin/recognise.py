"""Which files are suites: asked of every file that pytest meets, so it has to be cheap and must not guess.

A file is ours by what it says, wherever it lies: other tools keep YAML, CSV and JSON Lines in a
folder ``evals``, too, and none of these may end up as an error of somebody's tests. One that is
ours and has mistakes is still ours: whoever reads it tells them.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import pytest

FOLDER = "evals"
"""Where suites in Python are looked for; a file of any other format says itself whether it is
one."""

_HEAD = 262_144
"""Bytes of a file that are looked at."""
_BOM = b"\xef\xbb\xbf"

_KEY = rb"[\"']?([a-z_]+)[\"']?[ \t]*:(?=\s|$)"
_TOP_KEY = re.compile(rb"^" + _KEY, re.MULTILINE)
_NESTED_KEY = re.compile(rb"(?:^[ \t]+(?:-[ \t]+)*|^(?:-[ \t]+)+|[{,][ \t]*)" + _KEY, re.MULTILINE)
_QUOTED_KEY = re.compile(rb"[\"']([a-z_]+)[\"'][ \t]*:")
_ASSERTIONS = frozenset(
    {b"must_call", b"must_not_call", b"answer_contains", b"answer_not_contains", b"user_context"}
)
"""What only our tests say, and those of MXCP, which are ours."""
_OF_TESTS = frozenset({b"prompt", b"turns", b"ingest", b"assertions"})
"""What stands in our tests beside their names; other tools that begin with ``suite:`` do not ask a
model."""

_COLUMNS = frozenset(
    {"test_id", "query", "expected_tool", "expected_args", "expected_response_contains"}
)
_ENOUGH_COLUMNS = 3
"""Columns of a dataset by which it is ours, even if another one is misspelt or missing."""
_SEPARATORS = re.compile(r"[,;|\t]")

_TOLD, _ASKED = frozenset({"context", "chunks"}), frozenset({"questions", "answers"})
_BESIDE = frozenset(
    {"name", "metadata", "metric", "chunk_chars", "at_least", "ingest_prompt", "question_prompt"}
)
_LINES = 5
"""Lines of a memory suite that are looked at: any of them shows what it is, and one may be
broken."""
_LONGEST_LINE = 32 * 2**20
"""Bytes of such a line, which may hold a whole book."""

_SUITE_PARTS = frozenset({"check", "default_tools", "server"})
"""What makes a class with ``name`` and ``cases()`` a suite: how it is judged, or what is tested."""


def is_suite(path: Path) -> bool:
    """Whether the YAML, CSV or JSON Lines file at ``path`` is a suite, a valid one or not."""
    looks = {".yml": _is_yaml, ".yaml": _is_yaml, ".csv": _is_csv, ".jsonl": _is_memory}.get(
        path.suffix.lower()
    )
    if looks is None or path.name.startswith(".") or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return looks(file)
    except OSError:
        return False


def python_suites(path: Path, parent: pytest.Collector) -> tuple[str, ...]:
    """Return the classes in a Python file that are suites, by what stands there: nothing is imported.

    A suite has ``name``, ``cases()`` and a part that tells what is tested or how it is judged. Only
    files below ``evals`` are looked at, and those that were named, never modules of tests. In a
    file that was named, ``name`` and ``cases()`` are enough: the rest may come from a class
    elsewhere.
    """
    if path.suffix != ".py" or any(
        fnmatch(path.name, one) for one in parent.config.getini("python_files")
    ):
        return ()
    named = parent.session.isinitpath(path)
    if not (named or _is_below_evals(path, parent.config)):
        return ()
    try:
        body = ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return ()  # whoever imports it will tell
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    return tuple(name for name in classes if _is_python_suite(name, classes, named=named))


def _is_below_evals(path: Path, config: pytest.Config) -> bool:
    roots = (config.invocation_params.dir, config.rootpath)
    return any(
        FOLDER in path.relative_to(root).parts[:-1] for root in roots if path.is_relative_to(root)
    )


def _is_yaml(file: BinaryIO) -> bool:
    head = file.read(_HEAD).removeprefix(_BOM)
    as_json = head.lstrip().startswith(b"{")
    top = set((_QUOTED_KEY if as_json else _TOP_KEY).findall(head))
    if not top & {b"suite", b"tests"}:
        return False
    below = top if as_json else set(_NESTED_KEY.findall(head))
    if b"suite" in top:
        asks = b"tests" in top and b"name" in below and bool(below & _OF_TESTS)
        return b"mxcp" in top or asks or bool(below & _ASSERTIONS)
    return b"mxcp" in top or bool(below & {b"must_call", b"must_not_call"})


def _is_csv(file: BinaryIO) -> bool:
    lines = file.read(_HEAD).removeprefix(_BOM).decode("utf-8", errors="replace").splitlines()
    header = next((line for line in lines if line.strip()), "")
    columns = {cell.strip(" \"'").lower().replace(" ", "_") for cell in _SEPARATORS.split(header)}
    return len(columns & _COLUMNS) >= _ENOUGH_COLUMNS


def _is_memory(file: BinaryIO) -> bool:
    return any(map(_is_memory_line, islice(_lines(file), _LINES)))


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines that may be of a memory suite; a file that begins otherwise has none."""
    while line := file.readline(_HEAD).removeprefix(_BOM):
        if not line.strip():
            continue
        if not line.lstrip().startswith(b"{"):
            return
        yield line if line.endswith(b"\n") else line + file.readline(_LONGEST_LINE)


def _is_memory_line(line: bytes) -> bool:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        # Broken: then it is ours if it names all that such a line must have.
        told, asked = ([b'"%s"' % key.encode() in line for key in keys] for keys in (_TOLD, _ASKED))
        return any(told) and all(asked)
    if not isinstance(found, dict):
        return False
    strange = found.keys() - _TOLD - _ASKED - _BESIDE
    return found.keys() >= _ASKED and bool(found.keys() & _TOLD) and len(strange) <= 1


def _is_python_suite(name: str, classes: dict[str, ast.ClassDef], *, named: bool) -> bool:
    values, functions = _members(classes[name])
    if "cases" not in functions or "name" not in values | functions:
        return False
    return (
        named
        or bool(_SUITE_PARTS & _inherited(name, classes, set()))
        or _mentions_assertions(classes[name])
    )


def _members(node: ast.ClassDef) -> tuple[set[str], set[str]]:
    """Return the names of what stands in a class: values, and functions."""
    values: set[str] = set()
    functions: set[str] = set()
    for part in node.body:
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.add(part.name)
        elif isinstance(part, ast.Assign | ast.AnnAssign):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            values |= {target.id for target in targets if isinstance(target, ast.Name)}
    return values, functions


def _inherited(name: str, classes: dict[str, ast.ClassDef], seen: set[str]) -> set[str]:
    """Return the names of all that a class has, those of its bases in the same file included."""
    if name in seen or name not in classes:
        return set()
    seen.add(name)
    bases = [base.id for base in classes[name].bases if isinstance(base, ast.Name)]
    return set().union(
        *_members(classes[name]), *(_inherited(base, classes, seen) for base in bases)
    )


def _mentions_assertions(node: ast.ClassDef) -> bool:
    """Whether its cases bring checks of their own: ``{"assertions": …}`` or ``PythonCase(assertions=…)``."""
    return any(
        (isinstance(part, ast.Constant) and part.value == "assertions")
        or (isinstance(part, ast.keyword) and part.arg == "assertions")
        for part in ast.walk(node)
    )
