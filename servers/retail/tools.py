"""The shop's tools by name: their parameters in order, and their implementation.

Parameters are `Any`: arguments come from a model, unchecked, and the model reads Python's error for
a wrong one. Names and order of classes, methods and parameters are part of those errors.
"""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from mcp_types import ToolAnnotations

from ..common.hints import ADDS, CHANGES, READS
from ..tau2_common.calculator import calculate
from ..tau2_common.shapes import Schema
from ..tau2_common.store import Record, Store
from . import delivered, pending
from .lookups import Lookups
from .records import UserAddress, canonical
from .results import OUTPUTS


class RetailTools:
    """Every tool a method, over a database of its own."""

    HINTS: ClassVar[Mapping[str, ToolAnnotations]] = {
        "calculate": READS,
        "cancel_pending_order": CHANGES,
        "exchange_delivered_order_items": CHANGES,
        "find_user_id_by_name_zip": READS,
        "find_user_id_by_email": READS,
        "get_order_details": READS,
        "get_product_details": READS,
        "get_item_details": READS,
        "get_user_details": READS,
        "list_all_product_types": READS,
        "modify_pending_order_address": CHANGES,
        "modify_pending_order_items": CHANGES,
        "modify_pending_order_payment": CHANGES,
        "modify_user_address": CHANGES,
        "return_delivered_order_items": CHANGES,
        "transfer_to_human_agents": ADDS,
    }

    OUTPUTS: ClassVar[Mapping[str, Schema]] = OUTPUTS

    def __init__(self, database: Mapping[str, Mapping[str, Record]]) -> None:
        """Load ``database``, as the file has it."""
        self.store = Store(canonical(database))
        self._lookups = Lookups(self.store)

    def calculate(self, expression: Any) -> str:
        """Return the value of an arithmetic expression."""
        return calculate(expression)

    def transfer_to_human_agents(self, summary: Any) -> str:
        """Hand the customer over."""
        return "Transfer successful"

    def find_user_id_by_email(self, email: Any) -> str:
        """Return the id of the user with this address."""
        for user in self.store.all("users"):
            if user["email"].lower() == email.lower():
                return str(user["user_id"])
        raise ValueError("User not found")

    def find_user_id_by_name_zip(self, first_name: Any, last_name: Any, zip: Any) -> str:  # noqa: A002 - the tool's own
        """Return the id of the first user of this name and place."""
        for user in self.store.all("users"):
            name = user["name"]
            if (
                name["first_name"].lower() == first_name.lower()
                and name["last_name"].lower() == last_name.lower()
                and user["address"]["zip"] == zip
            ):
                return str(user["user_id"])
        raise ValueError("User not found")

    def get_user_details(self, user_id: Any) -> Record:
        """Return a user."""
        return self._lookups.user(user_id)

    def get_order_details(self, order_id: Any) -> Record:
        """Return an order."""
        return self._lookups.order(order_id)

    def get_product_details(self, product_id: Any) -> Record:
        """Return a product with its variants."""
        return self._lookups.product(product_id)

    def get_item_details(self, item_id: Any) -> Record:
        """Return the variant that has this item id, of the first product that has one."""
        return self._lookups.item(item_id)

    def list_all_product_types(self) -> str:
        """Return the id of each product by its name."""
        return json.dumps(
            {product["name"]: product["product_id"] for product in self._products()}, sort_keys=True
        )

    def cancel_pending_order(self, order_id: Any, reason: Any) -> Record:
        """Cancel an order that was not sent."""
        return pending.cancel(self.store, order_id, reason)

    def modify_pending_order_address(
        self,
        order_id: Any,
        address1: Any,
        address2: Any,
        city: Any,
        state: Any,
        country: Any,
        zip: Any,  # noqa: A002 - the tool's own
    ) -> Record:
        """Have an order sent elsewhere."""
        return pending.change_address(
            self.store, order_id, _address(address1, address2, city, state, country, zip)
        )

    def modify_pending_order_items(
        self, order_id: Any, item_ids: Any, new_item_ids: Any, payment_method_id: Any
    ) -> Record:
        """Put other variants into an order that was not sent."""
        return pending.change_items(self.store, order_id, item_ids, new_item_ids, payment_method_id)

    def modify_pending_order_payment(self, order_id: Any, payment_method_id: Any) -> Record:
        """Have another method pay an order that was not sent."""
        return pending.change_payment(self.store, order_id, payment_method_id)

    def modify_user_address(
        self,
        user_id: Any,
        address1: Any,
        address2: Any,
        city: Any,
        state: Any,
        country: Any,
        zip: Any,  # noqa: A002 - the tool's own
    ) -> Record:
        """Change where a user lives."""
        user = self._lookups.user(user_id)
        address = _address(address1, address2, city, state, country, zip)
        user["address"] = UserAddress(**address).model_dump()
        self.store.put("users", user_id, user)
        return user

    def exchange_delivered_order_items(
        self, order_id: Any, item_ids: Any, new_item_ids: Any, payment_method_id: Any
    ) -> Record:
        """Request other variants for items of a delivered order."""
        return delivered.exchange(self.store, order_id, item_ids, new_item_ids, payment_method_id)

    def return_delivered_order_items(
        self, order_id: Any, item_ids: Any, payment_method_id: Any
    ) -> Record:
        """Request the return of items of a delivered order."""
        return delivered.take_back(self.store, order_id, item_ids, payment_method_id)

    def _products(self) -> list[Record]:
        return list(self.store.all("products"))


def _address(
    address1: Any, address2: Any, city: Any, state: Any, country: Any, zip_code: Any
) -> Record:
    return {
        "address1": address1,
        "address2": address2,
        "city": city,
        "state": state,
        "country": country,
        "zip": zip_code,
    }
