"""Items of an order, and their replacements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .lookups import Lookups


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """An item that makes room for a variant of the same product."""

    old_id: str
    new_id: str
    old_price: float
    variant: dict[str, Any]


def check_counts(order: dict[str, Any], item_ids: Any, otherwise: str) -> None:
    """Let pass what names no item more often than the order has it, or raise `ValueError`."""
    present = [item["item_id"] for item in order["items"]]
    for item_id in item_ids:
        if item_ids.count(item_id) > present.count(item_id):
            raise ValueError(otherwise)


def swaps(
    lookups: Lookups, order: dict[str, Any], old_ids: Any, new_ids: Any, *, may_stay: bool
) -> list[Swap]:
    """Return each item of ``old_ids`` with the variant that is to replace it.

    Raises:
        ValueError: a variant does not exist or cannot be had; or is the item itself, unless it
            ``may_stay``.
    """
    found = []
    for old_id, new_id in zip(old_ids, new_ids, strict=False):
        if old_id == new_id and not may_stay:
            raise ValueError("The new item id should be different from the old item id")
        item = next(item for item in order["items"] if item["item_id"] == old_id)
        variant = lookups.variant(item["product_id"], new_id)
        if not variant["available"]:
            raise ValueError(f"New item {new_id} not found or available")
        found.append(Swap(old_id=old_id, new_id=new_id, old_price=item["price"], variant=variant))
    return found


def price_difference(pairs: list[Swap]) -> float:
    """Return what the new items cost more than the old ones, added up in order and not rounded."""
    difference: float = 0
    for pair in pairs:
        difference += pair.variant["price"] - pair.old_price
    return difference
