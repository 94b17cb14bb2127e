"""Helpers for files: the path for messages, the bytes, and problems of lines."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Generic, TypeVar

from harness.base.errors import InvalidInput, Problem
from harness.types import Location, dataclass

_R = TypeVar("_R")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows(Generic[_R]):
    """A file of rows, with the problems of single rows."""

    file: str
    """The file's path as the user would type it."""
    digest: str
    """SHA-256 of the file's bytes."""
    rows: tuple[_R, ...]
    """The rows in the order of the file, without blank ones."""
    problems: tuple[Problem, ...]
    """Problems of rows that cannot be read; such rows are not in `rows`."""

    def locate(self, line: int) -> Location:
        """Return the location of a line."""
        return Location(file=self.file, line=line)


def format_path(path: Path) -> str:
    """Return ``path`` as a user would type it: relative if it is below the working directory."""
    absolute = os.path.abspath(path)  # noqa: PTH100 - Path.resolve would follow links, and show another path
    below = os.path.relpath(absolute)
    outside = below == os.pardir or below.startswith(os.pardir + os.sep)
    readable = absolute if outside else below
    # A file's name may be no UTF-8, and messages are.
    return readable.encode("utf-8", "backslashreplace").decode("utf-8")


def read_bytes(path: Path, *, max_bytes: int, split_into: str = "files") -> bytes:
    """Return the content of ``path``; ``split_into`` names the parts to split a large file into.

    Raises:
        InvalidInput: it cannot be read, or has more than ``max_bytes``.
    """
    file = format_path(path)
    try:
        with path.open("rb") as stream:
            # One byte more than is allowed, and never all of a file that has no end.
            raw = stream.read(max_bytes + 1)
    except (OSError, ValueError) as error:  # a path with a NUL character is a ValueError
        reason = getattr(error, "strerror", None) or str(error)
        raise build_file_error(file, None, f"the file cannot be read: {reason}.") from error
    if len(raw) > max_bytes:
        limit = f"the file is larger than {max_bytes // 1_000_000} MB."
        raise build_file_error(file, None, limit, f"Split it into several {split_into}.")
    return raw


def make_problem(file: str, line: int | None, message: str, meant: str | None = None) -> Problem:
    """Return a problem with a line of a file, or with the whole file."""
    return Problem(at=Location(file=file, line=line), message=message, meant=meant)


def build_file_error(
    file: str, line: int | None, message: str, meant: str | None = None
) -> InvalidInput:
    """Return an error with the one problem that `make_problem` makes of these."""
    return InvalidInput([make_problem(file, line, message, meant)])
