"""Finds suites by name or path, and selects cases in them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.base import (
    InvalidInput,
    NoSuchModule,
    NothingToRun,
    Problem,
    Registry,
    UsageError,
    did_you_mean,
    format_path,
    may_be_reference,
    names_a_file,
)
from harness.suites.case_patterns import compile_pattern, list_labels
from harness.suites.foreign_suites import recognise_suites
from harness.suites.in_python.suite import read_reference
from harness.suites.leaderboards import LEADERBOARDS, parse_leaderboard
from harness.suites.readers import (
    Reader,
    Vocabulary,
    find_name_in_path,
    is_suite_file,
    may_be_suite,
    read_suite,
)
from harness.types import Case, Location, Suite, dataclass

PYTHON_SUITES: Registry[Any] = Registry("harness.python_suites", "suite", {})
"""Name → the class of a suite in Python, for those that have a name besides their dotted path."""

_PLAIN_NAME = re.compile(r"[\w.][\w .-]*")
_SUITE_LINE = re.compile(r"""^\s*["']?suite["']?\s*:\s*["']?(.*?)["']?\s*(?:#.*)?$""", re.MULTILINE)


def find_suites(
    names: Sequence[str], roots: Sequence[Path], vocabulary: Vocabulary, read: Reader = read_suite
) -> tuple[Suite, ...]:
    """Return the suites named ``names``, in that order; without names, all of the project's own.

    A name is the value of ``suite:``, a leaderboard's name, the path of a file or folder, or, for a
    suite in Python, its name or its dotted path. Names are looked up in ``roots`` in order. The
    project's own suites are those of the first root; all others are found only by name, because
    nobody asked to pay for them. A broken file is an error only for those who ask for it, or for
    everything.

    Args:
        names: the names that were asked for.
        roots: folders, the project's own first, searched with all subfolders; missing ones are
        empty.
        vocabulary: the checks that a suite may use.
        read: reads one file.

    Raises:
        InvalidInput: a suite that was asked for is invalid, or two of them have the same name.
        UsageError: there is no such suite, file or folder.
        NothingToRun: the project has no suites; the message lists those that can be run by name.
    """
    library = _SuiteFinder(roots, vocabulary, read)
    if not names:
        return remove_duplicates(library.list_project_suites())
    # Whoever names a suite and its folder means it once.
    return remove_duplicates(suite for name in names for suite in library.find_suites(name))


def select_cases(suites: Sequence[Suite], pattern: str | None) -> tuple[Suite, ...]:
    """Return ``suites`` with only the cases that ``pattern`` selects; drop suites without any.

    `harness.suites.case_patterns` describes patterns; ``None`` selects every case.

    Raises:
        UsageError: the pattern cannot be read.
    """
    if pattern is None:
        return tuple(suites)
    picks, selected = compile_pattern(pattern), []
    for suite in suites:
        kept: dict[bool, list[Case]] = {True: [], False: []}
        for case in suite.cases:
            kept[picks(list_labels(suite.name, case.name, case.tags))].append(case)
        # What was left out is kept: a narrowed run remembers what it did not touch.
        if kept[True]:
            left_out = tuple(kept[False])
            selected.append(replace(suite, cases=tuple(kept[True]), left_out=left_out))
    return tuple(selected)


def list_suite_files(folder: Path) -> tuple[Path, ...]:
    """Return the files in ``folder`` and its subfolders that have a reader, sorted.

    Hidden files and folders are left out. Links are followed, but no folder is entered twice and no
    file is listed twice. A folder that does not exist has no files.

    Raises:
        UsageError: a folder cannot be read.
    """
    if not folder.is_dir():
        return ()
    files: dict[str, Path] = {}
    # By real paths: a link may lead to a folder above it.
    entered = {os.path.realpath(folder)}
    for parent, folders, names in os.walk(folder, followlinks=True, onerror=_raise_unreadable):
        # In place: `os.walk` enters what is left in its own list.
        folders[:] = [name for name in sorted(folders) if _is_new(Path(parent, name), entered)]
        for path in (Path(parent, name) for name in sorted(names) if not name.startswith(".")):
            # A pipe would block whoever opens it; a link to nothing is kept, and told as an error.
            if may_be_suite(path) and (path.is_file() or path.is_symlink()):
                files.setdefault(os.path.realpath(path), path)
    return tuple(sorted(files.values()))


def _is_new(folder: Path, entered: set[str]) -> bool:
    real = os.path.realpath(folder)
    if folder.name.startswith(".") or real in entered:
        return False
    entered.add(real)
    return True


def _raise_unreadable(error: OSError) -> None:
    path = format_path(Path(error.filename))
    raise UsageError(f"{path} cannot be read: {error.strerror}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _SuiteFolder:
    """The suites of one folder: the valid ones, and the invalid files."""

    suites: tuple[Suite, ...]
    broken: Mapping[Path, InvalidInput]

    @property
    def problems(self) -> list[Problem]:
        return [problem for error in self.broken.values() for problem in error.problems]

    def list_suites(self) -> tuple[Suite, ...]:
        """Return every suite; raise `InvalidInput` if one is broken."""
        if self.broken:
            raise InvalidInput(self.problems)
        return self.suites

    def find_suites(self, name: str) -> list[Suite]:
        """Return the suites of that name; raise `InvalidInput` if a broken file was meant so."""
        claimed = [
            problem
            for path, error in self.broken.items()
            if name in (_find_suite_lines(path) or [path.stem])
            for problem in error.problems
        ]
        # A broken suite must not be replaced by another one of its name.
        if claimed:
            raise InvalidInput(claimed)
        return [suite for suite in self.suites if suite.name == name]


def _may_have_suite_name(path: Path, name: str) -> bool:
    """Whether the text of a file allows that it is the suite of that name.

    To parse a suite takes a hundred times as long as to search it for its name. A name in a form
    that is not plain text (escapes, ``>-``, ``[``, a quote within) may be any name. A dataset has
    the name of its file, and its text is not read.
    """
    if (own := find_name_in_path(path)) is not None:
        return name == own
    names = _find_suite_lines(path)
    return name in names or not names or not all(map(_PLAIN_NAME.fullmatch, names))


def _find_suite_lines(path: Path) -> list[str]:
    """Return the values of all lines ``suite: …`` of a file; none if it cannot be read."""
    try:
        return _SUITE_LINE.findall(path.read_text("utf-8", errors="replace"))
    except OSError:
        return []


class _SuiteFinder:
    """The suites of all roots; each root is read when first needed."""

    def __init__(self, roots: Sequence[Path], vocabulary: Vocabulary, read: Reader) -> None:
        self._roots = roots
        self._read_file = read
        self._vocabulary = vocabulary
        self._shelves: dict[Path, _SuiteFolder] = {}

    def list_project_suites(self) -> tuple[Suite, ...]:
        """Return every suite of the project; raise `NothingToRun` if it has none."""
        own, *others = self._roots
        if suites := self._get_folder(own).list_suites():
            return suites
        by_name = [
            *PYTHON_SUITES.list_names(),
            *(suite.name for root in others for suite in self._get_folder(root).suites),
        ]
        raise NothingToRun(
            f"there are no suites in {format_path(own)}/\n  Draft some with harness init, or write "
            "one, for example evals/first.yml.\n  Built-in suites are run by name: "
            f"{', '.join(sorted(by_name))}.\n  Leaderboards as well, after their data was "
            f"fetched: {', '.join(LEADERBOARDS.list_names())}."
        )

    def find_suites(self, name: str) -> Sequence[Suite]:
        # From the plainest form to the vaguest; each one that fits ends the search.
        if names_a_file(name):
            return [read_reference(name, self._vocabulary)]
        path = Path(name)
        if os.sep in name or is_suite_file(path):
            return self._read_path(path)
        # Before leaderboards and folders: a project's own suite goes before all others.
        if found := self._find_likely(name):
            return found
        if asked := parse_leaderboard(name):
            return LEADERBOARDS.get(asked[0]).suites(asked[1])
        if os.path.exists(name):  # noqa: PTH110 - Path.exists raises for a name that is too long
            return self._read_path(path)
        # Last, since it parses every file.
        return self._find_anywhere(name)

    def _find_likely(self, name: str) -> Sequence[Suite]:
        """Return the suites of that name in files whose text shows it."""
        for root in self._roots:
            likely = (file for file in list_suite_files(root) if _may_have_suite_name(file, name))
            if found := self._read_files(likely).find_suites(name):
                return found
        return []

    def _find_anywhere(self, name: str) -> Sequence[Suite]:
        """Return the suites of that name after parsing every file, else one in Python."""
        for root in self._roots:
            if found := self._get_folder(root).find_suites(name):
                return found
        return [self._load_python_suite(name)]

    def _load_python_suite(self, name: str) -> Suite:
        if name in PYTHON_SUITES:
            return read_reference(PYTHON_SUITES.get_reference(name), self._vocabulary)
        if not may_be_reference(name):
            raise self._build_unknown(name)
        try:
            return read_reference(name, self._vocabulary)
        # Only a module that is not there: an error within the user's module is theirs to see.
        except NoSuchModule as error:
            raise self._build_unknown(name, f"Nor is it a suite in Python: {error}") from error

    def _read_path(self, path: Path) -> Sequence[Suite]:
        if os.path.isdir(path):  # noqa: PTH112 - as above
            if suites := self._get_folder(path).list_suites():
                return suites
            others = map(str, recognise_suites(sorted(path.iterdir())))
            message = f"there are no suites in {format_path(path)}"
            raise NothingToRun("\n  ".join([message, *others]))
        if not os.path.lexists(path):
            known = [format_path(file) for root in self._roots for file in list_suite_files(root)]
            meant = did_you_mean(str(path), known)
            raise UsageError(f"there is no file or folder {str(path)!r}", meant=meant)
        return [self._read_file(path, self._vocabulary)]

    def _get_folder(self, folder: Path) -> _SuiteFolder:
        if folder not in self._shelves:
            self._shelves[folder] = self._read_files(list_suite_files(folder))
        return self._shelves[folder]

    def _read_files(self, files: Iterable[Path]) -> _SuiteFolder:
        suites: list[Suite] = []
        broken: dict[Path, InvalidInput] = {}
        for path in files:
            try:
                suites.append(self._read_file(path, self._vocabulary))
            except InvalidInput as error:
                broken[path] = error
        return _SuiteFolder(suites=tuple(suites), broken=broken)

    def _build_unknown(self, name: str, *more: str) -> UsageError:
        shelves = [self._get_folder(root) for root in self._roots]
        known = list(dict.fromkeys(suite.name for shelf in shelves for suite in shelf.suites))
        near = did_you_mean(name, (*known, *PYTHON_SUITES.list_names(), *LEADERBOARDS.list_names()))
        advice = [*([near] if near else []), *more]
        problems = [str(problem) for shelf in shelves for problem in shelf.problems]
        if known:
            advice.append(f"Known suites: {', '.join(known)}.")
        elif not problems:
            advice.append("There are no suites yet.")
        if problems:
            advice.append("\n  ".join(["These files are not valid suites:", *problems]))
        return UsageError(f"there is no suite named {name!r}", meant="\n  ".join(advice))


def remove_duplicates(suites: Iterable[Suite]) -> tuple[Suite, ...]:
    """Return each suite once.

    Raises:
        InvalidInput: two files define one name.
    """
    chosen: dict[str, Suite] = {}
    problems = []
    for suite in suites:
        first = chosen.setdefault(suite.name, suite)
        if _identify_source(first) != _identify_source(suite):
            message = f"suite {suite.name!r} is defined twice; first at {_locate_suite(first)}."
            meant = "Give each suite a name of its own."
            problems.append(Problem(at=_locate_suite(suite), message=message, meant=meant))
    if problems:
        raise InvalidInput(problems)
    return tuple(chosen.values())


def _identify_source(suite: Suite) -> str:
    if suite.reference is not None or suite.at is not None:
        # By the real path: the same file may have been found by way of a link.
        return suite.reference or os.path.realpath(_locate_suite(suite).file)
    # Without a source, two objects are two suites, also of equal content.
    return f"object {id(suite)}"


def _locate_suite(suite: Suite) -> Location:
    return suite.at or Location(file="?")
