"""The file system of the leaderboard: one level of directories at a time, no paths.

Some behaviours are unusual and kept because verdicts depend on them: a copied directory shares the
files of its original; a moved directory is a new one, so ``cd ..`` inside it leads to the old
parent.
"""

# ruff: noqa: FBT001, FBT002 -- names, order and defaults of parameters are the leaderboard's

from __future__ import annotations

from collections.abc import Callable

from harness.leaderboards.bfcl.apis.common import Api, Reply, Scenario, Tables, refuse_request
from harness.leaderboards.bfcl.apis.file_tree import Directory, File, fill_directory

_ILLEGAL = '|/\\?%*:"><'
"""Characters that a name must not contain."""

_COUNTS: dict[str, tuple[str, Callable[[str], int]]] = {
    "l": ("lines", lambda text: len(text.splitlines())),
    "w": ("words", lambda text: len(text.split())),
    "c": ("characters", len),
}
"""Mode of ``wc`` → name of the unit, and the function that counts it."""


class GorillaFileSystem(Api):
    """A tree of directories, and the current directory."""

    def __init__(self, scenario: Scenario, tables: Tables, *, long_context: bool = False) -> None:
        """``scenario["root"]`` holds one directory, the root; without it the tree is empty."""
        super().__init__(scenario, tables, long_context=long_context)
        self.root = Directory("/")
        for name, entry in list(scenario.get("root", {}).items())[:1]:
            extensions = tables if long_context else None
            self.root = fill_directory(Directory(name), entry["contents"], extensions)
        self._here = self.root

    def pwd(self) -> Reply:
        """Return the path of the current directory."""
        names: list[str] = []
        place: Directory | None = self._here
        while place is not None:
            names.insert(0, place.name)
            place = place.parent
        return {"current_working_directory": "/" + "/".join(names)}

    def ls(self, a: bool = False) -> Reply:
        """List the current directory, hidden entries only with ``a``."""
        shown = [name for name in self._here.contents if a or not name.startswith(".")]
        return {"current_directory_content": shown}

    def cd(self, folder: str) -> Reply:
        """Change to ``folder``: a subdirectory, ``..``, ``.`` or ``/``."""
        # The root is nothing but a slash.
        folder = folder.rstrip("/") or "/"
        if "/" in folder and folder != "/":
            return refuse_request(
                f"cd: {folder}: Unsupported path. Only one folder level at a time is supported."
            )
        if folder == "..":
            if self._here.parent is None:
                return refuse_request("Current directory is already the root. Cannot go back.")
            self._here = self._here.parent
            return {}
        target = self._find_directory(folder)
        if target is None:
            return refuse_request(f"cd: '{folder}': No such file or directory")
        self._here = target
        return {"current_working_directory": target.name}

    def mkdir(self, dir_name: str) -> Reply | None:
        """Create a directory here."""
        refusal = self._new_name("mkdir: cannot create directory", dir_name)
        if refusal is None:
            self._here.add_directory(dir_name)
        return refusal

    def touch(self, file_name: str) -> Reply | None:
        """Create an empty file here."""
        refusal = self._new_name("touch: cannot touch", file_name)
        if refusal is None:
            self._here.add_file(file_name)
        return refusal

    def echo(self, content: str, file_name: str | None = None) -> Reply | None:
        """Print ``content``, or write it to an existing file in the current directory."""
        if file_name is None:
            return {"terminal_output": content}
        if _is_illegal_name(file_name):
            return refuse_request(f"echo: cannot write to '{file_name}': Invalid character")
        if not file_name:
            return {"terminal_output": content}
        if file_name not in self._here.contents:
            return refuse_request(f"echo: cannot write to '{file_name}': No such file")
        target = self._get_entry(file_name)
        if isinstance(target, Directory):
            raise AttributeError("'Directory' object has no attribute '_write'")  # noqa: TRY004 -- the official text
        target.content = content
        return None

    def cat(self, file_name: str) -> Reply:
        """Return the content of a file here."""
        if _is_illegal_name(file_name):
            return refuse_request(f"cat: '{file_name}': Invalid character")
        if file_name not in self._here.contents:
            return refuse_request(f"cat: '{file_name}': No such file or directory")
        content = self._read_text(file_name)
        if content is None:
            return refuse_request(f"cat: '{file_name}': Is a directory")
        return {"file_content": content}

    def find(self, path: str = ".", name: str | None = None) -> Reply:
        """List everything below ``path`` whose name contains ``name``."""
        start = self._find_directory(path)
        if start is None:
            return refuse_request(f"find: '{path}': No such file or directory")
        below = start.walk_entries(path.rstrip("/"))
        return {"matches": [found for found, item in below if name is None or name in item.name]}

    def wc(self, file_name: str, mode: str = "l") -> Reply:
        """Count the lines, words or characters of a file here."""
        if mode not in list(_COUNTS):
            return refuse_request(f"wc: invalid mode '{mode}'")
        content = self._read_text(file_name)
        if content is None:
            return refuse_request(f"wc: {file_name}: No such file or directory")
        unit, count = _COUNTS[mode]
        return {"count": count(content), "type": unit}

    def sort(self, file_name: str) -> Reply:
        """Return the lines of a file here in order; the file stays as it is."""
        content = self._read_text(file_name)
        if content is None:
            return refuse_request(f"sort: {file_name}: No such file or directory")
        return {"sorted_content": "\n".join(sorted(content.splitlines()))}

    def grep(self, file_name: str, pattern: str) -> Reply:
        """Return the lines of a file here that contain ``pattern``, taken literally."""
        content = self._read_text(file_name)
        if content is None:
            return refuse_request(f"grep: {file_name}: No such file or directory")
        return {"matching_lines": [line for line in content.splitlines() if pattern in line]}

    def du(self, human_readable: bool = False) -> Reply:
        """Return the size of everything below the current directory."""
        size: float = self._here.size()
        if not human_readable:
            return {"disk_usage": f"{size} bytes"}
        for unit in ("B", "KB", "MB", "GB", "TB"):
            if size < 1024:  # noqa: PLR2004 -- the step between units
                return {"disk_usage": f"{size:.2f} {unit}"}
            size /= 1024
        return {"disk_usage": f"{size:.2f} PB"}

    def tail(self, file_name: str, lines: int = 10) -> Reply:
        """Return the last ``lines`` lines of a file in the current directory."""
        content = self._read_text(file_name)
        if content is None:
            return refuse_request(f"tail: {file_name}: No such file or directory")
        rows = content.splitlines()
        wanted = len(rows) if lines > len(rows) else lines  # noqa: FURB136 -- the same complaint about a text
        return {"last_lines": "\n".join(rows[-wanted:])}

    def diff(self, file_name1: str, file_name2: str) -> Reply:
        """Compare two files here line by line, as far as the shorter one goes."""
        left = self._read_text(file_name1)
        right = self._read_text(file_name2) if file_name1 in self._here.contents else None
        if left is None or right is None:
            return refuse_request(f"diff: {file_name1} or {file_name2}: No such file or directory")
        pairs = zip(left.splitlines(), right.splitlines(), strict=False)
        return {"diff_lines": "\n".join(f"- {old}\n+ {new}" for old, new in pairs if old != new)}

    def mv(self, source: str, destination: str) -> Reply:
        """Move or rename an entry here: into the directory ``destination``, or to that new name."""
        return self._transfer_entry("mv", source, destination)

    def cp(self, source: str, destination: str) -> Reply:
        """Copy something here: into the directory ``destination``, or to that new name."""
        return self._transfer_entry("cp", source, destination)

    def rm(self, file_name: str) -> Reply:
        """Remove a file, or a directory with its contents."""
        if file_name not in self._here.contents:
            return refuse_request(f"rm: cannot remove '{file_name}': No such file or directory")
        del self._here.contents[file_name]
        return {"result": f"'{file_name}' removed"}

    def rmdir(self, dir_name: str) -> Reply:
        """Remove an empty directory."""
        if dir_name not in self._here.contents:
            return refuse_request(f"rmdir: cannot remove '{dir_name}': No such file or directory")
        found = self._get_entry(dir_name)
        if isinstance(found, File):
            return refuse_request(f"rmdir: cannot remove '{dir_name}': Not a directory")
        if found.contents:
            return refuse_request(f"rmdir: cannot remove '{dir_name}': Directory not empty")
        del self._here.contents[dir_name]
        return {"result": f"'{dir_name}' removed"}

    def _find_directory(self, path: str | None) -> Directory | None:
        """Return the directory at ``path``, or ``None``; ``..`` is not supported."""
        if path is None or path == ".":
            return self._here
        if path == "/":
            return self.root
        place = self.root if path.startswith("/") else self._here
        for part in path.strip("/").split("/"):
            below = place if part == "." else place.contents.get(part)
            if not isinstance(below, Directory):
                return None
            place = below
        return place

    def _get_entry(self, name: str) -> File | Directory:
        """Return the entry ``name`` here, which must exist.

        ``.`` is this directory whatever the entry is.
        """
        return self._here if name == "." else self._here.contents[name]

    def _read_text(self, name: str) -> str | None:
        """Return the content of the file ``name`` here, ``None`` where there is no such file."""
        item = self._get_entry(name) if name in self._here.contents else None
        return item.content if isinstance(item, File) else None

    def _new_name(self, complaint: str, name: str) -> Reply | None:
        """Return the error if ``name`` cannot be created in this directory, else ``None``."""
        if _is_illegal_name(name):
            return refuse_request(f"{complaint} '{name}': Invalid character")
        exists = name in self._here.contents
        return refuse_request(f"{complaint} '{name}': File exists") if exists else None

    def _transfer_entry(self, command: str, source: str, destination: str) -> Reply:
        """Move (``mv``) or copy (``cp``) ``source``."""
        verb, done = ("move", "moved") if command == "mv" else ("copy", "copied")
        here = self._here.contents
        if source not in here:
            return refuse_request(f"{command}: cannot {verb} '{source}': No such file or directory")
        if "/" in destination:
            return refuse_request(
                f"{command}: path not allowed in destination. Provide only a file or directory "
                "name."
            )
        item = self._get_entry(source)
        target: Directory = self._here
        name, shown = destination, destination
        if destination in here:
            into = self._get_entry(destination)
            if isinstance(into, File):
                return refuse_request(
                    f"{command}: cannot {verb} '{source}' to '{destination}': Not a directory"
                )
            target, name, shown = into, source, f"{destination}/{source}"
            # A copy to an existing name raises instead, in `add_file` or `add_directory`.
            if command == "mv" and source in into.contents:
                return refuse_request(f"mv: cannot move '{source}' to '{shown}': File exists")
        if command == "mv":
            del here[source]
        if isinstance(item, File):
            target.add_file(name, item.content)
        else:
            # First added, then copied: a directory that is copied into itself contains itself.
            added = target.add_directory(name)
            # A moved directory uses the same collection of entries, a copied one its own.
            added.contents = item.contents if command == "mv" else item.contents.copy()
        return {"result": f"'{source}' {done} to '{shown}'"}


def _is_illegal_name(name: str) -> bool:
    return any(character in name for character in _ILLEGAL)
