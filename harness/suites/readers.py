"""Chooses the reader of a file by its extension, and by its content if formats share the extension.

Readers must not import checks, so they get the kinds of check as a `Vocabulary`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias

from harness.base import InvalidInput, Problem, Registry, UsageError, shown
from harness.suites.formats import SuiteFormat, built_in, is_recognised
from harness.suites.other_tools import suite_of_another_tool
from harness.types import Case, Check, JsonObject, Suite


class Vocabulary(Protocol):
    """The kinds of check that a suite may use, as readers need them."""

    def names(self) -> Sequence[str]:
        """Return every check name that is allowed under ``assertions:``."""
        ...

    def schema(self, name: str) -> JsonObject:
        """Return the JSON Schema of the value under that name."""
        ...

    def parse(self, name: str, value: Any) -> Sequence[tuple[tuple[str | int, ...], Check]]:
        """Return ``(path in value, check)`` for each check that ``value`` asks for.

        Raises:
            InvalidValue: the error has the path of the invalid part.
        """
        ...

    def contradictions(self, case: Case) -> Sequence[Problem]:
        """Return the checks of ``case`` that cannot hold together."""
        ...


Reader: TypeAlias = Callable[[Path, Vocabulary], Suite]
"""Reads one file; raises `harness.base.errors.InvalidInput` with every problem that it finds."""

READERS: Registry[SuiteFormat | Reader] = Registry("harness.suites", "sort of suite", {})
"""Formats of other packages: ``EXTENSION`` or ``EXTENSION-NAME`` → the `SuiteFormat`, or a reader
of every file with that extension."""


def is_suite_file(path: Path) -> bool:
    """Whether there is a format with this extension."""
    return path.suffix.lower() in _extensions()


def read_suite(path: Path, vocabulary: Vocabulary, max_cases: int | None = None) -> Suite:
    """Return the suite in ``path``, which holds at most ``max_cases`` tests if it is a dataset.

    Without ``max_cases``, datasets have the limit of their format.

    Raises:
        InvalidInput: the file cannot be read, or is not a valid suite, or is another tool's.
        UsageError: no format is known for such files, or two formats recognise this one.
    """
    try:
        return _read_as_ours(path, vocabulary, max_cases)
    except UsageError as error:
        # Asked last: what harness can read is a suite of harness, whatever else it looks like.
        if (another := suite_of_another_tool(path)) is not None:
            raise InvalidInput([another]) from error
        raise


def _read_as_ours(path: Path, vocabulary: Vocabulary, max_cases: int | None) -> Suite:
    chosen = _format_of(path)
    read = chosen.reads
    if isinstance(read, str):
        module, attribute = read.split(":")
        read = getattr(import_module(module), attribute)
    limited = {"max_cases": max_cases} if chosen.counts_cases and max_cases is not None else {}
    suite: Suite = read(path, vocabulary, **limited)
    return check_consistent(suite, vocabulary)


def check_consistent(suite: Suite, vocabulary: Vocabulary) -> Suite:
    """Return ``suite``, none of whose cases has checks that contradict each other.

    Raises:
        InvalidInput: the error names every check that contradicts another.
    """
    problems = [problem for case in suite.cases for problem in vocabulary.contradictions(case)]
    if problems:
        raise InvalidInput(dict.fromkeys(problems))
    return suite


def reader(max_cases: int) -> Reader:
    """Return a `Reader` of every format that takes datasets of up to ``max_cases`` tests."""
    return lambda path, vocabulary: read_suite(path, vocabulary, max_cases)


def _format_of(path: Path) -> SuiteFormat:
    formats = _formats(path.suffix.lower())
    if not formats:
        known = ", ".join(_extensions())
        raise UsageError(
            f"{path} is not a suite file", meant=f"A suite's name ends in one of: {known}."
        )
    if len(formats) == 1 or not path.is_file():  # any other problem is best reported by a reader
        return next(iter(formats.values()))
    found = {name: one for name, one in formats.items() if is_recognised(one, path)}
    if len(found) == 1:
        return next(iter(found.values()))
    looked_for = "; ".join(f"{one.looks_for} ({name})" for name, one in formats.items())
    if found:
        message = f"{shown(path)} could be a suite of several formats: {', '.join(found)}"
        raise UsageError(message, meant=f"Keep only what identifies one of them: {looked_for}.")
    raise UsageError(
        f"{shown(path)} is not a suite of a known format",
        meant=f"A suite with this extension has: {looked_for}.",
    )


def _formats(extension: str) -> dict[str, SuiteFormat]:
    """Return every format with that extension, by name."""
    own = {name: one for name, one in built_in().items() if extension in one.extensions}
    others = {
        name: _as_format(READERS.get(name), extension)
        for name in READERS.names()
        if _extension(name) == extension
    }
    # A reader of all files with an extension must not take files of built-in formats.
    return own | {
        name: one for name, one in others.items() if one.recognises is not _takes_all or not own
    }


def _extensions() -> list[str]:
    own = [extension for one in built_in().values() for extension in one.extensions]
    return list(dict.fromkeys([*own, *map(_extension, READERS.names())]))


def _extension(name: str) -> str:
    return f".{name.partition('-')[0]}"


def _as_format(member: SuiteFormat | Reader, extension: str) -> SuiteFormat:
    if isinstance(member, SuiteFormat):
        return member
    return SuiteFormat(
        extensions=(extension,), recognises=_takes_all, looks_for="anything", reads=member
    )


def _takes_all(_path: Path, _file: BinaryIO) -> bool:
    return True
