"""The shop's records as the tools check them, and the form in which the database keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

_LATER: Final = (
    "cancel_reason",
    "exchange_items",
    "exchange_new_items",
    "exchange_payment_method_id",
    "exchange_price_difference",
    "return_items",
    "return_payment_method_id",
)
"""What an order may come to have; null until it does."""


class UserAddress(BaseModel):
    """Where somebody lives, or where an order goes."""

    address1: str
    address2: str
    city: str
    country: str
    state: str
    zip: str


def canonical(
    database: Mapping[str, Mapping[str, dict[str, Any]]],
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the database of the file in the form in which it is printed and hashed."""
    return {
        "products": dict(database["products"]),
        "users": dict(database["users"]),
        "orders": {key: _order(order) for key, order in database["orders"].items()},
    }


def _order(order: dict[str, Any]) -> dict[str, Any]:
    now = {key: value for key, value in order.items() if key not in _LATER}
    return {**now, **{key: order.get(key) for key in _LATER}}
