"""Requests after delivery, such as returns: they change no item and no balance."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Any

from ..tau2_common.store import Record, Store
from .items import check_counts, price_difference, swaps
from .lookups import Lookups, is_gift_card, method_of


def exchange(
    store: Store, order_id: Any, item_ids: Any, new_item_ids: Any, payment_method_id: Any
) -> Record:
    """Request other variants of the same products."""
    lookups = Lookups(store)
    order = lookups.order(order_id)
    if order["status"] != "delivered":
        raise ValueError("Non-delivered order cannot be exchanged")
    check_counts(order, item_ids, "Number of ID not found.")
    if len(item_ids) != len(new_item_ids):
        raise ValueError("The number of items to be exchanged should match.")
    difference = round(
        price_difference(swaps(lookups, order, item_ids, new_item_ids, may_stay=True)), 2
    )
    method = method_of(lookups.user(order["user_id"]), payment_method_id)
    if is_gift_card(method) and method["balance"] < difference:
        raise ValueError("Insufficient gift card balance to pay for the price difference")
    order["status"] = "exchange requested"
    order["exchange_items"] = sorted(item_ids)
    order["exchange_new_items"] = sorted(new_item_ids)
    order["exchange_payment_method_id"] = payment_method_id
    order["exchange_price_difference"] = difference
    store.put("orders", order_id, order)
    return order


def take_back(store: Store, order_id: Any, item_ids: Any, payment_method_id: Any) -> Record:
    """Request the return of items; a gift card or the first payment's method gets the refund."""
    lookups = Lookups(store)
    order = lookups.order(order_id)
    if order["status"] != "delivered":
        raise ValueError("Non-delivered order cannot be returned")
    method = method_of(lookups.user(order["user_id"]), payment_method_id)
    if (
        not is_gift_card(method)
        and payment_method_id != order["payment_history"][0]["payment_method_id"]
    ):
        raise ValueError("Payment method should be the original payment method")
    check_counts(order, item_ids, "Some item not found")
    order["status"] = "return requested"
    order["return_items"] = sorted(item_ids)
    order["return_payment_method_id"] = payment_method_id
    store.put("orders", order_id, order)
    return order
