"""Recorded outputs: result files as BFCL's own runner writes them, or lines that also name the model.

The first are ``BFCL_v4_CATEGORY_result.json`` files, one line a case (``{"id", "result", …}``), in a folder for
each model; the second one file of lines ``{"model", "id", "result", …}``. Either may be gzipped.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.bfcl.catalog import CATEGORIES
from harness.bfcl.data import Entry
from harness.bfcl.replies import reply_of, steps_of, transcript_of
from harness.errors import InvalidInput, Problem, UsageError
from harness.types import JsonObject, Location, Transcript

_RESULTS = "BFCL_v4_*_result.json*"
_GROUPS = frozenset(
    {"non_live", "live", "multi_turn", "agentic", "memory", "kv", "vector", "rec_sum", "format_sensitivity"}
)
# Folders of a model's results; the folder above them has the model's name.
_PREREQUISITE = "_prereq"


@dataclass(slots=True)
class BfclRecording:
    """What one model did; satisfies `harness.suites.benchmarks.Recording`."""

    rows: Mapping[str, JsonObject]
    """Case → its recorded line."""
    entry_of: Callable[[str], Entry]
    """Finds the case's data."""
    _made: dict[str, tuple[Transcript, ...]] = field(default_factory=dict)
    _dotted: bool | None = None

    def cases(self) -> Collection[str]:
        """Return the names of the cases that were recorded."""
        return self.rows.keys()

    def transcripts(self, case: str) -> Sequence[Transcript]:
        """Return the one recorded trial of that case, if there is one."""
        if case not in self._made:
            self._made[case] = tuple(self._transcripts(case))
        return self._made[case]

    def _transcripts(self, case: str) -> Iterator[Transcript]:
        row = self.rows.get(case)
        if row is None:
            return
        entry = self.entry_of(case)
        names = {} if self._keeps_dots() else {one["name"].replace(".", "_"): one["name"] for one in entry.functions}
        turns = steps_of(row["result"], entry.category)
        yield transcript_of(entry, [[reply_of(item, names) for item in steps] for steps in turns], row)

    def _keeps_dots(self) -> bool:
        """Whether the model was let write function names as they are.

        Most APIs refuse a dot in a name, so that runners put ``_`` in its place; one who ever wrote a dot had
        them as they are.
        """
        if self._dotted is None:
            self._dotted = any("." in name for row in self.rows.values() for name in _called(row["result"]))
        return self._dotted


def read_recordings(path: Path, entry_of: Callable[[str], Entry]) -> Mapping[str, BfclRecording]:
    """Return what ``path`` holds, by model.

    Raises:
        UsageError: it holds no results of BFCL.
        InvalidInput: a line is none.
    """
    files = sorted(path.rglob(_RESULTS)) if path.is_dir() else [path]
    models: dict[str, dict[str, JsonObject]] = {}
    for file in files:
        for number, row in _lines(file):
            problem = _problem(row)
            if problem is not None:
                raise InvalidInput([Problem(at=Location(file=str(file), line=number), message=problem)])
            if _category(row["id"]).endswith(_PREREQUISITE):
                continue  # a conversation ahead of memory cases, which is not judged
            rows = models.setdefault(str(row.get("model") or _model_of(file)), {})
            if row["id"] in rows:
                message = f"{row['id']} is there twice for this model."
                raise InvalidInput([Problem(at=Location(file=str(file), line=number), message=message)])
            rows[row["id"]] = row
    if not models:
        raise UsageError(
            f"{path} holds no outputs of BFCL", meant=f"In a folder, files are looked for that are named {_RESULTS}."
        )
    return {name: BfclRecording(rows, entry_of) for name, rows in models.items()}


def _lines(file: Path) -> Iterator[tuple[int, Any]]:
    number = 0
    try:
        with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, json.loads(line)
    except (ValueError, EOFError, gzip.BadGzipFile) as error:
        # A line that is no JSON was counted; one that could not even be read was not.
        at = Location(file=str(file), line=number + (not isinstance(error, json.JSONDecodeError)))
        raise InvalidInput([Problem(at=at, message=f"this is no line of JSON in UTF-8: {error}.")]) from error
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}") from error


def _problem(row: Any) -> str | None:
    if not isinstance(row, dict) or not isinstance(row.get("id"), str) or "result" not in row:
        return 'a line of recorded outputs is an object with "id" and "result".'
    category = _category(row["id"]).removesuffix(_PREREQUISITE)
    if category in CATEGORIES:
        return None
    return f"{row['id']!r} is no case of BFCL v4: there is no category {category!r}."


def _category(case: str) -> str:
    return case.rpartition("_")[0]


def _model_of(file: Path) -> str:
    """Return the name of the folder that stands for a model."""
    parents = file.absolute().parents
    return next((parent.name for parent in parents if parent.name and parent.name not in _GROUPS), file.stem)


def _called(result: Any) -> Iterator[str]:
    if isinstance(result, list):
        for item in result:
            yield from item if isinstance(item, dict) else _called(item)
