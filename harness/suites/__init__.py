"""Files become suites: one file a format.

Readers sit below the room of checks, so what they need of it is handed in as a `Vocabulary`. To add
a format, write a function that satisfies `Reader`, and name it in `READERS` (or under the
entry-point group ``harness.suites``) by the extension of its files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from harness.errors import UsageError
from harness.registry import Registry
from harness.types import Check, JsonObject, Suite


class Vocabulary(Protocol):
    """The kinds of check that a suite may use, as far as a reader is concerned."""

    def names(self) -> Sequence[str]:
        """Return every check name that may stand under ``assertions:``."""
        ...

    def schema(self, name: str) -> JsonObject:
        """Return the JSON Schema of the value under that name."""
        ...

    def parse(self, name: str, value: Any) -> Sequence[tuple[tuple[str | int, ...], Check]]:
        """Return ``(path in value, check)`` for each check that ``value`` asks for.

        Raises:
            InvalidValue: with the path to what does not fit.
        """
        ...


Reader: TypeAlias = Callable[[Path, Vocabulary], Suite]
"""Reads one file; raises `harness.errors.InvalidInput` with every problem that it finds."""

READERS: Registry[Reader] = Registry(
    "harness.suites",
    "sort of suite",
    {
        "yml": "harness.suites.mxcp:read_suite",
        "yaml": "harness.suites.mxcp:read_suite",
        "csv": "harness.suites.csv_dataset:read_dataset",
        "jsonl": "harness.suites.memory_dataset:read_memory",
    },
)
"""File extension, in lower case and without its dot → the `Reader` of such files."""

SCHEMA_FILE = Path(__file__).with_name("suite.schema.json")
"""JSON Schema of suites in YAML, for editors; `harness.suites.schema` makes it."""


def is_suite_file(path: Path) -> bool:
    """Whether there is a reader for files with this extension."""
    return path.suffix[1:].lower() in READERS


def read_suite(path: Path, vocabulary: Vocabulary) -> Suite:
    """Return the suite in ``path``, read by the reader of its extension.

    Raises:
        InvalidInput: the file cannot be read, or is not a valid suite.
        UsageError: no reader is known for such files.
    """
    if not is_suite_file(path):
        known = ", ".join(f".{name}" for name in READERS.names())
        raise UsageError(
            f"{path} is not a suite file", meant=f"A suite's name ends in one of: {known}."
        )
    return READERS.get(path.suffix[1:].lower())(path, vocabulary)
