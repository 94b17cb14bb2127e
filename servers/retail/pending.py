"""Changes to an order before it is sent."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Any

from ..tau2_common.store import Record, Store
from .items import Swap, check_counts, price_difference, swaps
from .lookups import Lookups, gain, is_gift_card, method_of, pay_from
from .records import UserAddress


def cancel(store: Store, order_id: Any, reason: Any) -> Record:
    """Cancel an order and refund every payment to its method."""
    lookups = Lookups(store)
    order = lookups.order(order_id)
    if order["status"] != "pending":
        raise ValueError("Non-pending order cannot be cancelled")
    if reason not in {"no longer needed", "ordered by mistake"}:
        raise ValueError("Invalid reason")
    user = lookups.user(order["user_id"])
    refunds = []
    for entry in order["payment_history"]:
        refunds.append(_entry("refund", entry["amount"], entry["payment_method_id"]))
        method = method_of(user, entry["payment_method_id"])
        if is_gift_card(method):
            gain(method, entry["amount"])
    order["status"] = "cancelled"
    order["cancel_reason"] = reason
    order["payment_history"] += refunds
    return _stored(store, user, order)


def change_address(store: Store, order_id: Any, address: Record) -> Record:
    """Have an order sent elsewhere; ``address`` has all fields of `UserAddress`."""
    order = _changeable(Lookups(store), order_id)
    order["address"] = UserAddress(**address).model_dump()
    store.put("orders", order_id, order)
    return order


def change_payment(store: Store, order_id: Any, payment_method_id: Any) -> Record:
    """Have another method pay an order that was paid once; the first gets its money back."""
    lookups = Lookups(store)
    order = _changeable(lookups, order_id)
    user = lookups.user(order["user_id"])
    method = method_of(user, payment_method_id)
    history = order["payment_history"]
    if len(history) != 1 or history[0]["transaction_type"] != "payment":
        raise ValueError("There should be exactly one payment for a pending order")
    (paid,) = history
    if paid["payment_method_id"] == payment_method_id:
        raise ValueError("The new payment method should be different from the current one")
    if is_gift_card(method) and method["balance"] < paid["amount"]:
        raise ValueError("Insufficient gift card balance to pay for the order")
    history += [
        _entry("payment", paid["amount"], payment_method_id),
        _entry("refund", paid["amount"], paid["payment_method_id"]),
    ]
    if is_gift_card(method):
        pay_from(method, paid["amount"])
    former = method_of(user, paid["payment_method_id"])
    if is_gift_card(former):
        gain(former, paid["amount"])
    return _stored(store, user, order)


def change_items(
    store: Store, order_id: Any, item_ids: Any, new_item_ids: Any, payment_method_id: Any
) -> Record:
    """Put other variants of the same products into an order, once."""
    lookups = Lookups(store)
    order = lookups.order(order_id)
    if order["status"] != "pending":
        raise ValueError("Non-pending order cannot be modified")
    check_counts(order, item_ids, "ID not found")
    if len(item_ids) != len(new_item_ids):
        raise ValueError("The number of items to be exchanged should match")
    pairs = swaps(lookups, order, item_ids, new_item_ids, may_stay=False)
    difference = price_difference(pairs)
    user = lookups.user(order["user_id"])
    method = method_of(user, payment_method_id)
    if is_gift_card(method):
        if method["balance"] < difference:
            raise ValueError("Insufficient gift card balance to pay for the new item")
        pay_from(method, difference)
    kind = "payment" if difference > 0 else "refund"
    order["payment_history"].append(_entry(kind, float(abs(difference)), payment_method_id))
    try:
        _replace_items(order, pairs)
        order["status"] = "pending (item modified)"
    finally:
        _stored(
            store, user, order
        )  # where a pair finds its item gone, the payment is taken already
    return order


def _replace_items(order: Record, pairs: list[Swap]) -> None:
    """Give the items their new ids.

    Price and options are those of the last pair's variant, for every pair.
    """
    for pair in pairs:
        item = next((item for item in order["items"] if item["item_id"] == pair.old_id), None)
        if item is None:
            raise ValueError("Item ID not found")
        item["item_id"] = pair.new_id
        item["price"] = pairs[-1].variant["price"]
        item["options"] = pairs[-1].variant["options"]


def _changeable(lookups: Lookups, order_id: Any) -> Record:
    order = lookups.order(order_id)
    if "pending" not in order["status"]:
        raise ValueError("Non-pending order cannot be modified")
    return order


def _entry(kind: str, amount: float, payment_method_id: str) -> Record:
    return {"transaction_type": kind, "amount": amount, "payment_method_id": payment_method_id}


def _stored(store: Store, user: Record, order: Record) -> Record:
    store.put("users", user["user_id"], user)
    store.put("orders", order["order_id"], order)
    return order
