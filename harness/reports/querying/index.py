"""The store of a run: ``run.sqlite`` beside its log, which everything large is read from.

It has the tables of `harness query`, those of the run's page (`page_writer`), and all that was
said, for the search (`texts`). It is derived: deleting it loses nothing. It holds for one version
of harness and for what the log said when it was read. When the log has grown, its new lines alone
are read, after the digest has shown that what was read before is unchanged; whatever else is
different, all of it is read again.

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
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

from harness.base import HarnessError
from harness.reports.build import build_report
from harness.reports.querying.log_indexer import IS_SETTLED, PLACES, STATE, read_further, read_into
from harness.reports.querying.page_writer import HAS_PAGE, PAGE, write_page
from harness.reports.querying.tables import TABLES
from harness.reports.querying.texts import TEXTS
from harness.reports.querying.totals import COMPARED
from harness.runlog import RunLog, being_written, read_log
from harness.types import Report, dataclass
from harness.version import __version__

STORE = "run.sqlite"
"""The file, beside its log."""
_FORM = f"8 {__version__}"
"""The number is raised when the same columns get other values."""
_META = (
    'CREATE TABLE "_meta" (form TEXT, log_size INTEGER, log_time INTEGER, read INTEGER,'
    " digest TEXT, open INTEGER)"
)
_CREATED = (
    *(_META, STATE, PLACES, TEXTS, *PAGE, *COMPARED),
    *(sql for table in TABLES for sql in table.create_statements),
)
_CHUNK = 1 << 17
_SMALL = 1_000_000
"""Bytes of a log that is read in a moment: nothing is done for it before its end."""
_SMALL_PAGE = 512
"""Bytes of a page of SQLite in the store of a small log: it has some thirty tables."""
_PACE_S = 1.0
"""Seconds between two looks at a log that is being written."""

Fill: TypeAlias = Callable[[sqlite3.Connection], None]
"""Writes into a store."""

WORTH_INDEXING = 5_000_000
"""Bytes of a log that are better read once, also by those who could do without an index."""


class IndexNotWritten(HarnessError):
    """There is no room for an index."""


def is_worth_indexing(log: Path) -> bool:
    """Return whether ``log`` has its store, or is large and can have one.

    Raises:
        OSError: it is gone.
    """
    if log.stat().st_size < WORTH_INDEXING:
        known = _read_metadata(log.with_name(STORE))
        return known is not None and known.matches_log(log)
    # A passing store is thrown away: making it takes longer than reading the log itself.
    return os.access(log.parent, os.W_OK) or log.with_name(STORE).exists()


def ignore_progress(_: int) -> None:
    """Hear how far a log is read, and do nothing."""


@contextmanager
def open_log_index(log: Path, read_to: Callable[[int], None] = ignore_progress) -> Iterator[Path]:
    """Give the store of ``log`` as it is now; in a folder that cannot be written, a passing one.

    ``read_to`` is told how many bytes of the log have been read, if it has to be.

    Raises:
        InvalidInput: the file is no run log, or its header is damaged.
        IndexNotWritten: the disk is full.
        OSError: the log cannot be read.
    """
    try:
        kept = make_store(log, log.with_name(STORE), read_to)
    except OSError:  # a folder of others, or a disk that is read-only
        with tempfile.TemporaryDirectory(prefix="harness-store-") as folder:
            yield make_store(log, Path(folder, STORE), read_to)
        return
    yield kept


def make_store(
    log: Path,
    place: Path,
    read_to: Callable[[int], None] = ignore_progress,
    *,
    with_page: bool = False,
    ended: tuple[RunLog, Report] | None = None,
) -> Path:
    """Bring the store of ``log`` at ``place`` up to date, and return ``place``.

    ``with_page``: it has what the page of the run shows, too. ``ended`` is the log as it was read
    by somebody else, with its report.

    Raises:
        InvalidInput, IndexNotWritten: as `open_log_index`.
        OSError: the log cannot be read, or nothing can be written at ``place``.
    """
    known = _read_metadata(place)
    if known is not None and known.matches_log(log) and (known.page or not with_page):
        return place

    def fill(db: sqlite3.Connection) -> None:
        # Results for the page are kept as they go by: no line is parsed a second time for it.
        whole = read_into(db, log, read_to, keep_results=with_page and ended is None)
        if with_page and not db.execute(HAS_PAGE).fetchone():
            if ended is not None:
                write_page(db, *ended)
            else:
                whole = whole or read_log(log)
                write_page(db, whole, build_report(whole))

    _install_store(log, place, known, fill)
    return place


def keep_store(log: RunLog, report: Report) -> None:
    """Keep the store of a run that has just ended, so that nobody waits when it is first opened.

    ``report`` is that of ``log``. It is left to whoever opens the run if the log is not as it was
    read, or was judged by people.
    """
    # The log may be gone, or there is no room.
    with suppress(OSError, HarnessError):
        # Otherwise the page would be that of a log that there is no longer.
        is_whole = log.path.stat().st_size == log.size and not being_written(log.path)
        if is_whole and not log.by_people:
            make_store(log.path, log.path.with_name(STORE), with_page=True, ended=(log, report))


@contextmanager
def fill_store_meanwhile(log: Path) -> Iterator[None]:
    """Read ``log`` into its store while the block writes it, in a thread.

    So `make_store` has little left to do. The thread may lag behind, fail or be killed: whatever it
    did not read is read then. If the block fails, nothing is kept.
    """
    over, failed = threading.Event(), threading.Event()

    def go_on(_: int) -> None:
        if over.is_set():
            raise _LogComplete

    def fill(db: sqlite3.Connection) -> None:
        # What was read until the end is kept as it is; `make_store` adds what follows from all of
        # it.
        with read_further(db, log) as read:
            while not over.wait(_PACE_S):
                with suppress(_LogComplete):
                    read(go_on)
        if failed.is_set():
            raise _LogComplete

    def follow() -> None:
        place = log.with_name(STORE)
        with suppress(_LogComplete, OSError, HarnessError, sqlite3.Error):
            while log.stat().st_size < _SMALL:
                if over.wait(_PACE_S):
                    return
            _install_store(log, place, _read_metadata(place), fill)

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    except BaseException:
        # Before `over`, so that the thread sees it when it wakes up.
        failed.set()
        raise
    finally:
        over.set()
        thread.join()


class _LogComplete(Exception):
    """The log has been written to its end."""


def _install_store(log: Path, place: Path, known: _IndexMetadata | None, fill: Fill) -> None:
    """Put a store at ``place``: the one that is there, or a new one, after ``fill``."""
    draft, lock = _create_draft(place.parent)
    try:
        _fill_draft(draft, log, place, known, fill)
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)
        os.close(lock)


def has_current_page(place: Path, log: Path) -> bool:
    """Return whether the store at ``place`` is that of ``log`` as it is now, with its page."""
    known = _read_metadata(place)
    return known is not None and known.page and known.matches_log(log)


def read_index_facts(index: Path, log: Path) -> tuple[str, list[str]]:
    """Return the name of the run, and what is unreadable in its ``log``, a sentence each."""
    with open_database(index) as db:
        ((run, bad),) = db.execute("SELECT run, damaged FROM _state, runs")
    return run, [f"{log.parent}/{sentence}" for sentence in json.loads(bad)]


def format_read_uri(index: Path) -> str:
    """Return the URI under which SQLite reads ``index`` and never writes."""
    # immutable: no locks, which some file systems lack. A store is replaced, and never changed.
    return f"file:{quote(str(index.resolve()))}?mode=ro&immutable=1"


def open_database(store: Path) -> closing[sqlite3.Connection]:
    """Give a connection that reads ``store``, and has room for tables of its own."""
    return closing(sqlite3.connect(format_read_uri(store), uri=True))


@dataclass(frozen=True, slots=True)
class _IndexMetadata:
    """What an index says of the log that it was made from."""

    size: int
    time: int
    read: int
    digest: str
    open: bool
    """Whether a session may have been cut off, which completes the log when it is next read."""
    settled: bool
    """Whether it has what follows from the whole log."""
    page: bool
    """Whether it has what the page of the run shows."""

    def matches_log(self, log: Path) -> bool:
        facts = log.stat()
        unchanged = (facts.st_size, facts.st_mtime_ns) == (self.size, self.time)
        return unchanged and self.settled and not (self.open and not being_written(log))


def _read_metadata(place: Path) -> _IndexMetadata | None:
    """Return what the index at ``place`` says; ``None``: there is none that can be trusted."""
    try:
        facts = place.stat()
        with open_database(place) as db:
            made = tuple(sql for (sql,) in db.execute("SELECT sql FROM sqlite_master"))
            # Another version may have had other tables; compared as written, no change can be
            # forgotten.
            if made != _CREATED:
                return None
            form, size, time, read, digest, is_open = db.execute("SELECT * FROM _meta").fetchone()
            pages = db.execute("PRAGMA page_count").fetchone()[0]
            # SQLite opens a file that was cut off, and fails only where it reads what is missing.
            whole = facts.st_size == pages * db.execute("PRAGMA page_size").fetchone()[0]
            has = (db.execute(sql).fetchone() is not None for sql in (IS_SETTLED, HAS_PAGE))
            settled, page = has
    except (OSError, sqlite3.Error, TypeError, ValueError):
        return None
    if form != _FORM or not whole or facts.st_mtime_ns != time:
        return None
    return _IndexMetadata(size, time, read, digest, bool(is_open), settled, page)


def _create_draft(folder: Path) -> tuple[Path, int]:
    """Return a new file in ``folder``, locked while this process lives; remove those of dead ones.

    Raises:
        OSError: nothing can be written there.
    """
    for left in folder.glob(f".{STORE}.*"):
        # A process that lives holds the lock of its draft, which is skipped by the error.
        with suppress(OSError), left.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()
    draft = folder / f".{STORE}.{secrets.token_hex(4)}"
    handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o644)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return draft, handle


def _fill_draft(
    draft: Path, log: Path, place: Path, known: _IndexMetadata | None, fill: Fill
) -> None:
    """Write the store of ``log`` into ``draft``: that at ``place`` with the new lines, or anew."""
    try:
        if known is not None and _hash_prefix(log, known.read) == known.digest:
            # Whatever is wrong with the old store, a new one is made; a full disk shows again
            # there.
            with suppress(OSError, sqlite3.DatabaseError):
                shutil.copyfile(place, draft)
                _write_index(draft, log, fill)
                return
        draft.write_bytes(b"")
        _write_index(draft, log, fill)
    except sqlite3.OperationalError as error:
        raise IndexNotWritten(f"the store of {log} cannot be written: {error}") from error


def _write_index(draft: Path, log: Path, fill: Fill) -> None:
    before = log.stat()
    with closing(sqlite3.connect(draft, isolation_level=None)) as db:
        # Nobody else sees a draft, and one that breaks is thrown away: nothing needs to be undone.
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE"):
            db.execute(f"PRAGMA {pragma}")
        if before.st_size < _SMALL:
            db.execute(f"PRAGMA page_size = {_SMALL_PAGE}")
        db.execute("BEGIN")
        if not db.execute("SELECT 1 FROM sqlite_master").fetchone():
            for sql in _CREATED:
                db.execute(sql)
        fill(db)
        read, is_open = db.execute('SELECT size, open FROM "_state"').fetchone()
        after = log.stat()
        facts = after if after.st_size == read else before  # it has grown since, or ends torn
        db.execute('DELETE FROM "_meta"')
        db.execute(
            'INSERT INTO "_meta" VALUES (?, ?, ?, ?, ?, ?)',
            (
                _FORM,
                facts.st_size,
                facts.st_mtime_ns,
                read,
                _hash_prefix(log, read),
                is_open,
            ),
        )
        db.execute("COMMIT")
    # Once, for the whole file, before it takes the place of the old one.
    with draft.open("rb") as file:
        os.fsync(file)
    os.utime(draft, ns=(facts.st_mtime_ns, facts.st_mtime_ns))


def _hash_prefix(log: Path, size: int) -> str:
    """Return the SHA-256 of the first ``size`` bytes of ``log``."""
    found = hashlib.sha256()
    with log.open("rb") as file:
        while size and (chunk := file.read(min(size, _CHUNK))):
            found.update(chunk)
            size -= len(chunk)
    return found.hexdigest()
