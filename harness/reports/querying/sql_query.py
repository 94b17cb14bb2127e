"""Puts a question in SQL to one or several runs: it can only read, and for a limited time."""

from __future__ import annotations

import re
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from harness.base import HarnessError, UsageError, did_you_mean
from harness.reports.querying.index import format_read_uri
from harness.reports.querying.tables import TABLES
from harness.types import dataclass

_TOKEN = re.compile(r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|\S""", re.DOTALL)
_NEAR = re.compile(r'near "(?P<token>.*)": syntax error', re.DOTALL)
_NAMES = (
    re.compile(r"(?P<what>no such \w+|ambiguous column name): (?P<name>.+)", re.DOTALL),
    re.compile(r"(?P<what>wrong number of arguments to function) (?P<name>\w+)"),
    re.compile(r"(?P<what>misuse of [a-z ]+)(?::| function) (?P<name>\w+)"),
)


def explain_error(error: Exception, sql: str, fault: Callable[[str], str | None]) -> UsageError:
    """Return ``error``, which SQLite found in ``sql``, as a message for the user.

    ``fault`` says what SQLite finds wrong with other SQL.
    """
    words = str(error)
    if "one statement" in words:
        return UsageError("a question is a single statement", meant="Leave out what follows ';'.")
    if words.startswith("cannot modify"):  # a table of a run, which is a view
        return UsageError(ONLY_READS, meant=ASK)
    if isinstance(error, UnicodeError) or "null character" in words:
        return UsageError("the question is no text: it has a character that SQL cannot hold")
    if near := _NEAR.match(words):
        at = _syntax_error(sql, near["token"], fault)
        return UsageError(
            f"{_format_place(sql, at)}{near['token']!r} cannot stand here", meant=_TABLES
        )
    if words == "incomplete input":
        return UsageError(f"{_format_place(sql, len(sql.rstrip()))}the question ends too early")
    return _explain_name(words, sql)


def _explain_name(words: str, sql: str) -> UsageError:
    """Return what SQLite says of a name in ``sql``."""
    named = next(filter(None, (name.match(words) for name in _NAMES)), None)
    if named is None:
        return UsageError(f"SQL: {words}", meant=_TABLES)
    name = named["name"]
    what, meant = {
        "no such table": (
            f"there is no table {name!r}",
            _join_parts(did_you_mean(name, [table.name for table in TABLES]), _TABLES),
        ),
        "no such column": (f"there is no column {name!r}", _describe_columns(sql, name)),
        "no such function": (f"SQLite has no function {name!r}", None),
        "ambiguous column name": (
            f"several tables have a column {name!r}",
            "Name the table, as in trials.status, or join by USING (run, trial_id).",
        ),
    }.get(named["what"], (words, None))
    return UsageError(f"{_format_place(sql, _find_first(sql, name))}{what}", meant=meant)


ONLY_READS = "a question only reads"
"""What is told of one that asks for more."""
ASK = "Ask with SELECT, of the tables of --schema."
"""What to do instead."""

_TABLES = f"Tables: {', '.join(table.name for table in TABLES)}; --schema lists their columns."


def _describe_columns(sql: str, name: str) -> str:
    """Return what columns there are, in the tables that ``sql`` names."""
    words = {token.lower() for _, token in _iterate_tokens(sql)}
    tables = [table for table in TABLES if table.name in words] or list(TABLES)
    column = name.rpartition(".")[2]
    known = list(dict.fromkeys(name for table in tables for name in table.column_names))
    listed = "\n  ".join(f"{table.name}: {', '.join(table.column_names)}" for table in tables)
    return _join_parts(did_you_mean(column, known), listed)


def _join_parts(first: str | None, rest: str) -> str:
    return rest if first is None else f"{first}\n  {rest}"


def _iterate_tokens(sql: str) -> Iterator[tuple[int, str]]:
    """Yield each word and sign of ``sql`` with its place; texts and comments are one."""
    for found in _TOKEN.finditer(sql):
        if not found[0].startswith(("--", "/*")):
            yield found.start(), found[0]


def _syntax_error(sql: str, token: str, fault: Callable[[str], str | None]) -> int | None:
    """Return where the ``token`` stands at which SQLite gave up: the first where it does."""
    for at, found in _iterate_tokens(sql):
        end = at + len(token)
        if found[:1] == token[:1] and sql[at:end] == token:
            near = _NEAR.match(fault(sql[:end]) or "")
            if near and near["token"] == token:
                return at
    return None


def _find_first(sql: str, name: str) -> int | None:
    """Return where ``name``, which may be ``table.column``, first stands."""
    last = name.rpartition(".")[2].lower()
    return next(
        (at for at, found in _iterate_tokens(sql) if found.strip('"').lower() == last), None
    )


def _format_place(sql: str, at: int | None) -> str:
    if at is None:
        return "SQL: "
    line = sql.count("\n", 0, at) + 1
    return f"SQL, line {line}, column {at - (sql.rfind(chr(10), 0, at) + 1) + 1}: "


MOST_RUNS = 10
"""Runs in one question: SQLite attaches no more."""
LONGEST_VALUE = 100_000_000
"""Bytes of one value; a question that makes longer ones fails."""
_STEPS = 20_000
"""Steps of SQLite's machine between two looks at the clock."""
_REFUSED_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer"})


class DamagedIndex(HarnessError):
    """An index is not as it was written."""


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """What a question comes to."""

    columns: tuple[str, ...]
    """Names of the columns, each of its own."""
    rows: Iterator[tuple[Any, ...]]
    """The rows, read as they are asked for."""


@contextmanager
def answer_query(
    indexes: Sequence[tuple[str, Path]], sql: str, timeout_s: float
) -> Iterator[QueryAnswer]:
    """Give the answer to ``sql``, over the runs (name, index) of ``indexes``.

    Raises:
        UsageError: the question is no SQL, asks for what is not there, or to write.
        HarnessError: it took longer than ``timeout_s``.
        DamagedIndex: an index is not as it was written.
    """
    with closing(sqlite3.connect(":memory:", uri=True, isolation_level=None)) as db:
        guard = _Guard(time.monotonic() + timeout_s, timeout_s)
        try:
            # Before the guard: a question may neither attach a file nor make a view.
            _attach_indexes(db, indexes)
            db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
            db.set_authorizer(guard.allows)
            db.set_progress_handler(guard.is_over, _STEPS)
            cursor = db.execute(sql)
            if cursor.description is None:
                raise UsageError("the question is empty", meant=_EXAMPLE)
            yield QueryAnswer(_number_duplicates(one[0] for one in cursor.description), cursor)
        # Python 3.11 raises a `Warning`, which is no `Error`, if there are two statements.
        except (sqlite3.Error, sqlite3.Warning, UnicodeError, ValueError) as error:
            raise guard.explain_error(error, sql, db) from error


_EXAMPLE = 'For example: harness query latest "select status, count(*) from trials group by 1"'


def _number_duplicates(names: Iterator[str]) -> tuple[str, ...]:
    """Return ``names`` with a number behind those that occur again: ``n``, ``n_2``."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return tuple(found)


def _attach_indexes(db: sqlite3.Connection, indexes: Sequence[tuple[str, Path]]) -> None:
    """Make each table of all runs a view, whose first column is the run."""
    if len(indexes) > MOST_RUNS:
        raise UsageError(f"a question takes at most {MOST_RUNS} runs, and {len(indexes)} are named")
    # A store may come from somebody else, and its schema could call what a question may not.
    db.execute("PRAGMA trusted_schema = OFF")
    # SQLite creates these when they are first used, which no question may do
    db.execute("SELECT * FROM json_each('[]'), json_tree('[]')")
    for number, (_, place) in enumerate(indexes):
        db.execute(f"ATTACH ? AS r{number}", (format_read_uri(place),))
    for table in TABLES:
        parts = (
            f"SELECT {_quote(name)} AS run, * FROM r{number}.{table.name}"  # noqa: S608 - quoted
            for number, (name, _) in enumerate(indexes)
        )
        db.execute(f"CREATE TEMP VIEW {table.name} AS {' UNION ALL '.join(parts)}")


def _quote(text: str) -> str:
    # SQL ends at a NUL.
    plain = text.encode("utf-8", "replace").decode().replace("\0", "")
    return "'" + plain.replace("'", "''") + "'"


class _Guard:
    """Allows reading, until the time is over."""

    def __init__(self, until: float, timeout_s: float) -> None:
        self._until = until
        self._timeout_s = timeout_s
        self._refused: str | None = None
        """What was refused; empty if that is best told without its name."""
        self._over = False

    def allows(
        self, action: int, one: str | None, two: str | None, _db: str | None, _view: str | None
    ) -> int:
        """Tell SQLite whether a question may do ``action``."""
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ and not (one or "").startswith(("_", "sqlite_", "pragma")):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and two not in _REFUSED_FUNCTIONS:
            return sqlite3.SQLITE_OK
        what = two if action == sqlite3.SQLITE_FUNCTION else one
        self._refused = (what if action in _NAMED else None) or ""
        return sqlite3.SQLITE_DENY

    def is_over(self) -> bool:
        """Tell SQLite whether to stop."""
        self._over = time.monotonic() > self._until
        return self._over

    def explain_error(self, error: Exception, sql: str, db: sqlite3.Connection) -> HarnessError:
        """Return ``error`` in words."""
        # The last byte of an extended code is the basic one.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if self._over:
            return HarnessError(
                f"the question took longer than {self._timeout_s:g} s; --timeout gives it more"
            )
        if code == sqlite3.SQLITE_INTERRUPT:
            raise KeyboardInterrupt  # Ctrl-C came while SQLite looked at the clock
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN):
            return DamagedIndex(
                f"the index turned out to be damaged ({error}) and was removed: ask again"
            )
        if self._refused is not None:
            what = f" {self._refused} is not for them." if self._refused else ""
            return UsageError(f"{ONLY_READS}.{what}" if what else ONLY_READS, meant=ASK)
        # The guard refuses EXPLAIN, by which the place of a mistake is found.
        db.set_authorizer(None)
        return explain_error(error, sql, _make_fault_finder(db))


_NAMED = (sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_PRAGMA)


def _make_fault_finder(db: sqlite3.Connection) -> Callable[[str], str | None]:
    def find_fault(sql: str) -> str | None:
        """Return what SQLite says of ``sql`` without running it; ``None`` if it is right."""
        try:
            db.execute(f"EXPLAIN {sql}").close()
        except (sqlite3.Error, sqlite3.Warning) as error:
            return str(error)
        return None

    return find_fault
