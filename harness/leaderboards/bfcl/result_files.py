"""Recorded outputs: result files of BFCL's own runner, or lines that also name the model.

Result files are named ``BFCL_v4_CATEGORY_result.json``, with one line a case
(``{"id", "result", …}``), in a folder for each model. The other format is one file of lines
``{"model", "id", "result", …}``. Both may be gzipped.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from harness.base import InvalidInput, Problem, UsageError
from harness.leaderboards.bfcl.catalog import CATEGORIES, Category
from harness.leaderboards.bfcl.data import Entry
from harness.leaderboards.bfcl.decoding.forms import TEXTS, Form, form_of
from harness.leaderboards.bfcl.naming import keeps_dots, undotted
from harness.leaderboards.bfcl.replies import Reader, is_read, steps_of, transcript_of
from harness.types import JsonObject, Location, Transcript

_RESULTS = "BFCL_v4_*_result.json*"
_GROUPS = frozenset(
    {
        "non_live",
        "live",
        "multi_turn",
        "agentic",
        "memory",
        "kv",
        "vector",
        "rec_sum",
        "format_sensitivity",
    }
)
# Folders of a model's results; the folder above them has the model's name.
_PREREQUISITE = "_prereq"


_TOO_MANY = 0.25
"""Share of unreadable outputs from which a note warns the user."""
_SHOWN = 80
"""Characters of an unreadable output that are shown."""


@dataclass(slots=True)
class BfclRecording:
    """The recorded outputs of one model; satisfies `harness.leaderboards.Recording`."""

    rows: Mapping[str, JsonObject]
    """Case → its recorded line."""
    entry_of: Callable[[str], Entry]
    """Finds the data of a case."""
    model: str = ""
    """The model's name."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Unknown category → the number of its recorded outputs."""
    _made: dict[str, tuple[Transcript, ...]] = field(default_factory=dict)
    _ways: tuple[Form, bool] | None = None
    _told: tuple[str, ...] | None = None

    def cases(self) -> Collection[str]:
        """Return the names of the recorded cases."""
        return self.rows.keys()

    def transcripts(self, case: str) -> Sequence[Transcript]:
        """Return the one recorded trial of that case, if there is one."""
        if case not in self._made:
            self._made[case] = tuple(self._transcripts(case))
        return self._made[case]

    @property
    def notes(self) -> Sequence[str]:
        """Return notes on unusual outputs: another form, unreadable or left out."""
        if (
            self._told is None
        ):  # cached, because every check for a certain recording asks for the notes
            self._told = tuple(f"{self.model}: {note}." for note in self._notes())
        return self._told

    def _notes(self) -> Iterator[str]:
        form, dotted = self._way()
        if form.title != TEXTS.title:
            yield (
                f"outputs are read as {form.title}; function names have "
                f"{'dots' if dotted else '_ for dots'}"
            )
        if self.left_out:
            kinds = ", ".join(f"{count} of {name!r}" for name, count in self.left_out.items())
            yield f"outputs of unknown categories are left out: {kinds}"
        yield from self._unreadable()

    def _transcripts(self, case: str) -> Iterator[Transcript]:
        row = self.rows.get(case)
        if row is None:
            return
        entry = self.entry_of(case)
        turns = steps_of(row["result"], entry.category)
        read = self._reader(entry).reply
        yield transcript_of(
            entry,
            None if turns is None else [[read(item) for item in steps] for steps in turns],
            row,
        )

    def _reader(self, entry: Entry) -> Reader:
        form, dotted = self._way()
        return Reader(category=entry.category, form=form, names={} if dotted else undotted(entry))

    def _way(self) -> tuple[Form, bool]:
        """Return the form of the outputs, and whether their function names keep their dots."""
        if self._ways is None:
            items = (
                (item, category_of(case).language)
                for case in self.rows
                for item in self._items(case)
            )
            form = form_of(items, self.model)
            self._ways = form, keeps_dots(form, self.rows, self.entry_of)
        return self._ways

    def _unreadable(self) -> Iterator[str]:
        """Yield a note if many outputs are unreadable although calls are expected."""
        expected = [
            case for case in self.rows if category_of(case).judging in ("calls", "multi_turn")
        ]
        failed = [case for case in expected if self._says_nothing_readable(case)]
        if failed and len(failed) > _TOO_MANY * len(expected):
            shown = json.dumps(self.rows[failed[0]]["result"], ensure_ascii=False)
            shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
            yield (
                f"{len(failed)} of the {len(expected)} outputs from which calls are expected "
                f"cannot be read as {self._way()[0].title}, and count as wrong, as they do "
                f"upstream. {failed[0]} is {shown}"
            )

    def _items(self, case: str) -> list[Any]:
        """Return the recorded outputs of a case, one per reply."""
        return list(
            chain.from_iterable(steps_of(self.rows[case]["result"], category_of(case)) or ())
        )

    def _says_nothing_readable(self, case: str) -> bool:
        form, category, items = self._way()[0], category_of(case), self._items(case)
        return any(items) and not any(is_read(form, item, category) for item in items)


def read_recordings(path: Path, entry_of: Callable[[str], Entry]) -> Mapping[str, BfclRecording]:
    """Return the recordings at ``path``, by model.

    Outputs of an unknown category are left out, with a note.

    Raises:
        UsageError: it has no results of BFCL.
        InvalidInput: a line is not a result, or all results are of unknown categories.
    """
    files = sorted(path.rglob(_RESULTS)) if path.is_dir() else [path]
    models: dict[str, dict[str, JsonObject]] = {}
    others: dict[str, Counter[str]] = {}
    unknown: Problem | None = None
    for file in files:
        for number, row in _lines(file):
            at = Location(file=str(file), line=number)
            if (
                not isinstance(row, dict)
                or not isinstance(row.get("id"), str)
                or "result" not in row
            ):
                message = 'a line of recorded outputs is an object with "id" and "result".'
                raise InvalidInput([Problem(at=at, message=message)])
            model, category = str(row.get("model") or _model_of(file)), _category(row["id"])
            if category.removesuffix(_PREREQUISITE) not in CATEGORIES:
                others.setdefault(model, Counter())[category] += 1
                message = f"{row['id']!r} is no BFCL v4 case: there is no category {category!r}."
                unknown = unknown or Problem(at=at, message=message)
                continue
            if category.endswith(_PREREQUISITE):
                continue  # a conversation before memory cases, which is not judged
            rows = models.setdefault(model, {})
            if row["id"] in rows:
                raise InvalidInput(
                    [Problem(at=at, message=f"{row['id']} occurs twice for this model.")]
                )
            rows[row["id"]] = row
    if not models and unknown is not None:
        raise InvalidInput([unknown])
    if not models:
        raise UsageError(
            f"{path} holds no outputs of BFCL",
            meant=f"In a folder, the files must be named {_RESULTS}.",
        )
    return {
        name: BfclRecording(rows, entry_of, name, others.get(name, {}))
        for name, rows in models.items()
    }


def _lines(file: Path) -> Iterator[tuple[int, Any]]:
    number = 0
    try:
        with (
            gzip.open(file, "rt", encoding="utf-8")
            if file.suffix == ".gz"
            else file.open(encoding="utf-8") as lines
        ):
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, json.loads(line)
    except (ValueError, RecursionError, EOFError, gzip.BadGzipFile) as error:
        # A line that is not JSON was counted; a line that cannot even be decoded was not.
        at = Location(file=str(file), line=number + (not isinstance(error, json.JSONDecodeError)))
        raise InvalidInput(
            [Problem(at=at, message=f"this line is not JSON in UTF-8: {error}.")]
        ) from error
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}") from error


def _category(case: str) -> str:
    """Return the category in a case's name.

    For ``format_sensitivity_0:how:live_simple_1`` it is ``format_sensitivity``.
    """
    return case.partition(":")[0].rpartition("_")[0]


def category_of(case: str) -> Category:
    """Return the category of a known case."""
    return CATEGORIES[_category(case)]


def _model_of(file: Path) -> str:
    """Return the model's name, which is that of its folder."""
    parents = file.absolute().parents
    return next(
        (parent.name for parent in parents if parent.name and parent.name not in _GROUPS), file.stem
    )
