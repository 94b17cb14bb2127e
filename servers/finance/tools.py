"""The four tools, as a model sees them and as they work on the sample."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Final, Literal, TypeAlias, cast

from mcp.server.mcpserver.tools import Tool

from ..common.database import Row
from ..common.dates import months_before
from ..common.hints import READS
from ..common.toolkit import fields_of, make_tool
from . import arguments as a
from . import results as r
from .figures import FISCAL_YEAR
from .market import Market
from .prices import LAST_DAY
from .ratios import ratios_of, remarks_on
from .returns import grow

Interval: TypeAlias = Literal["daily", "weekly", "monthly"]

SOURCE: Final = f"Fixed sample data for tests, up to {LAST_DAY}; not market data and no advice."
"""Said with every result, so that nobody takes it for a quote."""

_MONTHS: Final[dict[r.Period, int]] = {"1mo": 1, "3mo": 3, "6mo": 6, "1y": 12, "2y": 24}
_INTERVALS: Final[dict[r.Period, Interval]] = {
    "3mo": "weekly",
    "6mo": "weekly",
    "1y": "monthly",
    "2y": "monthly",
}
_BELOW_ONE_PERCENT: Final = 1


def make_tools(market: Market) -> list[Tool]:
    """Return all tools over ``market``."""
    tools = FinanceTools(market)
    return [
        make_tool(tools.get_stock_price, "Stock price", READS),
        make_tool(tools.get_company_info, "Company information", READS),
        make_tool(tools.calculate_financial_ratios, "Financial ratios", READS),
        make_tool(tools.calculate_investment_returns, "Investment returns", READS),
    ]


class FinanceTools:
    """Each public method is a tool and its docstring the tool's description.

    They are coroutines that never wait: the sample is in memory, and one thread uses it.
    """

    def __init__(self, market: Market) -> None:
        """Work on ``market``."""
        self._market = market

    async def get_stock_price(
        self,
        ticker: a.Ticker,
        period: a.PeriodOfHistory = None,
        info: a.WithInfo = False,  # noqa: FBT002  # called by name, over the wire
    ) -> r.StockPrice:
        """Show the current stock price of a company, and with a period how its price developed.

        With period also the price history: change, highest and lowest price. One ticker a call; to
        compare companies, call it once for each.
        """
        company = self._market.company(ticker)
        before, today = self._market.latest(company["ticker"], 2)
        change = today["close"] - before["close"]
        price = r.StockPrice(
            ticker=company["ticker"],
            name=company["name"],
            currency="USD",
            as_of=today["day"],
            current_price=today["close"] / 100,
            previous_close=before["close"] / 100,
            day_change=change / 100,
            day_change_percent=round(100 * change / before["close"], 2),
            day_low=today["low"] / 100,
            day_high=today["high"] / 100,
            volume=today["volume"],
            source=SOURCE,
        )
        if period is not None:
            price["history"] = self._history(company["ticker"], period)
        if info:
            price["info"] = self._key_figures(company)
        return price

    async def get_company_info(self, ticker: a.Ticker) -> r.CompanyInfo:
        """Describe a company:

        what it does, sector, industry, headquarters, founding year, employees, exchange.

        For its share price use get_stock_price, for P/E, margins and debt
        calculate_financial_ratios.
        """
        company = self._market.company(ticker)
        capital = self._ratios(company["ticker"])["market_cap"]
        facts = fields_of(company, r.CompanyInfo) | {
            "currency": "USD",
            "market_cap": capital,
            "source": SOURCE,
        }
        return cast("r.CompanyInfo", facts)

    async def calculate_financial_ratios(self, ticker: a.Ticker) -> r.FinancialRatios:
        """Compute a company's financial ratios:

        P/E and P/B, margins, ROE and ROA, current and quick ratio, debt.

        Gives valuation, profitability, liquidity and leverage from the latest annual statement and
        the current share price, together with the figures that they are computed from. A ratio that
        would mean nothing is null.
        """
        company = self._market.company(ticker)
        statement = self._market.statement(company["ticker"])
        ratios = self._ratios(company["ticker"])
        return r.FinancialRatios(
            ticker=company["ticker"],
            name=company["name"],
            fiscal_year=FISCAL_YEAR,
            price=self._price(company["ticker"]),
            price_date=LAST_DAY.isoformat(),
            ratios=ratios,
            computed_from=cast("r.Figures", fields_of(statement, r.Figures)),
            remarks=remarks_on(ratios),
            source=SOURCE,
        )

    async def calculate_investment_returns(
        self,
        principal: a.Principal,
        annual_rate: a.AnnualRate,
        years: a.Years,
        monthly_contribution: a.MonthlyContribution = 0.0,
    ) -> r.InvestmentReturns:
        """Compute compound interest: what an investment or savings plan grows to over some years.

        Interest is compounded monthly; contributions are added at the end of each month. Gives the
        future value, what was paid in and the interest earned. It needs no ticker and knows no
        market.
        """
        months = round(years * 12)
        growth = grow(
            Decimal(str(principal)),
            Decimal(str(annual_rate)),
            months,
            Decimal(str(monthly_contribution)),
        )
        invested = growth.total_invested
        return r.InvestmentReturns(
            principal=principal,
            annual_rate_percent=annual_rate,
            years=years,
            months=months,
            monthly_contribution=monthly_contribution,
            compounding="monthly, contributions at the end of each month",
            future_value=float(growth.future_value),
            total_invested=float(invested),
            total_interest=float(growth.interest),
            total_return_percent=round(float(100 * growth.interest / invested), 2)
            if invested
            else None,
            effective_annual_rate_percent=float(growth.effective_rate),
            remarks=_remarks(annual_rate, years, months),
        )

    def _price(self, ticker: str) -> float:
        return float(self._market.latest(ticker, 1)[0]["close"] / 100)

    def _ratios(self, ticker: str) -> r.Ratios:
        return ratios_of(self._market.statement(ticker), self._price(ticker))

    def _key_figures(self, company: Row) -> r.KeyFigures:
        ratios = self._ratios(company["ticker"])
        year = self._days(company["ticker"], "1y")
        return r.KeyFigures(
            sector=company["sector"],
            industry=company["industry"],
            market_cap=ratios["market_cap"],
            pe_ratio=ratios["pe_ratio"],
            dividend_yield_percent=ratios["dividend_yield_percent"],
            lowest_price_52_weeks=min(day["low"] for day in year) / 100,
            highest_price_52_weeks=max(day["high"] for day in year) / 100,
        )

    def _history(self, ticker: str, period: r.Period) -> r.History:
        days = self._days(ticker, period)
        lowest, highest = (
            min(days, key=lambda day: day["low"]),
            max(days, key=lambda day: day["high"]),
        )
        # A single day's change counts from the day before.
        start = self._market.latest(ticker, 2)[0] if period == "1d" else days[0]
        change = days[-1]["close"] - start["close"]
        interval = _INTERVALS.get(period, "daily")
        return r.History(
            period=period,
            start_date=start["day"],
            end_date=days[-1]["day"],
            start_price=start["close"] / 100,
            end_price=days[-1]["close"] / 100,
            change=change / 100,
            change_percent=round(100 * change / start["close"], 2),
            lowest_price=lowest["low"] / 100,
            lowest_date=lowest["day"],
            highest_price=highest["high"] / 100,
            highest_date=highest["day"],
            average_price=round(sum(day["close"] for day in days) / len(days) / 100, 2),
            average_volume=round(sum(day["volume"] for day in days) / len(days)),
            interval=interval,
            prices=[
                r.Close(date=day["day"], close=day["close"] / 100)
                for day in _thinned(days, interval)
            ],
        )

    def _days(self, ticker: str, period: r.Period) -> list[Row]:
        if period not in _MONTHS:
            return self._market.latest(ticker, int(period.removesuffix("d")))
        return self._market.since(ticker, months_before(LAST_DAY, _MONTHS[period]).isoformat())


def _thinned(days: Sequence[Row], interval: Interval) -> list[Row]:
    """Return the last day of each week or month."""

    def stretch(day: Row) -> tuple[int, ...]:
        when = date.fromisoformat(day["day"])
        return when.isocalendar()[:2] if interval == "weekly" else (when.year, when.month)

    return list(days) if interval == "daily" else list({stretch(day): day for day in days}.values())


def _remarks(annual_rate: float, years: float, months: int) -> list[str]:
    remarks = []
    if 0 < abs(annual_rate) < _BELOW_ONE_PERCENT:
        remarks.append(
            f"The rate was taken as {annual_rate} % a year; for {100 * annual_rate:g} % give "
            f"{100 * annual_rate:g}."
        )
    if abs(years * 12 - months) > 1e-6:  # noqa: PLR2004  # no more than a float's own rounding
        remarks.append(f"{years:g} years were rounded to {months} months.")
    return remarks
