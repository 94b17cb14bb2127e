import hashlib
import json
from datetime import timedelta
from itertools import pairwise

from servers.finance.companies import COMPANIES
from servers.finance.figures import FIGURES, PRICES
from servers.finance.prices import FIRST_DAY, LAST_DAY, daily_prices, trading_days

ROWS = list(daily_prices())
DIGEST = "3d8e92d469c7932a5dadd9eb38dce7ba55a17dbf50ab7c78f93e36e7afc7ae77"


def test_the_prices_are_the_same_everywhere_and_for_ever() -> None:
    assert hashlib.sha256(json.dumps(ROWS).encode()).hexdigest() == DIGEST


def test_every_company_has_a_statement_and_prices() -> None:
    tickers = [row[0] for row in COMPANIES]
    assert len(tickers) == len(set(tickers)) >= 36
    assert [row[0] for row in FIGURES] == [row[0] for row in PRICES] == tickers
    assert {row[0] for row in ROWS} == set(tickers)


def test_prices_are_those_of_trading_days_and_of_no_other() -> None:
    days = trading_days()
    assert (days[0], days[-1], len(days)) == (FIRST_DAY, LAST_DAY, 502)
    assert all(day.weekday() < 5 for day in days)
    assert all(later - earlier <= timedelta(days=4) for earlier, later in pairwise(days))
    for ticker in ("AAPL", "CAT"):
        assert [row[1] for row in ROWS if row[0] == ticker] == [day.isoformat() for day in days]


def test_prices_begin_and_end_where_the_sample_says_and_stay_believable_between() -> None:
    for ticker, first, last, move, volume in PRICES:
        rows = [row for row in ROWS if row[0] == ticker]
        assert (rows[0][2], rows[-1][2]) == (first, last)
        for before, (_, _, close, low, high, traded) in zip([rows[0], *rows], rows, strict=False):
            assert 0.3 * min(first, last) < low <= close <= high < 2.5 * max(first, last)
            assert abs(close / before[2] - 1) < 3 * move / 10_000
            assert 0.5 * volume * 1_000 < traded < 2 * volume * 1_000


def test_statements_hold_together() -> None:
    for row in FIGURES:
        ticker, revenue, gross, operating, net, assets, equity, debt, current, _owed, inventory = (
            row[:11]
        )
        assert net < revenue, ticker
        assert gross is None or (operating is not None and operating < gross < revenue), ticker
        assert equity < assets, ticker
        assert debt < assets, ticker
        assert current is None or (inventory or 0) < current < assets, ticker
