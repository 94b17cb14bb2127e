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
from harness.leaderboards.bfcl.data import BfclEntry
from harness.leaderboards.bfcl.decoding.forms import TEXTS, OutputForm, detect_form
from harness.leaderboards.bfcl.functions import keeps_dots, map_undotted_names
from harness.leaderboards.bfcl.replies import OutputReader, build_transcript, extract_steps, is_read
from harness.types import JsonObject, Location, Transcript

_RESULTS = "BFCL_v4_*_result.json*"
_GROUPS = frozenset(
    "non_live live multi_turn agentic memory kv vector rec_sum format_sensitivity".split()  # noqa: SIM905
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
    entry_of: Callable[[str], BfclEntry]
    """Finds the data of a case."""
    model: str = ""
    """The model's name."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Unknown category → the number of its recorded outputs."""
    places: Mapping[str, Location] = field(default_factory=dict)
    """Case → the place of its line."""
    _made: dict[str, tuple[Transcript, ...]] = field(default_factory=dict)
    _ways: tuple[OutputForm, bool] | None = None
    _told: tuple[str, ...] | None = None

    def list_cases(self) -> Collection[str]:
        """Return the names of the recorded cases."""
        return self.rows.keys()

    def get_transcripts(self, case: str) -> Sequence[Transcript]:
        """Return the one recorded trial of that case, if there is one."""
        if case not in self._made:
            self._made[case] = tuple(self._build_transcripts(case))
        return self._made[case]

    @property
    def notes(self) -> Sequence[str]:
        """Return notes on unusual outputs: another form, unreadable or left out."""
        # Cached, because every check for a certain recording asks for the notes.
        if self._told is None:
            self._told = tuple(f"{self.model}: {note}." for note in self._iterate_notes())
        return self._told

    def _iterate_notes(self) -> Iterator[str]:
        form, dotted = self._detect_notation()
        if form.title != TEXTS.title:
            yield (
                f"outputs are read as {form.title}; function names have "
                f"{'dots' if dotted else '_ for dots'}"
            )
        if self.left_out:
            kinds = ", ".join(f"{count} of {name!r}" for name, count in self.left_out.items())
            yield f"outputs of unknown categories are left out: {kinds}"
        yield from self._note_unreadable()

    def _build_transcripts(self, case: str) -> Iterator[Transcript]:
        row = self.rows.get(case)
        if row is None:
            return
        entry = self.entry_of(case)
        form, dotted = self._detect_notation()
        names = {} if dotted else map_undotted_names(entry)
        reader = OutputReader(category=entry.category, form=form, names=names)
        turns = extract_steps(row["result"], entry.category)
        replies = None if turns is None else [list(map(reader.read_reply, one)) for one in turns]
        yield build_transcript(entry, replies, row)

    def _detect_notation(self) -> tuple[OutputForm, bool]:
        """Return the form of the outputs, and whether their function names keep their dots.

        Raises:
            InvalidInput: the form is one that is not supported.
        """
        if self._ways is None:
            items = (
                (item, find_category(case).language)
                for case in self.rows
                for item in self._list_outputs(case)
            )
            form = detect_form(items, self.model)
            if not form.is_supported:
                raise InvalidInput([self._refuse_form(form)])
            self._ways = form, keeps_dots(form, self.rows, self.entry_of)
        return self._ways

    def _refuse_form(self, form: OutputForm) -> Problem:
        """Return what is wrong with outputs of a form that is not supported."""
        found = (
            case
            for case in self.rows
            for item in self._list_outputs(case)
            if detect_form([(item, find_category(case).language)], self.model) is form
        )
        return Problem(
            at=self.places[next(found)],
            message=f"most outputs of {self.model} are in {form.title}, which is not supported.",
            meant="Score them with BFCL's own runner, or leave them out: recorded:PATH#MODEL picks "
            "one model.",
        )

    def _note_unreadable(self) -> Iterator[str]:
        """Yield a note if many outputs are unreadable although calls are expected."""
        expected = [
            case for case in self.rows if find_category(case).judging in ("calls", "multi_turn")
        ]
        failed = [case for case in expected if self._is_unreadable(case)]
        if failed and len(failed) > _TOO_MANY * len(expected):
            shown = json.dumps(self.rows[failed[0]]["result"], ensure_ascii=False)
            shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
            title = self._detect_notation()[0].title
            yield (
                f"{len(failed)} of the {len(expected)} outputs from which calls are expected "
                f"cannot be read as {title}, and count as wrong, as they do upstream. "
                f"{failed[0]} is {shown}"
            )

    def _list_outputs(self, case: str) -> list[Any]:
        """Return the recorded outputs of a case, one per reply."""
        turns = extract_steps(self.rows[case]["result"], find_category(case))
        return list(chain.from_iterable(turns or ()))

    def _is_unreadable(self, case: str) -> bool:
        form, items = self._detect_notation()[0], self._list_outputs(case)
        # An empty output is none that cannot be read, and one readable step is enough.
        return any(items) and not any(is_read(form, item, find_category(case)) for item in items)


def read_recordings(
    path: Path, entry_of: Callable[[str], BfclEntry]
) -> Mapping[str, BfclRecording]:
    """Return the recordings at ``path``, by model.

    Outputs of an unknown category are left out, with a note.

    Raises:
        UsageError: it has no results of BFCL.
        InvalidInput: a line is not a result, or all results are of unknown categories.
    """
    files = sorted(path.rglob(_RESULTS)) if path.is_dir() else [path]
    models: dict[str, dict[str, JsonObject]] = {}
    places: dict[str, dict[str, Location]] = {}
    others: dict[str, Counter[str]] = {}
    unknown: Problem | None = None
    for file in files:
        for number, row in _iterate_lines(file):
            at = Location(file=str(file), line=number)
            match row:
                case {"id": str(case), "result": _}:
                    category = _parse_category_name(case)
                case _:
                    message = 'a line of recorded outputs is an object with "id" and "result".'
                    raise InvalidInput([Problem(at=at, message=message)])
            model = str(row.get("model") or _parse_model_name(file))
            if category.removesuffix(_PREREQUISITE) not in CATEGORIES:
                others.setdefault(model, Counter())[category] += 1
                message = f"{case!r} is no BFCL v4 case: there is no category {category!r}."
                unknown = unknown or Problem(at=at, message=message)
                continue
            if category.endswith(_PREREQUISITE):
                continue  # a conversation before memory cases, which is not judged
            rows = models.setdefault(model, {})
            if case in rows:
                message = f"{case} occurs twice for this model."
                raise InvalidInput([Problem(at=at, message=message)])
            rows[case] = row
            places.setdefault(model, {})[case] = at
    if not models and unknown is not None:
        raise InvalidInput([unknown])
    if not models:
        meant = f"In a folder, the files must be named {_RESULTS}."
        raise UsageError(f"{path} holds no outputs of BFCL", meant=meant)
    return {
        name: BfclRecording(rows, entry_of, name, others.get(name, {}), places[name])
        for name, rows in models.items()
    }


def _iterate_lines(file: Path) -> Iterator[tuple[int, Any]]:
    number = 0
    try:
        opened = gzip.open if file.suffix == ".gz" else open
        with opened(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, json.loads(line)
    except (ValueError, RecursionError, EOFError, gzip.BadGzipFile) as error:
        # A line that is not JSON was counted; a line that cannot even be decoded was not.
        at = Location(file=str(file), line=number + (not isinstance(error, json.JSONDecodeError)))
        message = f"this line is not JSON in UTF-8: {error}."
        raise InvalidInput([Problem(at=at, message=message)]) from error
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}") from error


def _parse_category_name(case: str) -> str:
    """Return the category in a case's name.

    For ``format_sensitivity_0:how:live_simple_1`` it is ``format_sensitivity``.
    """
    return case.partition(":")[0].rpartition("_")[0]


def find_category(case: str) -> Category:
    """Return the category of a known case."""
    return CATEGORIES[_parse_category_name(case)]


def _parse_model_name(file: Path) -> str:
    """Return the model's name, which is that of its folder."""
    names = (parent.name for parent in file.absolute().parents)
    return next((name for name in names if name and name not in _GROUPS), file.stem)
