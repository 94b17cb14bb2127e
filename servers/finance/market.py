"""The sample in SQLite: companies, statements and prices, and the ticker that somebody means."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

import difflib
import json
import re
from typing import Final

from mcp.server.mcpserver.exceptions import ToolError

from ..common.database import MemoryDatabase, Row, fold
from .companies import COMPANIES
from .figures import FIGURES
from .prices import daily_prices

_SCHEMA: Final = """
CREATE TABLE companies (
  ticker TEXT PRIMARY KEY, name TEXT NOT NULL, sector TEXT NOT NULL, industry TEXT NOT NULL,
  exchange TEXT NOT NULL,
  headquarters TEXT NOT NULL, founded INTEGER NOT NULL, employees INTEGER NOT NULL,
  description TEXT NOT NULL);
CREATE TABLE statements (
  ticker TEXT PRIMARY KEY REFERENCES companies, revenue INTEGER NOT NULL, gross_profit INTEGER,
  operating_income INTEGER, net_income INTEGER NOT NULL, total_assets INTEGER NOT NULL,
  shareholders_equity INTEGER NOT NULL, total_debt INTEGER NOT NULL, current_assets INTEGER,
  current_liabilities INTEGER, inventory INTEGER, interest_expense INTEGER, shares INTEGER NOT NULL,
  dividend_per_share REAL NOT NULL);
CREATE TABLE prices (
  ticker TEXT NOT NULL REFERENCES companies, day TEXT NOT NULL,
  close INTEGER NOT NULL, low INTEGER NOT NULL,
  high INTEGER NOT NULL, volume INTEGER NOT NULL, PRIMARY KEY (ticker, day)) WITHOUT ROWID;
"""

_LATEST: Final = "SELECT * FROM prices WHERE ticker = :ticker ORDER BY day DESC LIMIT :days"
_SINCE: Final = "SELECT * FROM prices WHERE ticker = :ticker AND day >= :day ORDER BY day"

# What people call a company whose own name does not say so.
_NICKNAMES: Final = {
    "google": "GOOGL",
    "facebook": "META",
    "instagram": "META",
    "amd": "AMD",
    "jp morgan": "JPM",
    "p&g": "PG",
    "coke": "KO",
    "exxonmobil": "XOM",
    "berkshire": "BRK.B",
}
_LEGAL_FORMS: Final = frozenset(
    (
        "the", "inc", "corp", "corporation", "company", "co", "incorporated", "group", "and", "of",
        "com", "plc", "platforms", "holdings", "stock", "shares",
    )
)  # fmt: skip
_SHOWN: Final = 30  # characters of an unknown ticker that an error repeats


class Market:
    """The whole sample, freshly made; use it from one thread."""

    def __init__(self) -> None:
        """Create and fill the tables."""
        tables = {"companies": COMPANIES, "statements": FIGURES, "prices": daily_prices()}
        self._database = MemoryDatabase(_SCHEMA, tables)
        self._names = {row[0]: row[1] for row in COMPANIES}
        self._spellings = {_letters(ticker): ticker for ticker in self._names}

    def company(self, asked: str) -> Row:
        """Return the company with the ticker ``asked``, with or without ``$`` or exchange.

        Upper and lower case are the same.

        Raises:
            ToolError: there is none; the text names the ticker that was probably meant.
        """
        ticker = self._spellings.get(_letters(asked.rpartition(":")[2]))
        if ticker is None:
            raise ToolError(self._advice(asked))
        return self._database.rows(
            "SELECT * FROM companies WHERE ticker = :ticker", {"ticker": ticker}
        )[0]

    def statement(self, ticker: str) -> Row:
        """Return the statement of a company: millions of dollars and of shares, by column name."""
        return self._database.rows(
            "SELECT * FROM statements WHERE ticker = :ticker", {"ticker": ticker}
        )[0]

    def latest(self, ticker: str, days: int) -> list[Row]:
        """Return the last trading days, the oldest first; prices in cents."""
        return self._database.rows(_LATEST, {"ticker": ticker, "days": days})[::-1]

    def since(self, ticker: str, day: str) -> list[Row]:
        """Return the trading days from ``day`` (ISO 8601) on, the oldest first; prices in cents."""
        return self._database.rows(_SINCE, {"ticker": ticker, "day": day})

    def _advice(self, asked: str) -> str:
        shown = json.dumps(asked.strip()[:_SHOWN], ensure_ascii=False)
        named = self._named(asked)
        if named:
            return f"{shown} is a company's name, not a ticker; did you mean {self._told(named)}?"
        near = difflib.get_close_matches(_letters(asked), self._spellings, n=2, cutoff=0.6)
        if near:
            return (
                f"There is no ticker {shown}; did you mean "
                f"{self._told([self._spellings[one] for one in near])}?"
            )
        return f"There is no ticker {shown} in the sample, which holds {', '.join(self._names)}"

    def _named(self, asked: str) -> list[str]:
        """Return the tickers of companies whose name has all the words of ``asked``."""
        if fold(asked).strip() in _NICKNAMES:
            return [_NICKNAMES[fold(asked).strip()]]
        wanted = _words(asked)
        return [
            ticker for ticker, name in self._names.items() if wanted and wanted <= _known_as(name)
        ]

    def _told(self, tickers: list[str]) -> str:
        return " or ".join(f"{ticker} ({self._names[ticker]})" for ticker in tickers[:3])


def _letters(ticker: str) -> str:
    return "".join(letter for letter in ticker if letter.isalnum()).upper()


def _known_as(name: str) -> frozenset[str]:
    """Return the words of a company's name, also as written without its apostrophes."""
    return _words(name) | _words(name.replace("'", ""))


def _words(name: str) -> frozenset[str]:
    """Return the words that tell a company from others: without case, accents and legal forms."""
    plain = fold(name).replace("'s", "").replace("’s", "")
    return frozenset(re.findall(r"[a-z0-9]+", plain)) - _LEGAL_FORMS
