from __future__ import annotations

import json
from typing import Any

import pytest

from harness.leaderboards.bfcl.apis.common import Api, get_public_state
from tests.leaderboards.bfcl.apis.scenes import an_api, text_of


def a_broker(*, long_context: bool = False, **scenario: Any) -> Api:
    return an_api("TradingBot", long_context=long_context, **{"authenticated": True, **scenario})


def test_order_numbers_that_are_texts_become_numbers() -> None:
    broker = a_broker(orders={"5": {"id": 5, "status": "Open"}})
    assert text_of(broker, "get_order_history") == '{"history": [5]}'
    assert text_of(broker, "get_order_details", order_id=5) == '{"id": 5, "status": "Open"}'
    assert text_of(broker, "get_order_details", order_id=6) == (
        '{"error": "Order with ID 6 not found.Here is the list of orders_id: [5]"}'
    )


def test_an_order_is_answered_as_pending_and_kept_as_open() -> None:
    broker = a_broker()
    placed = {"order_id": 8, "order_type": "Buy", "status": "Pending", "price": 10.0, "amount": 3}
    assert (
        json.loads(
            text_of(broker, "place_order", order_type="Buy", symbol="AAA", price=10, amount=3)
        )
        == placed
    )
    assert json.loads(text_of(broker, "get_order_details", order_id=8))["status"] == "Open"
    assert get_public_state(broker)["order_counter"] == 9


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"symbol": "???"}, "Invalid stock symbol: ???"),
        ({"price": 0}, "Price and amount must be positive values."),
        ({"amount": -1}, "Price and amount must be positive values."),
        ({"amount": 11}, "Insufficient funds: required $110.00 but only $100.00 available."),
    ],
)
def test_an_order_that_cannot_be_leaves_no_trace(changes: dict[str, Any], error: str) -> None:
    broker = a_broker()
    before = repr(get_public_state(broker))
    order = {"order_type": "Buy", "symbol": "AAA", "price": 10, "amount": 1, **changes}
    assert json.loads(text_of(broker, "place_order", **order)) == {"error": error}
    assert repr(get_public_state(broker)) == before


def test_selling_needs_no_funds() -> None:
    assert "Pending" in text_of(
        a_broker(), "place_order", order_type="Sell", symbol="AAA", price=10, amount=999
    )


def test_only_an_order_that_is_not_completed_is_cancelled() -> None:
    broker = a_broker()
    assert text_of(broker, "cancel_order", order_id=7) == (
        '{"error": "Can\'t cancel order 7. Order is already completed."}'
    )
    text_of(broker, "place_order", order_type="Sell", symbol="AAA", price=10, amount=1)
    assert text_of(broker, "cancel_order", order_id=8) == '{"order_id": 8, "status": "Cancelled"}'
    assert text_of(broker, "cancel_order", order_id=9) == '{"error": "Order with ID 9 not found."}'


def test_money_moves_at_moments_that_the_seed_determines() -> None:
    one, other, third = a_broker(), a_broker(), a_broker(random_seed=2)
    for broker in (one, other, third):
        assert text_of(broker, "fund_account", amount=5) == (
            '{"status": "Account funded successfully", "new_balance": 105.0}'
        )
        assert text_of(broker, "withdraw_funds", amount=100) == (
            '{"status": "Withdrawal successful", "new_balance": 5.0}'
        )
        assert (
            text_of(broker, "withdraw_funds", amount=100)
            == '{"error": "Insufficient funds for withdrawal."}'
        )
    assert get_public_state(one) == get_public_state(other)
    assert get_public_state(one) != get_public_state(third)
    history = get_public_state(one)["transaction_history"]
    assert [(entry["type"], entry["amount"]) for entry in history] == [
        ("deposit", 5),
        ("withdrawal", 100),
    ]
    times = [entry["timestamp"] for entry in history]
    assert all("2024-09-01 10:30:00" <= time <= "2024-09-02 10:30:00" for time in times)


def test_a_closed_market_pays_nothing_out() -> None:
    assert "Market is closed" in text_of(
        a_broker(market_status="Closed"), "withdraw_funds", amount=1
    )


@pytest.mark.parametrize("tool", ["fund_account", "withdraw_funds"])
def test_an_amount_is_positive(tool: str) -> None:
    assert "must be positive" in text_of(a_broker(), tool, amount=0)


@pytest.mark.parametrize(
    ("tool", "arguments", "refused"),
    [
        (
            "place_order",
            {"order_type": "Buy", "symbol": "AAA", "price": 1, "amount": 1},
            '{"error": "User not',
        ),
        ("withdraw_funds", {"amount": 1}, '{"error": "User not'),
        ("fund_account", {"amount": 1}, '{"error": "User not'),
        ("get_account_info", {}, '{"error": "User not'),
        ("remove_stock_from_watchlist", {"symbol": "AAA"}, '{"error": "User not'),
        (
            "get_watchlist",
            {},
            "['Error: User not authenticated. Please log in to view the watchlist.']",
        ),
        ("get_order_history", {}, "[{'error': 'User not"),
        ("get_transaction_history", {}, "[{'error': 'User not"),
    ],
)
def test_a_stranger_is_refused_each_tool_in_its_own_words(
    tool: str, arguments: dict[str, Any], refused: str
) -> None:
    assert text_of(a_broker(authenticated=False), tool, **arguments).startswith(refused)


def test_one_logs_in_and_out_once() -> None:
    broker = a_broker(authenticated=False)
    said = [text_of(broker, "trading_login", username="x", password="y") for _ in range(2)]
    assert said == ['{"status": "Logged in successfully"}', '{"status": "Already logged in"}']
    assert text_of(broker, "trading_get_login_status") == '{"status": true}'
    said = [text_of(broker, "trading_logout") for _ in range(2)]
    assert said == [
        '{"status": "Logged out successfully"}',
        '{"status": "No user is currently logged in"}',
    ]


def test_the_watch_list_takes_stocks_that_exist_once() -> None:
    broker = a_broker()
    assert text_of(broker, "add_to_watchlist", stock="BBB") == '{"watchlist": ["AAA", "BBB"]}'
    assert text_of(broker, "add_to_watchlist", stock="BBB") == '{"watchlist": ["AAA", "BBB"]}'
    assert text_of(broker, "add_to_watchlist", stock="???") == '{"watchlist": ["AAA", "BBB"]}'
    assert text_of(broker, "remove_stock_from_watchlist", symbol="AAA") == (
        '{"status": "Stock AAA removed from watchlist successfully."}'
    )
    assert text_of(broker, "remove_stock_from_watchlist", symbol="AAA") == (
        '{"error": "Stock AAA not found in watchlist."}'
    )


def test_transactions_are_found_by_day() -> None:
    history = [
        {"type": "deposit", "amount": 1, "timestamp": f"2024-05-0{day} 12:00:00"}
        for day in (1, 2, 3)
    ]
    broker = a_broker(transaction_history=history)
    found = json.loads(
        text_of(broker, "get_transaction_history", start_date="2024-05-02", end_date="2024-05-03")
    )
    assert found == {"transaction_history": [history[1]]}
    assert json.loads(text_of(broker, "get_transaction_history")) == {
        "transaction_history": history
    }
    assert text_of(broker, "get_transaction_history", start_date="May") == (
        "Error during execution: time data 'May' does not match format '%Y-%m-%d'"
    )


def test_stocks_are_looked_up_filtered_and_watched() -> None:
    broker = a_broker()
    assert text_of(broker, "get_symbol_by_name", name="Alpha") == '{"symbol": "AAA"}'
    assert text_of(broker, "get_symbol_by_name", name="Omega") == '{"symbol": "Stock not found"}'
    assert (
        text_of(broker, "get_stock_info", symbol="???")
        == '{"error": "Stock with symbol \'???\' not found."}'
    )
    assert text_of(broker, "get_available_stocks", sector="Technology") == '{"stock_list": ["AAA"]}'
    assert text_of(broker, "get_available_stocks", sector="?") == '{"stock_list": []}'
    prices = {"stocks": ["AAA", "BBB", "???"], "min_price": 0, "max_price": 10}
    assert (
        text_of(broker, "filter_stocks_by_price", **prices) == '{"filtered_stocks": ["AAA", "???"]}'
    )
    assert text_of(broker, "notify_price_change", stocks=["AAA", "BBB", "???"], threshold=3) == (
        '{"notification": "Stocks BBB have significant price changes."}'
    )
    assert text_of(broker, "notify_price_change", stocks=["AAA"], threshold=3) == (
        '{"notification": "No significant price changes in the selected stocks."}'
    )
    assert text_of(broker, "get_current_time") == '{"current_time": "10:30 AM"}'


def test_long_context_makes_results_long_and_leaves_the_state_alone() -> None:
    broker = a_broker(long_context=True)
    before = repr(get_public_state(broker))
    assert json.loads(text_of(broker, "get_stock_info", symbol="AAA"))["MA(5)"] == [1.0, 2.0]
    assert json.loads(text_of(broker, "get_order_details", order_id=7))["metadata"] == {
        "overview": "AAA makes AAAs."
    }
    assert text_of(broker, "get_watchlist") == "['AAA', 'ZZZ']"
    assert "2020-01-01" in text_of(broker, "get_transaction_history")
    assert (
        text_of(broker, "get_available_stocks", sector="Technology")
        == '{"stock_list": ["AAA", "TTT"]}'
    )
    assert text_of(broker, "get_available_stocks", sector="Automobile") == '{"stock_list": ["CCC"]}'
    assert repr(get_public_state(broker)) == before
