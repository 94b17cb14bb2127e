"""The index of a run: ``index.sqlite`` beside its log, made when it is first asked for.

It is derived: deleting it loses nothing. It holds for one version of harness and for what the log
said when it was read. When the log has grown, its new lines alone are read, after the digest has
shown that what was read before is unchanged; whatever else is different, all of it is read again.

The file is written under another name and put in its place whole. Its time is set to that of the
log, so that one that somebody has written to since is not trusted.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from harness.base import HarnessError
from harness.reports.querying.comparison_rows import COMPARED
from harness.reports.querying.log_indexer import PLACES, STATE, read_into
from harness.reports.querying.tables import TABLES
from harness.runlog import Footer, ReviewLine, being_written, read_lines
from harness.version import __version__

NAME = "index.sqlite"
_FORM = 5
"""Raised when the same columns get other values."""
_META = (
    'CREATE TABLE "_meta" (form TEXT, log_size INTEGER, log_time INTEGER, read INTEGER,'
    " digest TEXT, open INTEGER)"
)
_CREATED = (
    _META,
    STATE,
    PLACES,
    *COMPARED,
    *(sql for table in TABLES for sql in table.create_statements),
)
_CHUNK = 1 << 17


WORTH_INDEXING = 5_000_000
"""Bytes of a log that are better read once, also by those who could do without an index."""


class IndexNotWritten(HarnessError):
    """There is no room for an index."""


def is_worth_indexing(log: Path) -> bool:
    """Return whether ``log`` is large, and its index there or to be kept.

    Raises:
        OSError: it is gone.
    """
    if log.stat().st_size < WORTH_INDEXING:
        return False
    return os.access(log.parent, os.W_OK) or log.with_name(NAME).exists()


def ignore_progress(_: int) -> None:
    """Hear how far a log is read, and do nothing."""


@contextmanager
def open_log_index(log: Path, read_to: Callable[[int], None] = ignore_progress) -> Iterator[Path]:
    """Give the index of ``log`` as it is now; in a folder that cannot be written, a passing one.

    ``read_to`` is told how many bytes of the log have been read, if it has to be.

    Raises:
        InvalidInput: the file is no run log, or its header is damaged.
        IndexNotWritten: the disk is full.
        OSError: the log cannot be read.
    """
    place = log.with_name(NAME)
    known = _read_metadata(place)
    if known is not None and known.matches_log(log):
        yield place
        return
    try:
        draft, lock = _create_draft(log.parent)
    except OSError:  # a folder of others, or a disk that is read-only
        with tempfile.TemporaryDirectory(prefix="harness-index-") as folder:
            draft = Path(folder, NAME)
            _fill_draft(draft, log, place, known, read_to)
            yield draft
        return
    try:
        _fill_draft(draft, log, place, known, read_to)
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)
        os.close(lock)
    yield place


@contextmanager
def open_results_index(
    log: Path, read_to: Callable[[int], None] = ignore_progress
) -> Iterator[Path]:
    """Give an index of ``log`` that has its results, and may lack the latest reviews.

    A review changes no result, so an index from before it need not be brought up to date.

    Raises:
        InvalidInput, IndexNotWritten, OSError: as `open_log_index`.
    """
    place = log.with_name(NAME)
    known = _read_metadata(place)
    if known is not None and _is_only_reviewed_since(log, known):
        yield place
        return
    with open_log_index(log, read_to) as index:
        yield index


def _is_only_reviewed_since(log: Path, known: _IndexMetadata) -> bool:
    if known.open or log.stat().st_size < known.read:
        return False
    added = (line for _, _, line in read_lines(log, known.read))
    if not all(isinstance(line, ReviewLine | Footer) for line in added):
        return False
    return hash_log_prefix(log, known.read) == known.digest


def read_index_facts(index: Path, log: Path) -> tuple[str, list[str]]:
    """Return the name of the run, and what is unreadable in its ``log``, a sentence each."""
    with closing(sqlite3.connect(format_read_uri(index), uri=True)) as db:
        ((run, bad),) = db.execute("SELECT run, damaged FROM _state, runs")
    return run, [f"{log.parent}/{sentence}" for sentence in json.loads(bad)]


def format_read_uri(index: Path) -> str:
    """Return the URI under which SQLite reads ``index`` and never writes."""
    return f"file:{quote(str(index.resolve()))}?mode=ro&immutable=1"


@dataclass(frozen=True, slots=True)
class _IndexMetadata:
    """What an index says of the log that it was made from."""

    size: int
    time: int
    read: int
    digest: str
    open: bool
    """Whether a session may have been cut off, which completes the log when it is next read."""

    def matches_log(self, log: Path) -> bool:
        facts = log.stat()
        unchanged = (facts.st_size, facts.st_mtime_ns) == (self.size, self.time)
        return unchanged and not (self.open and not being_written(log))


def _read_metadata(place: Path) -> _IndexMetadata | None:
    """Return what the index at ``place`` says; ``None``: there is none that can be trusted."""
    try:
        facts = place.stat()
        with closing(sqlite3.connect(format_read_uri(place), uri=True)) as db:
            made = tuple(sql for (sql,) in db.execute("SELECT sql FROM sqlite_master"))
            if made != _CREATED:
                return None
            form, size, time, read, digest, is_open = db.execute("SELECT * FROM _meta").fetchone()
            pages = db.execute("PRAGMA page_count").fetchone()[0]
            whole = facts.st_size == pages * db.execute("PRAGMA page_size").fetchone()[0]
    except (OSError, sqlite3.Error, TypeError, ValueError):
        return None
    if form != _build_form() or not whole or facts.st_mtime_ns != time:
        return None
    return _IndexMetadata(size, time, read, digest, bool(is_open))


def _build_form() -> str:
    return f"{_FORM} {__version__}"


def _create_draft(folder: Path) -> tuple[Path, int]:
    """Return a new file in ``folder``, locked while this process lives; remove those of dead ones.

    Raises:
        OSError: nothing can be written there.
    """
    for left in folder.glob(f".{NAME}.*"):
        with suppress(OSError), left.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()
    draft = folder / f".{NAME}.{secrets.token_hex(4)}"
    handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return draft, handle


def _fill_draft(
    draft: Path,
    log: Path,
    place: Path,
    known: _IndexMetadata | None,
    read_to: Callable[[int], None],
) -> None:
    """Write the index of ``log`` into ``draft``: that at ``place`` with the new lines, or anew."""
    try:
        if known is not None and hash_log_prefix(log, known.read) == known.digest:
            with suppress(OSError, sqlite3.DatabaseError):
                shutil.copyfile(place, draft)
                _write_index(draft, log, read_to)
                return
        draft.write_bytes(b"")
        _write_index(draft, log, read_to)
    except sqlite3.OperationalError as error:
        raise IndexNotWritten(f"the index of {log} cannot be written: {error}") from error


def _write_index(draft: Path, log: Path, read_to: Callable[[int], None]) -> None:
    before = log.stat()
    with closing(sqlite3.connect(draft, isolation_level=None)) as db:
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"):
            db.execute(f"PRAGMA {pragma}")
        db.execute("BEGIN")
        if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
            for sql in _CREATED:
                db.execute(sql)
        read_into(db, log, read_to)
        read, is_open = db.execute('SELECT size, open FROM "_state"').fetchone()
        after = log.stat()
        facts = after if after.st_size == read else before  # it has grown since, or ends torn
        db.execute('DELETE FROM "_meta"')
        db.execute(
            'INSERT INTO "_meta" VALUES (?, ?, ?, ?, ?, ?)',
            (
                _build_form(),
                facts.st_size,
                facts.st_mtime_ns,
                read,
                hash_log_prefix(log, read),
                is_open,
            ),
        )
        db.execute("COMMIT")
    with draft.open("rb") as file:
        os.fsync(file)
    os.utime(draft, ns=(facts.st_mtime_ns, facts.st_mtime_ns))


def hash_log_prefix(log: Path, size: int) -> str:
    """Return the SHA-256 of the first ``size`` bytes of ``log``."""
    found = hashlib.sha256()
    with log.open("rb") as file:
        while size and (chunk := file.read(min(size, _CHUNK))):
            found.update(chunk)
            size -= len(chunk)
    return found.hexdigest()
