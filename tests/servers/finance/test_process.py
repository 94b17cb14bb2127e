"""The server as the process that it is."""

import pytest

from tests.servers.data_governance.support import as_process
from tests.servers.finance.support import ANYBODY

pytestmark = pytest.mark.anyio


async def test_every_tool_works_for_everybody() -> None:
    async with as_process(module="servers.finance") as finance:
        assert await finance.tools(ANYBODY) == await finance.tools({"role": "analyst"})
        price = await finance.data(
            ANYBODY, "get_stock_price", ticker="msft", period="6mo", info=True
        )
        company = await finance.data({"role": "analyst"}, "get_company_info", ticker="MSFT")
        ratios = await finance.data(ANYBODY, "calculate_financial_ratios", ticker="MSFT")
        returns = await finance.data(
            ANYBODY, "calculate_investment_returns", principal=500, annual_rate=6, years=5
        )
    assert price["current_price"] == ratios["price"] == 483.62
    assert company["name"] == "Microsoft Corporation"
    assert returns["future_value"] == 674.43
