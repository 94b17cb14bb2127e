"""Alters one value of the data at the start, so that a test can find answers that depend on it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from .database import MemoryDatabase
from .errors import CannotStart

ALTERED_VARIABLE: Final = "HARNESS_ALTER"
"""The environment variable that names a value and what it becomes:
``salaries.EMP_0042.annual_salary=131500`` (table, key of the row, column)."""
_FORM: Final = re.compile(
    r"(?P<table>\w+)\.(?P<key>[^=]+)\.(?P<column>\w+)=(?P<value>.*)", re.DOTALL
)
_SHOWN: Final = 80


def alter(database: MemoryDatabase, environ: Mapping[str, str] | None) -> None:
    """Alter the one value of ``database`` that ``environ`` names, if it names one.

    Raises:
        CannotStart: there is no such value, or it is that already.
    """
    given = (environ or {}).get(ALTERED_VARIABLE)
    if not given:
        return
    parts = _FORM.fullmatch(given)
    if parts is None:
        raise CannotStart(
            f"{ALTERED_VARIABLE} has to be TABLE.KEY.COLUMN=VALUE, and is {given[:_SHOWN]!r}"
        )
    if not database.alter(parts["table"], parts["key"], parts["column"], parts["value"]):
        raise CannotStart(
            f"{ALTERED_VARIABLE} alters nothing: there is no {parts['column']} of "
            f"{parts['key'][:_SHOWN]!r} in {parts['table']}, or it has that value already"
        )
