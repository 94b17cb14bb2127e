from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from servers.finance.companies import COMPANIES
from servers.finance.tools import SOURCE
from tests.servers.data_governance.support import text_of
from tests.servers.finance.support import ANYBODY, server, shared

pytestmark = pytest.mark.anyio

PERIODS = {
    # period → first day, days, interval
    "1d": ("2025-12-30", 1, "daily"),
    "5d": ("2025-12-24", 5, "daily"),
    "1mo": ("2025-12-01", 22, "daily"),
    "3mo": ("2025-09-30", 14, "weekly"),
    "6mo": ("2025-06-30", 27, "weekly"),
    "1y": ("2024-12-31", 13, "monthly"),
    "2y": ("2024-01-02", 24, "monthly"),
}


async def test_every_tool_tells_a_model_how_to_use_it() -> None:
    async with Client(server(), cache=None) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == [
        "get_stock_price",
        "get_company_info",
        "calculate_financial_ratios",
        "calculate_investment_returns",
    ]
    for tool in tools:
        assert tool.title
        assert len(tool.description or "") > 80
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert tool.input_schema["additionalProperties"] is False
        Draft202012Validator.check_schema(tool.input_schema)
        for name, parameter in tool.input_schema["properties"].items():
            assert parameter.get("description"), f"{tool.name}.{name}"


async def test_every_tool_answers_for_every_company_within_its_schema() -> None:
    async with Client(server(), cache=None) as client:
        schemas = {
            tool.name: Draft202012Validator(tool.output_schema or {})
            for tool in (await client.list_tools()).tools
        }
        for ticker, name, *_ in COMPANIES:
            for tool in ("get_stock_price", "get_company_info", "calculate_financial_ratios"):
                more = {"period": "2y", "info": True} if tool == "get_stock_price" else {}
                result = await client.call_tool(tool, {"ticker": ticker, **more})
                assert not result.is_error, text_of(result)
                schemas[tool].validate(result.structured_content)
                found = result.structured_content or {}
                assert (found["ticker"], found["name"], found["source"]) == (ticker, name, SOURCE)


async def test_a_price_alone_is_short_and_says_that_it_is_a_sample() -> None:
    async with shared() as finance:
        assert await finance.data(ANYBODY, "get_stock_price", ticker="AAPL") == {
            "ticker": "AAPL",
            "name": "Apple Inc.",
            "currency": "USD",
            "as_of": "2025-12-31",
            "current_price": 271.86,
            "previous_close": 275.47,
            "day_change": -3.61,
            "day_change_percent": -1.31,
            "day_low": 270.72,
            "day_high": 274.38,
            "volume": 44697200,
            "source": (
                "Fixed sample data for tests, up to 2025-12-31; not market data and no advice."
            ),
        }


@pytest.mark.parametrize("period", PERIODS)
async def test_a_history_covers_its_period(period: str) -> None:
    first, count, interval = PERIODS[period]
    async with shared() as finance:
        found = await finance.data(ANYBODY, "get_stock_price", ticker="NVDA", period=period)
    history = found["history"]
    assert (history["period"], history["start_date"], history["end_date"]) == (
        period,
        first,
        "2025-12-31",
    )
    assert (len(history["prices"]), history["interval"]) == (count, interval)
    assert history["end_price"] == history["prices"][-1]["close"] == found["current_price"]
    assert history["change"] == pytest.approx(history["end_price"] - history["start_price"])
    assert history["change_percent"] == pytest.approx(
        100 * history["change"] / history["start_price"], abs=0.005
    )
    assert history["lowest_price"] <= history["average_price"] <= history["highest_price"]
    assert first <= history["lowest_date"] <= "2025-12-31"
    dates = [price["date"] for price in history["prices"]]
    assert dates == sorted(set(dates))


async def test_info_adds_the_figures_of_the_other_tools() -> None:
    async with shared() as finance:
        info = (await finance.data(ANYBODY, "get_stock_price", ticker="KO", info=True))["info"]
        ratios = (await finance.data(ANYBODY, "calculate_financial_ratios", ticker="KO"))["ratios"]
        company = await finance.data(ANYBODY, "get_company_info", ticker="KO")
        year = (await finance.data(ANYBODY, "get_stock_price", ticker="KO", period="1y"))["history"]
    assert info["pe_ratio"] == ratios["pe_ratio"] == 23.13
    assert info["market_cap"] == ratios["market_cap"] == company["market_cap"]
    assert (info["lowest_price_52_weeks"], info["highest_price_52_weeks"]) == (
        year["lowest_price"],
        year["highest_price"],
    )


@pytest.mark.parametrize(
    "spelling", ["aapl", "AaPl", " AAPL ", "$AAPL", "NASDAQ:AAPL", "nasdaq: aapl"]
)
async def test_a_ticker_is_read_however_it_is_written(spelling: str) -> None:
    async with shared() as finance:
        for tool in ("get_stock_price", "get_company_info", "calculate_financial_ratios"):
            assert (await finance.data(ANYBODY, tool, ticker=spelling))["ticker"] == "AAPL"


@pytest.mark.parametrize("spelling", ["BRK.B", "brk-b", "BRK/B", "BRKB"])
async def test_a_class_of_shares_is_read_however_it_is_written(spelling: str) -> None:
    async with shared() as finance:
        assert (await finance.data(ANYBODY, "get_stock_price", ticker=spelling))[
            "ticker"
        ] == "BRK.B"


@pytest.mark.parametrize(
    ("asked", "advice"),
    [
        ("Apple", '"Apple" is a company\'s name, not a ticker; did you mean AAPL (Apple Inc.)?'),
        ("apple inc", "did you mean AAPL (Apple Inc.)?"),
        ("Google", "did you mean GOOGL (Alphabet Inc.)?"),
        ("alphabet", "did you mean GOOGL (Alphabet Inc.)?"),
        ("Facebook", "did you mean META (Meta Platforms, Inc.)?"),
        ("Coca Cola", "did you mean KO (The Coca-Cola Company)?"),
        ("McDonalds", "did you mean MCD (McDonald's Corporation)?"),
        ("Walt Disney", "did you mean DIS (The Walt Disney Company)?"),
        ("JP Morgan", "did you mean JPM (JPMorgan Chase & Co.)?"),
        ("bank of america", "did you mean BAC (Bank of America Corporation)?"),
        ("APPL", 'There is no ticker "APPL"; did you mean AAPL (Apple Inc.)?'),
        ("GOOG", "did you mean GOOGL (Alphabet Inc.)?"),
        ("MSTF", "did you mean MSFT (Microsoft Corporation)?"),
        ("QQQQQ", "in the sample, which holds AAPL, MSFT, GOOGL"),
        ("株", "in the sample, which holds AAPL"),
        ("McDonald's", "did you mean MCD (McDonald's Corporation)?"),
        ("Apple’s stock", "did you mean AAPL (Apple Inc.)?"),
    ],
)
async def test_a_ticker_that_is_none_gets_the_nearest_one(asked: str, advice: str) -> None:
    async with shared() as finance:
        for tool in ("get_stock_price", "get_company_info", "calculate_financial_ratios"):
            result = await finance.call(ANYBODY, tool, ticker=asked)
            assert result.is_error
            assert advice in text_of(result)


@pytest.mark.parametrize(
    ("period", "advice"),
    [
        ("6m", "did you mean 6mo?"),
        ("6 months", "did you mean 6mo?"),
        ("half a year", "did you mean 1y?"),
        ("last year", "did you mean 1y?"),
        ("12mo", "did you mean 1y?"),
        ("2 weeks", "did you mean 5d?"),
        ("1w", "did you mean 5d?"),
        ("5y", "prices go back two years, did you mean 2y?"),
        ("max", "did you mean 2y?"),
        ("ytd", "did you mean 1y?"),
        ("", "did you mean 1y?"),
    ],
)
async def test_a_period_that_is_none_gets_the_nearest_one(period: str, advice: str) -> None:
    async with shared() as finance:
        result = await finance.call(ANYBODY, "get_stock_price", ticker="AAPL", period=period)
        assert result.is_error
        assert advice in text_of(result)
        assert "Periods are 1d, 5d, 1mo, 3mo, 6mo, 1y, 2y" in text_of(result)


async def test_a_period_is_read_in_any_case() -> None:
    async with shared() as finance:
        found = await finance.data(ANYBODY, "get_stock_price", ticker="AAPL", period=" 6MO ")
    assert found["history"]["period"] == "6mo"


async def test_investment_returns_add_up() -> None:
    async with shared() as finance:
        found = await finance.data(
            ANYBODY,
            "calculate_investment_returns",
            principal=10_000,
            annual_rate=7,
            years=20,
            monthly_contribution=200,
        )
        assert found == {
            "principal": 10_000,
            "annual_rate_percent": 7,
            "years": 20,
            "months": 240,
            "monthly_contribution": 200,
            "compounding": "monthly, contributions at the end of each month",
            "future_value": 144_572.72,
            "total_invested": 58_000,
            "total_interest": 86_572.72,
            "total_return_percent": 149.26,
            "effective_annual_rate_percent": 7.229,
            "remarks": [],
        }
        nothing = await finance.data(
            ANYBODY, "calculate_investment_returns", principal=0, annual_rate=7, years=3
        )
        assert (nothing["future_value"], nothing["total_return_percent"]) == (0, None)


@pytest.mark.parametrize(
    ("rate", "years", "remarks"),
    [
        (0.07, 10, ["The rate was taken as 0.07 % a year; for 7 % give 7."]),
        (7, 2.5, []),
        (7, 2.49, ["2.49 years were rounded to 30 months."]),
        (0, 10, []),
        (1, 1 / 12, []),
    ],
)
async def test_arguments_that_may_be_a_slip_are_remarked_on(
    rate: float, years: float, remarks: list[str]
) -> None:
    async with shared() as finance:
        found = await finance.data(
            ANYBODY, "calculate_investment_returns", principal=1_000, annual_rate=rate, years=years
        )
    assert found["remarks"] == remarks


@pytest.mark.parametrize(
    ("changes", "advice"),
    [
        ({"principal": -1}, "principal: Input should be greater than or equal to 0"),
        ({"principal": "much"}, "principal: Input should be a valid number"),
        ({"annual_rate": 101}, "annual_rate: Input should be less than or equal to 100"),
        ({"years": -1}, "years: Input should be greater than or equal to 0"),
        ({"years": None}, "years: Input should be a valid number"),
        ({"monthly_contribution": -5}, "monthly_contribution: "),
        ({"anual_rate": 5}, "unknown argument anual_rate, did you mean annual_rate?"),
    ],
)
async def test_a_wrong_argument_is_an_error_that_guides(
    changes: dict[str, Any], advice: str
) -> None:
    arguments = {"principal": 1_000, "annual_rate": 5, "years": 10, **changes}
    async with shared() as finance:
        result = await finance.call(ANYBODY, "calculate_investment_returns", **arguments)
    assert result.is_error
    assert advice in text_of(result)
