"""Output schemas of the shop's tools that return a record."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..tau2_common.shapes import (
    ADDRESS,
    CREDIT_CARD,
    FLAG,
    NAME,
    NUMBER,
    TEXT,
    Schema,
    by_id,
    either,
    listed,
    one_of,
    or_null,
    record,
)

_GIFT_CARD: Final = record(source=one_of("gift_card"), id=TEXT, balance=NUMBER)
_PAYPAL: Final = record(source=one_of("paypal"), id=TEXT)
_STATUS: Final = one_of(
    "processed",
    "pending",
    "pending (item modified)",
    "delivered",
    "cancelled",
    "exchange requested",
    "return requested",
)

_USER: Final = record(
    user_id=TEXT,
    name=NAME,
    address=ADDRESS,
    email=TEXT,
    payment_methods=by_id(either(CREDIT_CARD, _GIFT_CARD, _PAYPAL)),
    orders=listed(TEXT),
)
_VARIANT: Final = record(item_id=TEXT, options=by_id(TEXT), available=FLAG, price=NUMBER)
_PRODUCT: Final = record(name=TEXT, product_id=TEXT, variants=by_id(_VARIANT))
_ORDER: Final = record(
    order_id=TEXT,
    user_id=TEXT,
    address=ADDRESS,
    items=listed(
        record(name=TEXT, product_id=TEXT, item_id=TEXT, price=NUMBER, options=by_id(TEXT))
    ),
    status=_STATUS,
    fulfillments=listed(record(tracking_id=listed(TEXT), item_ids=listed(TEXT))),
    payment_history=listed(
        record(transaction_type=one_of("payment", "refund"), amount=NUMBER, payment_method_id=TEXT)
    ),
    cancel_reason=or_null(TEXT),
    exchange_items=or_null(listed(TEXT)),
    exchange_new_items=or_null(listed(TEXT)),
    exchange_payment_method_id=or_null(TEXT),
    exchange_price_difference=or_null(NUMBER),
    return_items=or_null(listed(TEXT)),
    return_payment_method_id=or_null(TEXT),
)

OUTPUTS: Final[Mapping[str, Schema]] = {
    "get_user_details": _USER,
    "modify_user_address": _USER,
    "get_product_details": _PRODUCT,
    "get_item_details": _VARIANT,
    "get_order_details": _ORDER,
    "cancel_pending_order": _ORDER,
    "exchange_delivered_order_items": _ORDER,
    "modify_pending_order_address": _ORDER,
    "modify_pending_order_items": _ORDER,
    "modify_pending_order_payment": _ORDER,
    "return_delivered_order_items": _ORDER,
}
"""Tool → the schema of its result; tools whose result is a text have none."""
