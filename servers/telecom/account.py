"""The tools of the company's agent, over its customers, lines, bills, plans and devices."""

# the package also travels inside another one, under another absolute name

from __future__ import annotations

import hashlib
from typing import Any, Final

from .records import Record
from .state import TODAY, TelecomState, list_waiting_bills

_DETAILS: Final = {
    "L": ("lines", "Line"),
    "D": ("devices", "Device"),
    "B": ("bills", "Bill"),
    "C": ("customers", "Customer"),
    "P": ("plans", "Plan"),
}
"""First letter of an id → collection and kind."""
_CYCLE_END: Final = "2025-02-28"
_NEXT_BILL: Final = {
    "period_start": "2025-03-01",
    "period_end": "2025-03-31",
    "issue_date": "2025-03-01",
    "total_due": 0.0,
    "due_date": "2025-03-15",
    "line_items": [],
    "status": "Draft",
}


class TelecomTools:
    """Every tool a method; parameters are `Any`, since a model sends them unchecked.

    The name of the class is a part of what Python says of a wrong call.
    """

    def __init__(self, state: TelecomState) -> None:
        """Work on ``state``."""
        self._state = state

    def get_customer_by_phone(self, phone_number: Any) -> Record:
        """Return the customer whose own number, or the number of whose line, this is."""
        line = self._state.find("lines", "phone_number", phone_number)
        for customer in self._state.accounts["customers"]:
            if customer["phone_number"] == phone_number:
                return customer
            if line is not None and line["line_id"] in customer["line_ids"]:
                return customer
        raise ValueError(f"Customer with phone number {phone_number} not found")

    def get_customer_by_id(self, customer_id: Any) -> Record:
        """Return a customer."""
        return self._state.require("customers", "Customer", customer_id)

    def get_customer_by_name(self, full_name: Any, dob: Any) -> list[Record]:
        """Return the customers of that name, in any case, who were born on that day."""
        return [
            one
            for one in self._state.accounts["customers"]
            if one["full_name"].lower() == full_name.lower() and one["date_of_birth"] == dob
        ]

    def get_details_by_id(self, id: Any) -> Record:  # noqa: A002 - the tool's own
        """Return the record whose kind the first letter of its id tells."""
        kind = next((_DETAILS[letter] for letter in _DETAILS if id.startswith(letter)), None)
        if kind is None:
            raise ValueError(f"Unknown ID format or type: {id}")
        return self._state.require(*kind, id)

    def suspend_line(self, customer_id: Any, line_id: Any, reason: Any) -> Record:
        """Suspend an active line of the customer."""
        line = self._get_line(customer_id, line_id)
        if line["status"] != "Active":
            raise ValueError("Line must be active to suspend")
        line["status"], line["suspension_start_date"] = "Suspended", TODAY
        words = "Line suspended successfully. $5/month holding fee will apply."
        return {"message": words, "line": line}

    def resume_line(self, customer_id: Any, line_id: Any) -> Record:
        """Make a suspended line, or one that was never active, active."""
        line = self._get_line(customer_id, line_id)
        if line["status"] not in ("Suspended", "Pending Activation"):
            raise ValueError("Line must be suspended to resume")
        line["status"], line["suspension_start_date"] = "Active", None
        return {"message": "Line resumed successfully", "line": line}

    def get_bills_for_customer(self, customer_id: Any, limit: Any = 12) -> list[Record]:
        """Return the customer's bills, the newest first."""
        customer = self.get_customer_by_id(customer_id)
        bills = [self._state.require("bills", "Bill", key) for key in customer["bill_ids"]]
        return sorted(bills, key=lambda bill: bill["issue_date"], reverse=True)[:limit]

    def send_payment_request(self, customer_id: Any, bill_id: Any) -> str:
        """Ask the customer to pay a bill; one at a time."""
        customer = self.get_customer_by_id(customer_id)
        if list_waiting_bills(self._state, customer):
            raise ValueError("A bill is already awaiting payment for this customer")
        if bill_id not in customer["bill_ids"]:
            raise ValueError(f"Bill {bill_id} not found for customer {customer_id}")
        self._state.require("bills", "Bill", bill_id)["status"] = "Awaiting Payment"
        return f"Payment request sent to the customer for bill {bill_id}"

    def get_data_usage(self, customer_id: Any, line_id: Any) -> Record:
        """Return how much data the line has used, and how much it may use."""
        line = self._get_line(customer_id, line_id)
        plan = self._state.require("plans", "Plan", line["plan_id"])
        return {
            "line_id": line_id,
            "data_used_gb": str(line["data_used_gb"]),
            "data_limit_gb": str(plan["data_limit_gb"]),
            "data_refueling_gb": str(line["data_refueling_gb"]),
            "cycle_end_date": _CYCLE_END,
        }

    def enable_roaming(self, customer_id: Any, line_id: Any) -> str:
        """Let the line be used abroad."""
        return self._set_roaming(customer_id, line_id, wanted=True)

    def disable_roaming(self, customer_id: Any, line_id: Any) -> str:
        """Keep the line from being used abroad."""
        return self._set_roaming(customer_id, line_id, wanted=False)

    def transfer_to_human_agents(self, summary: Any) -> str:
        """Hand the customer over."""
        return "Transfer successful"

    def refuel_data(self, customer_id: Any, line_id: Any, gb_amount: Any) -> Record:
        """Add data to a line, and its price to the customer's next bill."""
        line = self._get_line(customer_id, line_id)
        if gb_amount <= 0:
            raise ValueError("Refuel amount must be positive")
        price = self._state.require("plans", "Plan", line["plan_id"])["data_refueling_price_per_gb"]
        charge = gb_amount * price
        line["data_refueling_gb"] += gb_amount
        item = f"Data refueling: {gb_amount} GB at ${price}/GB"
        self._charge(self.get_customer_by_id(customer_id), charge, item)
        return {
            "message": f"Successfully added {gb_amount} GB of data for line {line_id} for "
            f"${charge:.2f}",
            "new_data_refueling_gb": str(line["data_refueling_gb"]),
            "charge": str(charge),
        }

    def _set_roaming(self, customer_id: Any, line_id: Any, *, wanted: bool) -> str:
        line = self._get_line(customer_id, line_id)
        words = "enabled" if wanted else "disabled"
        if line["roaming_enabled"] is wanted:
            return f"Roaming was already {words}"
        line["roaming_enabled"] = wanted
        return f"Roaming {words} successfully"

    def _get_line(self, customer_id: Any, line_id: Any) -> Record:
        customer = self.get_customer_by_id(customer_id)
        if line_id not in customer["line_ids"]:
            raise ValueError(f"Line {line_id} not found for customer {customer_id}")
        return self._state.require("lines", "Line", line_id)

    def _charge(self, customer: Record, amount: float, description: str) -> None:
        """Add a charge to the customer's draft of a bill; begin one if there is none."""
        bills = (self._state.require("bills", "Bill", key) for key in customer["bill_ids"])
        draft = next((bill for bill in bills if bill["status"] == "Draft"), None)
        if draft is None:
            # Made of what is known: a chance id would make equal runs end differently.
            known = f"{customer['customer_id']} {len(self._state.accounts['bills'])}"
            name = f"B{hashlib.sha256(known.encode()).hexdigest()[:8]}"
            draft = {"bill_id": name, "customer_id": customer["customer_id"], **_NEXT_BILL}
            draft["line_items"] = []
            self._state.accounts["bills"].append(draft)
            customer["bill_ids"].append(name)
        draft["line_items"].append(
            {
                "description": description,
                "amount": amount,
                "date": TODAY,
                "item_type": "Charge" if amount > 0 else "Credit",
            }
        )
        draft["total_due"] += amount
