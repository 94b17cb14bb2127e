"""What is wrong with a question in SQL, in words: where, and what was probably meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from harness.base import UsageError, did_you_mean
from harness.reports.querying.tables import TABLES

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
