"""Memory suites in JSON Lines; `harness.suites.memory_dataset` reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from harness.suites.formats import BOM, HEAD, SuiteFormat

_TOLD, _ASKED = frozenset({"context", "chunks"}), frozenset({"questions", "answers"})
_BESIDE = frozenset(
    {"name", "metadata", "metric", "chunk_chars", "at_least", "ingest_prompt", "question_prompt"}
)
_LINES = 5
"""Lines that are examined: any of them may identify the file, and some may be broken."""
_LONGEST_LINE = 32 * 2**20
"""Most bytes of a line, which may contain a whole book."""


def _is_memory(_path: Path, file: BinaryIO) -> bool:
    return any(map(_is_memory_line, islice(_iterate_lines(file), _LINES)))


def _iterate_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines that may be of a memory suite; none if the file begins otherwise."""
    while line := file.readline(HEAD).removeprefix(BOM):
        if not line.strip():
            continue
        if not line.lstrip().startswith(b"{"):
            return
        # Read on only where the beginning looks right: another tool's file may be one endless line.
        yield line if line.endswith(b"\n") else line + file.readline(_LONGEST_LINE)


def _is_memory_line(line: bytes) -> bool:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        # broken: still a memory suite if it names all required keys
        told, asked = ([b'"%s"' % key.encode() in line for key in keys] for keys in (_TOLD, _ASKED))
        return any(told) and all(asked)
    if not isinstance(found, dict):
        return False
    strange = found.keys() - _TOLD - _ASKED - _BESIDE
    # One unknown column may be a misspelt one; with more it is another format.
    return found.keys() >= _ASKED and bool(found.keys() & _TOLD) and len(strange) <= 1


FORMAT = SuiteFormat(
    extensions=(".jsonl",),
    recognises=_is_memory,
    looks_for="lines with 'context' or 'chunks', 'questions' and 'answers'",
    reads="harness.suites.memory_dataset:read_memory",
    counts_cases=True,
    is_named_by_file=True,
)
"""``evals/memory.jsonl``."""
