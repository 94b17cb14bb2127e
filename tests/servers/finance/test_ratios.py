from typing import Any

import pytest

from servers.finance.market import Market
from servers.finance.ratios import ratios_of, remarks_on

COKE: dict[str, Any] = {
    "revenue": 47_700,
    "gross_profit": 29_400,
    "operating_income": 14_300,
    "net_income": 13_000,
    "total_assets": 106_000,
    "shareholders_equity": 31_200,
    "total_debt": 47_400,
    "current_assets": 31_000,
    "current_liabilities": 25_300,
    "inventory": 4_900,
    "interest_expense": 1_600,
    "shares": 4_302,
    "dividend_per_share": 2.04,
}


def test_ratios_are_those_that_a_textbook_gives() -> None:
    ratios = ratios_of(COKE, 69.91)
    assert ratios == {
        "market_cap": 300_752_820_000,  # 69.91 · 4302 million
        "earnings_per_share": 3.02,  # 13000 / 4302
        "pe_ratio": 23.13,  # 300752.82 / 13000
        "price_to_book": 9.64,
        "price_to_sales": 6.31,
        "dividend_yield_percent": 2.92,  # 2.04 / 69.91
        "gross_margin_percent": 61.64,
        "operating_margin_percent": 29.98,
        "net_margin_percent": 27.25,
        "return_on_equity_percent": 41.67,
        "return_on_assets_percent": 12.26,
        "asset_turnover": 0.45,
        "current_ratio": 1.23,  # 31000 / 25300
        "quick_ratio": 1.03,  # (31000 − 4900) / 25300
        "debt_to_equity": 1.52,
        "interest_coverage": 8.94,
    }
    assert remarks_on(ratios) == []


@pytest.mark.parametrize(
    ("changes", "missing", "remark"),
    [
        ({"net_income": -1}, {"pe_ratio"}, "pe_ratio: null, because the company made a loss."),
        (
            {"shareholders_equity": -2_200},
            {"price_to_book", "return_on_equity_percent", "debt_to_equity"},
            (
                "price_to_book and return_on_equity_percent and debt_to_equity: null, "
                "because shareholders' equity is negative."
            ),
        ),
        (
            {"current_assets": None, "current_liabilities": None},
            {"current_ratio", "quick_ratio"},
            "current_ratio and quick_ratio: null, because the company states no such figures.",
        ),
        (
            {"interest_expense": None},
            {"interest_coverage"},
            "interest_coverage: null, because the company states no such figures.",
        ),
    ],
)
def test_a_ratio_that_would_mean_nothing_is_null_and_says_why(
    changes: dict[str, Any], missing: set[str], remark: str
) -> None:
    ratios = ratios_of({**COKE, **changes}, 69.91)
    assert {name for name, value in ratios.items() if value is None} == missing
    assert remarks_on(ratios) == [remark]


def test_a_company_without_inventory_has_one_ratio_twice() -> None:
    ratios = ratios_of({**COKE, "inventory": None}, 69.91)
    assert ratios["quick_ratio"] == ratios["current_ratio"]


def test_every_company_of_the_sample_has_believable_ratios() -> None:
    market = Market()
    for ticker in market._names:
        ratios = ratios_of(market.statement(ticker), market.latest(ticker, 1)[0]["close"] / 100)
        assert all(value is None or isinstance(value, int | float) for value in ratios.values()), (
            ticker
        )
        assert ratios["pe_ratio"] is None or 5 < ratios["pe_ratio"] < 400, ticker
        assert 0 <= ratios["dividend_yield_percent"] < 8, ticker
        assert -15 < ratios["net_margin_percent"] < 60, ticker
