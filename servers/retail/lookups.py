"""Look-ups in the shop's data; a missing record gives a message."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Any

from ..tau2_common.store import Record, Store


class Lookups:
    """Finds records; every method raises `ValueError` for one that does not exist."""

    def __init__(self, store: Store) -> None:
        """Look into ``store``."""
        self.store = store

    def user(self, user_id: Any) -> Record:
        """Return a user."""
        return self._found("users", user_id, "User not found")

    def order(self, order_id: Any) -> Record:
        """Return an order."""
        return self._found("orders", order_id, "Order not found")

    def product(self, product_id: Any) -> Record:
        """Return a product with its variants."""
        return self._found("products", product_id, "Product not found")

    def variant(self, product_id: Any, item_id: Any) -> Record:
        """Return a variant of a product."""
        variants = self.product(product_id)["variants"]
        if item_id not in variants:
            raise ValueError("Variant not found")
        variant: Record = variants[item_id]
        return variant

    def item(self, item_id: Any) -> Record:
        """Return a variant by its id alone: that of the first product which has it."""
        for product in self.store.all("products"):
            if item_id in product["variants"]:
                variant: Record = product["variants"][item_id]
                return variant
        raise ValueError("Item not found")

    def _found(self, collection: str, key: Any, otherwise: str) -> Record:
        record = self.store.get(collection, key)
        if record is None:
            raise ValueError(otherwise)
        return record


def method_of(user: Record, payment_method_id: Any) -> Record:
    """Return one of a user's payment methods, or raise `ValueError`."""
    if payment_method_id not in user["payment_methods"]:
        raise ValueError("Payment method not found")
    method: Record = user["payment_methods"][payment_method_id]
    return method


def is_gift_card(method: Record) -> bool:
    """Whether it holds money that an order may take."""
    return bool(method["source"] == "gift_card")


def gain(method: Record, amount: float) -> None:
    """Add to what a gift card holds."""
    method["balance"] = round(method["balance"] + amount, 2)


def pay_from(method: Record, amount: float) -> None:
    """Take from what a gift card holds; an amount below zero adds to it."""
    method["balance"] = round(method["balance"] - amount, 2)
