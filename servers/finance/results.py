"""The results of the tools: output schemas, field by field."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypeAlias

from pydantic import Field

# `typing.TypedDict` is one that pydantic cannot read before Python 3.12.
from typing_extensions import TypedDict

from ..common.toolkit import closed

Period: TypeAlias = Literal["1d", "5d", "1mo", "3mo", "6mo", "1y", "2y"]
Dollars: TypeAlias = Annotated[float, Field(description="US dollars.")]
Millions: TypeAlias = Annotated[int, Field(description="Millions of US dollars.")]
Percent: TypeAlias = Annotated[float, Field(description="Percent: 7 is 7 %.")]
Day: TypeAlias = Annotated[str, Field(description="YYYY-MM-DD.")]
Source: TypeAlias = Annotated[str, Field(description="Where the figures come from.")]


@closed
class Close(TypedDict):
    """One closing price."""

    date: Day
    close: Dollars


@closed
class History(TypedDict):
    """What a share price did over a period."""

    period: Period
    start_date: Day
    end_date: Day
    start_price: Dollars
    end_price: Dollars
    change: Dollars
    change_percent: Percent
    lowest_price: Dollars
    lowest_date: Day
    highest_price: Dollars
    highest_date: Day
    average_price: Annotated[float, Field(description="Mean of all closing prices, in US dollars.")]
    average_volume: Annotated[int, Field(description="Shares a day.")]
    interval: Literal["daily", "weekly", "monthly"]
    prices: Annotated[
        list[Close], Field(description="Closing prices at this interval, oldest first.")
    ]


@closed
class KeyFigures(TypedDict):
    """A company in a few words and figures."""

    sector: str
    industry: str
    market_cap: Annotated[int, Field(description="US dollars.")]
    pe_ratio: Annotated[float | None, Field(description="Null when the company made a loss.")]
    dividend_yield_percent: Percent
    lowest_price_52_weeks: Dollars
    highest_price_52_weeks: Dollars


@closed
class StockPrice(TypedDict):
    """The current price of a share; its history and its company when asked for."""

    ticker: str
    name: str
    currency: Literal["USD"]
    as_of: Day
    current_price: Dollars
    previous_close: Dollars
    day_change: Annotated[float, Field(description="Since the previous close, in US dollars.")]
    day_change_percent: Annotated[float, Field(description="Since the previous close, in percent.")]
    day_low: Dollars
    day_high: Dollars
    volume: Annotated[int, Field(description="Shares traded that day.")]
    history: NotRequired[History]
    info: NotRequired[KeyFigures]
    source: Source


@closed
class CompanyInfo(TypedDict):
    """Who a company is."""

    ticker: str
    name: str
    sector: str
    industry: str
    exchange: str
    headquarters: str
    founded: int
    employees: Annotated[int, Field(description="Rounded.")]
    description: str
    currency: Literal["USD"]
    market_cap: Annotated[int, Field(description="US dollars.")]
    source: Source


@closed
class Ratios(TypedDict):
    """Valuation, profitability, liquidity and leverage; null where a ratio means nothing."""

    market_cap: Annotated[int, Field(description="US dollars.")]
    earnings_per_share: Dollars
    pe_ratio: Annotated[float | None, Field(description="Market capitalisation over net income.")]
    price_to_book: Annotated[
        float | None, Field(description="Market capitalisation over shareholders' equity.")
    ]
    price_to_sales: Annotated[
        float | None, Field(description="Market capitalisation over revenue.")
    ]
    dividend_yield_percent: Percent
    gross_margin_percent: Percent | None
    operating_margin_percent: Percent | None
    net_margin_percent: Percent
    return_on_equity_percent: Annotated[
        float | None, Field(description="ROE: net income over equity, in percent.")
    ]
    return_on_assets_percent: Annotated[
        float, Field(description="ROA: net income over total assets, in percent.")
    ]
    asset_turnover: float
    current_ratio: Annotated[
        float | None, Field(description="Current assets over current liabilities.")
    ]
    quick_ratio: Annotated[float | None, Field(description="The same without inventory.")]
    debt_to_equity: Annotated[
        float | None, Field(description="Total debt over shareholders' equity.")
    ]
    interest_coverage: Annotated[
        float | None, Field(description="Operating income over interest expense.")
    ]


@closed
class Figures(TypedDict):
    """The lines of the statement that the ratios are computed from."""

    revenue: Millions
    gross_profit: Millions | None
    operating_income: Millions | None
    net_income: Millions
    total_assets: Millions
    shareholders_equity: Millions
    total_debt: Millions
    current_assets: Millions | None
    current_liabilities: Millions | None
    inventory: Millions | None
    interest_expense: Millions | None
    shares: Annotated[int, Field(description="Millions of shares.")]
    dividend_per_share: Dollars


@closed
class FinancialRatios(TypedDict):
    """The ratios of a company, and what they were computed from."""

    ticker: str
    name: str
    fiscal_year: int
    price: Dollars
    price_date: Day
    ratios: Ratios
    computed_from: Figures
    remarks: Annotated[list[str], Field(description="Why a ratio is null.")]
    source: Source


@closed
class InvestmentReturns(TypedDict):
    """What becomes of an investment."""

    principal: Dollars
    annual_rate_percent: Percent
    years: float
    months: int
    monthly_contribution: Dollars
    compounding: Literal["monthly, contributions at the end of each month"]
    future_value: Dollars
    total_invested: Annotated[
        float, Field(description="Principal and all contributions, in US dollars.")
    ]
    total_interest: Annotated[
        float, Field(description="Future value less what was invested, in US dollars.")
    ]
    total_return_percent: Annotated[
        float | None,
        Field(description="Interest over what was invested, in percent; null if nothing was."),
    ]
    effective_annual_rate_percent: Percent
    remarks: Annotated[
        list[str], Field(description="What to know about how the arguments were read.")
    ]
