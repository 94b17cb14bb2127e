"""A small phone company of our own making."""

from __future__ import annotations

from typing import Any

from servers.tau2_common.serving import answer
from servers.telecom.tools import BothSides

ACCOUNTS: dict[str, Any] = {
    "plans": [
        {
            "plan_id": "P1",
            "name": "Small",
            "data_limit_gb": 5.0,
            "price_per_month": 40.0,
            "data_refueling_price_per_gb": 2.0,
        }
    ],
    "devices": [{"device_id": "D1", "device_type": "phone", "model": "X", "is_esim_capable": True}],
    "lines": [
        {
            "line_id": "L1",
            "phone_number": "1",
            "status": "Active",
            "plan_id": "P1",
            "data_used_gb": 4.0,
            "roaming_enabled": False,
        }
    ],
    "customers": [
        {
            "customer_id": "C1",
            "full_name": "Zoe Ng",
            "date_of_birth": "1990-01-02",
            "email": "zoe@example.com",
            "phone_number": "9",
            "address": {"street": "S", "city": "C", "state": "T", "zip_code": "1"},
            "line_ids": ["L1"],
            "bill_ids": ["B1"],
            "created_at": "2025-01-15T10:30:00",
        }
    ],
    "bills": [
        {
            "bill_id": "B1",
            "customer_id": "C1",
            "period_start": "2025-01-01",
            "period_end": "2025-01-31",
            "issue_date": "2025-01-05",
            "total_due": 12.5,
            "due_date": "2025-01-19",
            "status": "Overdue",
        }
    ],
}
APPS = {"messaging": {"app_name": "messaging", "permissions": {"sms": True, "storage": True}}}
MINE = {"customer_id": "C1", "line_id": "L1"}


class Company:
    """Both sides, the customer being the owner of the line."""

    def __init__(self) -> None:
        self.tools = BothSides({"accounts": ACCOUNTS, "device": {"app_statuses": APPS}})
        self.prepare("user", "set_user_info", name="Zoe Ng", phone_number="1")

    def prepare(self, side: str, name: str, /, **arguments: Any) -> None:
        self.tools.prepare([{"env_type": side, "func_name": name, "arguments": arguments}])

    def say(self, tool: str, /, **arguments: Any) -> str:
        """Return what a call answers, whatever it is."""
        return answer(self.tools, tool, arguments)[0]

    def ask(self, question: str) -> str | None:
        """Return what the state's resource answers."""
        return self.tools.read_state(f"state://assertion/{question}")
