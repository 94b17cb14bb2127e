"""Files and directories of the simulated file system: equal by name and content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

TAIL = "FILE_CONTENT_EXTENSION"
UNEXTENDED = "FILES_TAIL_USED"
FILLERS = "POPULATE_FILE_EXTENSION"


@dataclass
class File:
    """A named text."""

    name: str
    content: str = ""


_MOST = 100_000
"""Limit of entries in a walk: copies that share their entries can double a tree with every second
call."""


@dataclass(repr=False, eq=False)
class Directory:  # noqa: PLW1641 - what changes has no hash
    """A named collection of files and directories; `parent` is where ``cd ..`` leads.

    As upstream, it may contain itself (``cp("a", "a")``; ``mkdir(".")`` and ``mv(".", "a")``).
    """

    name: str
    parent: Directory | None = None
    contents: dict[str, File | Directory] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        """Compare the names and the whole subtrees.

        Each pair of directories is compared once, so that the comparison ends.
        """
        if not isinstance(other, Directory):
            return NotImplemented
        waiting, met = [(self, other)], {(id(self), id(other))}
        while waiting:
            left, right = waiting.pop()
            if left.name != right.name or left.contents.keys() != right.contents.keys():
                return False
            for name, mine in left.contents.items():
                theirs = right.contents[name]
                if isinstance(mine, File) or isinstance(theirs, File):
                    if mine != theirs:
                        return False
                elif (pair := (id(mine), id(theirs))) not in met:
                    met.add(pair)
                    waiting.append((mine, theirs))
        return True

    def __repr__(self) -> str:
        """Show only the names of the entries, because a directory may contain itself."""
        return f"Directory({self.name!r}, {list(self.contents)!r})"

    def add_file(self, name: str, content: str = "") -> None:
        """Add a file; raise `ValueError` if the name exists."""
        if name in self.contents:
            raise ValueError(f"File '{name}' already exists in directory '{self.name}'.")
        self.contents[name] = File(name, content)

    def add_directory(self, name: str) -> Directory:
        """Add an empty directory and return it; raise `ValueError` if the name exists."""
        if name in self.contents:
            raise ValueError(f"Directory '{name}' already exists in directory '{self.name}'.")
        added = Directory(name, self)
        self.contents[name] = added
        return added

    def size(self) -> int:
        """Return the UTF-8 bytes of all files in the subtree."""
        return sum(
            len(item.content.encode())
            for _, item in self.walk_entries("")
            if isinstance(item, File)
        )

    def walk_entries(self, base: str) -> Iterator[tuple[str, File | Directory]]:
        """Yield each entry of the subtree with its path, which starts with ``base``, parents first.

        Raises:
            ValueError: the subtree has too many entries, or is endless.
        """
        for count, found in enumerate(_walk_below(self, base)):
            if count == _MOST:
                raise ValueError(f"there are more than {_MOST} entries")
            yield found


def _walk_below(directory: Directory, base: str) -> Iterator[tuple[str, File | Directory]]:
    for name, item in directory.contents.items():
        path = f"{base}/{name}"
        yield path, item
        if isinstance(item, Directory):
            yield from _walk_below(item, path)


def fill_directory(
    directory: Directory, entries: Mapping[str, Any], extensions: Mapping[str, Any] | None
) -> Directory:
    """Fill ``directory`` from the ``entries`` of a scenario and return it.

    With ``extensions`` (the long-context tables), files get a long tail, except those whose end a
    question is about, and every directory without subdirectories gets many empty files.
    """
    innermost = True
    for name, entry in entries.items():
        if entry["type"] == "directory":
            innermost = False
            directory.contents[name] = fill_directory(
                Directory(name, directory), entry["contents"], extensions
            )
        elif entry["type"] == "file":
            content = entry["content"]
            if extensions is not None and name not in extensions[UNEXTENDED]:
                content += extensions[TAIL]
            directory.contents[name] = File(name, content)
    if innermost and extensions is not None:
        for filler in extensions[FILLERS]:
            directory.add_file(filler)
    return directory
