"""What both sides share: the company's records, the customer's phone, and what links them."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from .records import Record, order_accounts, order_phone

TODAY: Final = "2025-02-25"
"""The day on which everything happens."""


class TelecomState:
    """The two databases, with a copy of each to go back to."""

    def __init__(self, accounts: Mapping[str, Any], phone: Mapping[str, Any]) -> None:
        """Load the databases as their files have them."""
        self._start = order_accounts(accounts), order_phone(phone)
        self.reset()

    def reset(self) -> None:
        """Undo every change since loading."""
        self.accounts, phone = copy.deepcopy(self._start)
        self.device: Record = phone["device"]
        self.surroundings: Record = phone["surroundings"]
        # Upstream keeps what a task did to its VPN for all later tasks of the process.
        self.vpn_performance = "excellent"

    def digest(self) -> str:
        """Return the SHA-256 of the company's database and that of the customer's side."""
        sides = self.accounts, {"device": self.device, "surroundings": self.surroundings}
        printed = (json.dumps(side, sort_keys=True) for side in sides)
        return " ".join(hashlib.sha256(text.encode()).hexdigest() for text in printed)

    def find(self, collection: str, key: str, value: Any) -> Record | None:
        """Return the first record of the company whose field ``key`` is ``value``."""
        return next((one for one in self.accounts[collection] if one[key] == value), None)

    def require(self, collection: str, kind: str, value: Any) -> Record:
        """Return the record of that id; ``kind`` is what messages call it.

        Raises:
            ValueError: there is none.
        """
        found = self.find(collection, f"{kind.lower()}_id", value)
        if found is None:
            raise ValueError(f"{kind} with ID {value} not found")
        return found

    def synchronize(self) -> None:
        """Let the customer's side notice what the company did, and the company what was paid.

        Raises:
            ValueError: the customer's phone number belongs to no line.
        """
        around = self.surroundings
        if around["phone_number"] is None:
            return
        line = self.find("lines", "phone_number", around["phone_number"])
        if line is None:
            raise ValueError(f"Line with phone number {around['phone_number']} not found")
        around["line_active"] = line["status"] == "Active"
        around["roaming_allowed"] = line["roaming_enabled"]
        limit = self.require("plans", "Plan", line["plan_id"])["data_limit_gb"]
        around["mobile_data_usage_exceeded"] = (
            line["data_used_gb"] >= limit + line["data_refueling_gb"]
        )
        self._settle_payment(line)

    def _settle_payment(self, line: Record) -> None:
        request = self.surroundings["payment_request"]
        if request is not None and request["paid"]:
            self.require("bills", "Bill", request["bill_id"])["status"] = "Paid"
            self.surroundings["payment_request"] = request = None
        if request is None:
            owner = next(
                one for one in self.accounts["customers"] if line["line_id"] in one["line_ids"]
            )
            waiting = list_waiting_bills(self, owner)
            if waiting:
                self.surroundings["payment_request"] = {
                    "bill_id": waiting[0]["bill_id"],
                    "amount_due": waiting[0]["total_due"],
                    "paid": False,
                }


def list_waiting_bills(state: TelecomState, customer: Record) -> list[Record]:
    """Return the bills that the customer was asked to pay."""
    bills = (state.require("bills", "Bill", key) for key in customer["bill_ids"])
    return [bill for bill in bills if bill["status"] == "Awaiting Payment"]
