"""Chooses the reader of a file by its extension, and by its content if formats share the extension.

Readers must not import checks, so they get the kinds of check as a `Vocabulary`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeAlias

from harness.base import InvalidInput, Problem, Registry, UsageError, format_path, read_bytes
from harness.suites.foreign_suites import recognise_suite
from harness.suites.formats import SuiteFormat, is_recognised, load_built_in
from harness.types import Case, Check, JsonObject, Suite

if TYPE_CHECKING:
    from harness.suites.foreign.translation import TranslatedSuite


class Vocabulary(Protocol):
    """The kinds of check that a suite may use, as readers need them."""

    def names(self) -> Sequence[str]:
        """Return every check name that is allowed under ``assertions:``."""

    def schema(self, name: str) -> JsonObject:
        """Return the JSON Schema of the value under that name."""

    def parse(self, name: str, value: Any) -> Sequence[tuple[tuple[str | int, ...], Check]]:
        """Return ``(path in value, check)`` for each check that ``value`` asks for.

        Raises:
            InvalidValue: the error has the path of the invalid part.
        """

    def find_contradictions(self, case: Case) -> Sequence[Problem]:
        """Return the checks of ``case`` that cannot hold together."""


Reader: TypeAlias = Callable[[Path, Vocabulary], Suite]
"""Reads one file; raises `harness.base.errors.InvalidInput` with every problem that it finds."""

READERS: Registry[SuiteFormat | Reader] = Registry("harness.suites", "sort of suite", {})
"""Formats of other packages: ``EXTENSION`` or ``EXTENSION-NAME`` → the `SuiteFormat`, or a reader
of every file with that extension."""


def is_suite_file(path: Path) -> bool:
    """Whether there is a format with this extension."""
    return path.suffix.lower() in _list_extensions()


def may_be_suite(path: Path) -> bool:
    """Whether a file that nobody named may be meant as a suite: other tools' must look like one."""
    formats = _find_formats(path.suffix.lower()).values()
    # Ours first: most files need not be opened then, and a pipe must never be.
    return not all(one.translates for one in formats) or (
        path.is_file() and any(is_recognised(one, path) for one in formats)
    )


def find_name_in_path(path: Path) -> str | None:
    """Return the name of the suite in ``path`` if the file alone gives it."""
    formats = _find_formats(path.suffix.lower()).values()
    return Path(format_path(path)).stem if all(one.is_named_by_file for one in formats) else None


def read_suite(
    path: Path, vocabulary: Vocabulary, max_cases: int | None = None, *, lenient: bool = False
) -> Suite:
    """Return the suite in ``path``, which holds at most ``max_cases`` tests if it is a dataset.

    Without ``max_cases``, datasets have the limit of their format. If ``lenient``, what a suite of
    another tool has and ours cannot have is left out, with a note.

    Raises:
        InvalidInput: the file cannot be read, or is not a valid suite, or is another tool's.
        UsageError: no format is known for such files, or two formats recognise this one.
    """
    if (translated := translate_suite(path, lenient=lenient)) is not None:
        return check_consistent(translated.build_suite(vocabulary), vocabulary)
    try:
        return _read_known_format(path, vocabulary, max_cases)
    except UsageError as error:
        # Asked last: what harness can read is a suite of harness, whatever else it looks like.
        if (another := recognise_suite(path)) is not None:
            raise InvalidInput([another]) from error
        raise


def translate_suite(path: Path, *, lenient: bool = False) -> TranslatedSuite | None:
    """Return the suite of another tool in ``path`` as ours; ``None`` if it is no such suite.

    Raises:
        InvalidInput: it has parts that have no form here, and is not to be read leniently.
        UsageError: two formats recognise the file.
    """
    try:
        chosen = _recognise_format(path)
    except UsageError as error:
        if (another := recognise_suite(path)) is not None:
            raise InvalidInput([another]) from error
        raise
    if not chosen.translates:
        return None
    translation: TranslatedSuite = _import_function(chosen.translates)(path, lenient=lenient)
    return translation


def _import_function(reference: str | Callable[..., Any]) -> Callable[..., Any]:
    if not isinstance(reference, str):
        return reference
    module, attribute = reference.split(":")
    # Only here: a reader imports the whole format, which to recognise a file does not need.
    found: Callable[..., Any] = getattr(import_module(module), attribute)
    return found


def _read_known_format(path: Path, vocabulary: Vocabulary, max_cases: int | None) -> Suite:
    chosen = _recognise_format(path)
    read = _import_function(chosen.reads)
    limited = {"max_cases": max_cases} if chosen.counts_cases and max_cases is not None else {}
    suite: Suite = read(path, vocabulary, **limited)
    return check_consistent(suite, vocabulary)


def check_consistent(suite: Suite, vocabulary: Vocabulary) -> Suite:
    """Return ``suite``, none of whose cases has checks that contradict each other.

    Raises:
        InvalidInput: the error names every check that contradicts another.
    """
    problems = [problem for case in suite.cases for problem in vocabulary.find_contradictions(case)]
    if problems:
        raise InvalidInput(dict.fromkeys(problems))
    return suite


def make_reader(max_cases: int, *, lenient: bool = False) -> Reader:
    """Return a `Reader` of every format that takes datasets of up to ``max_cases`` tests."""
    return lambda path, vocabulary: read_suite(path, vocabulary, max_cases, lenient=lenient)


def _recognise_format(path: Path) -> SuiteFormat:
    every = _find_formats(path.suffix.lower())
    formats = {name: one for name, one in every.items() if not one.translates}
    theirs = {name: one for name, one in every.items() if one.translates}
    if theirs and path.is_file() and not _are_any_recognised(formats, path):
        # Asked only where no format of ours is: what harness can read is a suite of harness.
        found = {name: one for name, one in theirs.items() if is_recognised(one, path)}
        if found:
            return _choose_one(found, found, path)
    if every and not formats:
        return _choose_one({}, theirs, path)
    if not formats:
        meant = f"A suite's name ends in one of: {', '.join(_list_extensions())}."
        raise UsageError(f"{path} is not a suite file", meant=meant)
    if len(formats) == 1 or not path.is_file():  # any other problem is best reported by a reader
        return next(iter(formats.values()))
    found = {name: one for name, one in formats.items() if is_recognised(one, path)}
    return _choose_one(found, formats, path)


def _are_any_recognised(formats: Mapping[str, SuiteFormat], path: Path) -> bool:
    return any(is_recognised(one, path) for one in formats.values())


def _choose_one(
    found: Mapping[str, SuiteFormat], formats: Mapping[str, SuiteFormat], path: Path
) -> SuiteFormat:
    """Return the only format that was ``found`` among ``formats``.

    Raises:
        UsageError: there is none, or more than one.
    """
    if len(found) == 1:
        return next(iter(found.values()))
    looked_for = "; ".join(f"{one.looks_for} ({name})" for name, one in formats.items())
    if found:
        message = f"{format_path(path)} could be a suite of several formats: {', '.join(found)}"
        raise UsageError(message, meant=f"Keep only what identifies one of them: {looked_for}.")
    if not path.is_file():
        read_bytes(path, max_bytes=0)  # which says why it cannot be read
    meant = f"A suite with this extension has: {looked_for}."
    raise UsageError(f"{format_path(path)} is not a suite of a known format", meant=meant)


def _find_formats(extension: str) -> dict[str, SuiteFormat]:
    """Return every format with that extension, by name."""
    own = {name: one for name, one in load_built_in().items() if extension in one.extensions}
    others = {
        name: _wrap_reader(READERS.get(name), extension)
        for name in READERS.list_names()
        if _parse_extension(name) == extension
    }
    # A reader of all files with an extension must not take files of built-in formats.
    return own | {
        name: one for name, one in others.items() if one.recognises is not _recognise_all or not own
    }


def _list_extensions() -> list[str]:
    own = [extension for one in load_built_in().values() for extension in one.extensions]
    return list(dict.fromkeys([*own, *map(_parse_extension, READERS.list_names())]))


def _parse_extension(name: str) -> str:
    return f".{name.partition('-')[0]}"


def _wrap_reader(member: SuiteFormat | Reader, extension: str) -> SuiteFormat:
    if isinstance(member, SuiteFormat):
        return member
    return SuiteFormat(
        extensions=(extension,), recognises=_recognise_all, looks_for="anything", reads=member
    )


def _recognise_all(_path: Path, _file: BinaryIO) -> bool:
    return True
