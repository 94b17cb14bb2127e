"""The formats of suites, one file each: how to recognise a file of the format, and its reader.

A file is recognised by its content, not by its extension alone, so that two formats may share an
extension. To add a format, put a file with a `FORMAT` into this folder, or name a `SuiteFormat`
under the entry-point group ``harness.suites``, as ``EXTENSION`` or ``EXTENSION-NAME``. Nothing here
imports more than Python's own library: pytest asks about every file that it meets.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, BinaryIO

from harness.types import dataclass

HEAD = 262_144
"""Bytes of a file that are examined."""
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFormat:
    """One format of suites."""

    extensions: tuple[str, ...]
    """In lower case, each with its dot: ``(".yml", ".yaml")``."""
    recognises: Callable[[Path, BinaryIO], bool]
    """Whether a file with such an extension, open at its beginning, is a suite of this format,
    valid or not. It must be cheap and must not guess: other tools have similar files."""
    looks_for: str
    """What identifies a file, for messages: ``'suite:' and 'tests:'``."""
    reads: str | Callable[..., Any] = ""
    """The `harness.suites.Reader`, or its ``module:attribute``, which is imported when a file is
    read."""
    translates: str | Callable[..., Any] = ""
    """For the suites of another tool, in place of ``reads``: ``(path, lenient=…)`` → the
    `harness.suites.foreign.translation.TranslatedSuite`, or its ``module:attribute``. Such a format
    takes no file that it does not recognise, and none that is also of a format of ours."""
    counts_cases: bool = False
    """Whether the reader takes ``max_cases``, the most tests that a file may have."""
    is_named_by_file: bool = False
    """Whether a suite is called like its file, so that others need not be read to find a name."""


def match_key(*names: str) -> re.Pattern[bytes]:
    """Return the pattern of one of these keys at the start of a line or list item, or in braces."""
    # No blank may be a line break: every line would be searched to the end of the file.
    either = "|".join(names)
    pattern = rf"""(?:^|[{{,])[ \t]*(?:-[ \t]+)?["']?(?:{either})["']?[ \t]*:"""
    return re.compile(pattern.encode(), re.MULTILINE)


def has_all(*patterns: re.Pattern[bytes]) -> Callable[[Path, BinaryIO], bool]:
    """Return the test whether each of ``patterns`` stands near the top of a file."""

    def recognises(_path: Path, file: BinaryIO) -> bool:
        head = file.read(HEAD)
        return all(pattern.search(head) for pattern in patterns)

    return recognises


# Once in a process: pytest asks for each file that it meets.
@cache
def load_built_in() -> dict[str, SuiteFormat]:
    """Return the built-in formats, by the names of their files here."""
    return {
        module.name: import_module(f"{__name__}.{module.name}").FORMAT
        for module in iter_modules(__path__)
    }


def is_recognised(suite_format: SuiteFormat, path: Path) -> bool:
    """Whether the file at ``path`` seems to be of this format; false if it cannot be read."""
    try:
        # As bytes: the encoding is not known, and a file that cannot be decoded is none of ours.
        with path.open("rb") as file:
            return suite_format.recognises(path, file)
    except OSError:
        return False
