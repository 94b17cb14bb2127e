"""The stock broker of the leaderboard."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

from harness.leaderboards.bfcl.apis.common import Api, Reply, Scenario, Tables, refuse_request

_NOW = datetime(2024, 9, 1, 10, 30)  # noqa: DTZ001 -- the time of a place that has no zone
_DAY_S = 24 * 60 * 60
_TIME = "%Y-%m-%d %H:%M:%S"


class TradingBot(Api):
    """An account, its orders, and the stocks that it may trade."""

    orders: dict[Any, dict[str, Any]]
    account_info: dict[str, Any]
    authenticated: bool
    market_status: str
    order_counter: int
    stocks: dict[str, dict[str, Any]]
    watch_list: list[str]
    transaction_history: list[dict[str, Any]]

    def __init__(self, scenario: Scenario, tables: Tables, *, long_context: bool = False) -> None:
        """Take attributes from ``scenario``, and the others from the defaults in the tables."""
        super().__init__(scenario, tables, long_context=long_context)
        # In JSON, keys are texts.
        self.orders = {
            int(key) if isinstance(key, str) and key.isdigit() else key: order
            for key, order in self.orders.items()
        }
        self._random = random.Random(self._initial_value("random_seed"))  # noqa: S311 -- repeatable, not secret

    def get_current_time(self) -> Reply:
        """Return the time of day, which never changes."""
        return {"current_time": _NOW.strftime("%I:%M %p")}

    def get_symbol_by_name(self, name: str) -> Reply:
        """Return the symbol of a company."""
        return {"symbol": self._tables["symbol_map"].get(name, "Stock not found")}

    def get_stock_info(self, symbol: str) -> Reply:
        """Return the quote of a stock."""
        if symbol not in self.stocks:
            return refuse_request(f"Stock with symbol '{symbol}' not found.")
        quote, tables = self.stocks[symbol], self._tables
        if not self.long_context:
            return quote
        averages = {"MA(5)": tables["MA_5_EXTENSION"], "MA(20)": tables["MA_20_EXTENSION"]}
        return {**quote, **averages}

    def get_order_details(self, order_id: int) -> Reply:
        """Return an order."""
        if order_id not in self.orders:
            known = list(self.orders)
            return refuse_request(
                f"Order with ID {order_id} not found.Here is the list of orders_id: {known}"
            )
        order = self.orders[order_id]
        if not self.long_context:
            return order
        symbol, texts = order["symbol"], self._tables["ORDER_DETAIL_EXTENSION"]
        details = {title: text.replace("{symbol}", symbol) for title, text in texts.items()}
        return {**order, "metadata": details}

    def cancel_order(self, order_id: int) -> Reply:
        """Cancel an order that is not completed."""
        if order_id not in self.orders:
            return refuse_request(f"Order with ID {order_id} not found.")
        order = self.orders[order_id]
        if order["status"] == "Completed":
            return refuse_request(f"Can't cancel order {order_id}. Order is already completed.")
        order["status"] = "Cancelled"
        return {"order_id": order_id, "status": "Cancelled"}

    def place_order(self, order_type: str, symbol: str, price: float, amount: int) -> Reply:
        """Place an order. The reply calls it pending; later queries call it open."""
        if not self.authenticated:
            return refuse_request("User not authenticated. Please log in to place an order.")
        if symbol not in self.stocks:
            return refuse_request(f"Invalid stock symbol: {symbol}")
        if price <= 0 or amount <= 0:
            return refuse_request("Price and amount must be positive values.")
        if order_type.lower() == "buy":
            cost = float(price) * int(amount)
            balance = self.account_info.get("balance", 0)
            if cost > balance:
                return refuse_request(
                    f"Insufficient funds: required ${cost:.2f} but only ${balance:.2f} available."
                )
        number = self.order_counter
        what = {"order_type": order_type, "symbol": symbol}
        terms = {"price": float(price), "amount": amount}
        self.orders[number] = {"id": number, **what, **terms, "status": "Open"}
        self.order_counter += 1
        return {"order_id": number, "order_type": order_type, "status": "Pending", **terms}

    def withdraw_funds(self, amount: float) -> Reply:
        """Withdraw money from the account while the market is open."""
        if not self.authenticated:
            return refuse_request("User not authenticated. Please log in to make a transaction.")
        if self.market_status != "Open":
            return refuse_request("Market is closed. Transactions are not allowed.")
        if amount <= 0:
            return refuse_request("Transaction amount must be positive.")
        if amount > self.account_info["balance"]:
            return refuse_request("Insufficient funds for withdrawal.")
        self.account_info["balance"] -= amount
        return self._record_transaction("withdrawal", amount, "Withdrawal successful")

    def fund_account(self, amount: float) -> Reply:
        """Deposit money into the account."""
        if not self.authenticated:
            return refuse_request("User not authenticated. Please log in to fund the account.")
        if amount <= 0:
            return refuse_request("Funding amount must be positive.")
        self.account_info["balance"] += amount
        return self._record_transaction("deposit", amount, "Account funded successfully")

    def get_account_info(self) -> Reply:
        """Return the account."""
        if not self.authenticated:
            return refuse_request(
                "User not authenticated. Please log in to view account information."
            )
        return self.account_info

    def trading_login(self, username: str, password: str) -> Reply:
        """Log in; any name and password are accepted."""
        if self.authenticated:
            return {"status": "Already logged in"}
        self.authenticated = True
        return {"status": "Logged in successfully"}

    def trading_get_login_status(self) -> Reply:
        """Say whether somebody is logged in."""
        return {"status": bool(self.authenticated)}

    def trading_logout(self) -> Reply:
        """Log out."""
        if not self.authenticated:
            return {"status": "No user is currently logged in"}
        self.authenticated = False
        return {"status": "Logged out successfully"}

    def remove_stock_from_watchlist(self, symbol: str) -> Reply:
        """Stop watching a stock."""
        if not self.authenticated:
            return refuse_request("User not authenticated. Please log in to modify the watchlist.")
        if symbol not in self.watch_list:
            return refuse_request(f"Stock {symbol} not found in watchlist.")
        self.watch_list.remove(symbol)
        return {"status": f"Stock {symbol} removed from watchlist successfully."}

    def get_watchlist(self) -> Reply | list[str]:
        """Return the watched stocks; a bare list with long context and for a refusal."""
        if not self.authenticated:
            return ["Error: User not authenticated. Please log in to view the watchlist."]
        if self.long_context:
            return [*self.watch_list, *self._tables["WATCH_LIST_EXTENSION"]]
        return {"watchlist": self.watch_list}

    def get_order_history(self) -> Reply | list[Reply]:
        """Return the ids of all orders."""
        if not self.authenticated:
            return [refuse_request("User not authenticated. Please log in to view order history.")]
        return {"history": list(self.orders)}

    def get_transaction_history(
        self, start_date: str | None = None, end_date: str | None = None
    ) -> Reply | list[Reply]:
        """Return deposits and withdrawals between two days (``YYYY-MM-DD``), both at midnight."""
        if not self.authenticated:
            return [
                refuse_request("User not authenticated. Please log in to view transaction history.")
            ]
        first = _parse_time(start_date, "%Y-%m-%d") if start_date else datetime.min  # noqa: DTZ901 -- like `_NOW`
        last = _parse_time(end_date, "%Y-%m-%d") if end_date else datetime.max  # noqa: DTZ901 -- like `_NOW`
        found = [
            entry
            for entry in self.transaction_history
            if first <= _parse_time(entry["timestamp"], _TIME) <= last
        ]
        extension = self._tables["TRANSACTION_HISTORY_EXTENSION"] if self.long_context else []
        return {"transaction_history": [*found, *extension]}

    def get_available_stocks(self, sector: str) -> Reply:
        """Return the stocks of a sector."""
        stocks = self._tables["sector_map"].get(sector, [])
        if self.long_context and sector in ("Technology", "Automobile"):
            stocks = [*stocks, *self._tables[f"{sector.upper()}_EXTENSION"]]
        return {"stock_list": stocks}

    def filter_stocks_by_price(
        self, stocks: list[str], min_price: float, max_price: float
    ) -> Reply:
        """Return those of ``stocks`` that cost between the two prices.

        An unknown stock costs 0.
        """
        prices = {symbol: quote.get("price", 0) for symbol, quote in self.stocks.items()}
        # Not chained, since an error's text names the operator that upstream has.
        found = [
            name
            for name in stocks
            if prices.get(name, 0) >= min_price and prices.get(name, 0) <= max_price
        ]
        return {"filtered_stocks": found}

    def add_to_watchlist(self, stock: str) -> Reply:
        """Watch a stock; an unknown stock changes nothing."""
        if stock not in self.watch_list and stock in self.stocks:
            self.watch_list.append(stock)
        return {"watchlist": self.watch_list}

    def notify_price_change(self, stocks: list[str], threshold: float) -> Reply:
        """Say which of ``stocks`` changed by ``threshold`` per cent or more."""
        changed = [
            name
            for name in stocks
            if name in self.stocks and abs(self.stocks[name]["percent_change"]) >= threshold
        ]
        if not changed:
            return {"notification": "No significant price changes in the selected stocks."}
        return {"notification": f"Stocks {', '.join(changed)} have significant price changes."}

    def _record_transaction(self, kind: str, amount: float, status: str) -> Reply:
        """Record a transaction, at a random time of the next day, and return the reply to it."""
        # Drawn like upstream's second between two time stamps, but without its time zone.
        moment = _NOW + timedelta(seconds=self._random.randint(0, _DAY_S))
        self.transaction_history.append(
            {"type": kind, "amount": amount, "timestamp": moment.strftime(_TIME)}
        )
        return {"status": status, "new_balance": self.account_info["balance"]}


def _parse_time(text: str, form: str) -> datetime:
    return datetime.strptime(text, form)  # noqa: DTZ007 -- like `_NOW`
