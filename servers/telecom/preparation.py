"""What a task does before its conversation, and what it asks afterwards: no tools of anybody."""

from __future__ import annotations

from typing import Any, Literal

from .account import TelecomTools
from .phone import Phone
from .phone_tools import TelecomUserTools
from .records import Record
from .state import TODAY, TelecomState

_ENDED_CONTRACT = "2025-01-31"


class AccountPreparation(TelecomTools):
    """The company's side."""

    def set_data_usage(self, customer_id: str, line_id: str, data_used_gb: float) -> None:
        """Set how much data a line has used."""
        self._get_line(customer_id, line_id)["data_used_gb"] = float(data_used_gb)

    def suspend_line_for_overdue_bill(
        self,
        customer_id: str,
        line_id: str,
        new_bill_id: str,
        contract_ended: bool,  # noqa: FBT001 - of a task
    ) -> None:
        """Suspend a line because of a bill that is overdue, and perhaps end its contract."""
        line = self._get_line(customer_id, line_id)
        if line["status"] != "Active":
            raise ValueError("Line must be active to suspend for unpaid bill")
        amount = self._state.require("plans", "Plan", line["plan_id"])["price_per_month"]
        item = {
            "description": f"Charge for line {line_id}",
            "amount": amount,
            "date": TODAY,
            "item_type": "Charge",
        }
        # The keys in print order.
        bill = {
            "bill_id": new_bill_id,
            "customer_id": customer_id,
            "period_start": "2025-01-01",
            "period_end": "2025-01-31",
            "issue_date": "2025-01-01",
            "total_due": amount,
            "due_date": "2025-01-15",
            "line_items": [item],
            "status": "Overdue",
        }
        self._state.accounts["bills"].append(bill)
        self.get_customer_by_id(customer_id)["bill_ids"].append(new_bill_id)
        line["status"], line["suspension_start_date"] = "Suspended", TODAY
        if contract_ended:
            line["contract_end_date"] = _ENDED_CONTRACT

    def assert_data_refueling_amount(
        self, customer_id: str, line_id: str, expected_amount: float
    ) -> bool:
        """Whether exactly so much data were added to the line."""
        return bool(self._get_line(customer_id, line_id)["data_refueling_gb"] == expected_amount)

    def assert_line_status(self, customer_id: str, line_id: str, expected_status: str) -> bool:
        """Whether the line has this status."""
        return bool(self._get_line(customer_id, line_id)["status"] == expected_status)

    def assert_overdue_bill_exists(self, customer_id: str, overdue_bill_id: str) -> bool:
        """Whether the customer has this bill, and it is overdue."""
        if overdue_bill_id not in self.get_customer_by_id(customer_id)["bill_ids"]:
            return False
        return bool(self._state.require("bills", "Bill", overdue_bill_id)["status"] == "Overdue")

    def assert_no_overdue_bill(self, overdue_bill_id: str) -> bool:
        """Whether there is no such bill, or it is paid."""
        bill = self._state.find("bills", "bill_id", overdue_bill_id)
        return bill is None or bill["status"] == "Paid"


class PhonePreparation(TelecomUserTools):
    """The customer's side."""

    def set_user_info(self, name: str, phone_number: str) -> None:
        """Say who the customer is."""
        self._phone.surroundings.update(name=name, phone_number=phone_number)

    def set_user_location(self, abroad: bool) -> None:  # noqa: FBT001 - of a task
        """Say whether the customer is abroad."""
        self._phone.surroundings["is_abroad"] = abroad

    def simulate_network_search(self) -> None:
        """Connect anew."""
        self._phone.search_network()

    def turn_airplane_mode_on(self) -> None:
        """Switch all radios off."""
        self._phone.set_airplane_mode(on=True)

    def turn_airplane_mode_off(self) -> None:
        """Switch all radios on."""
        self._phone.set_airplane_mode(on=False)

    def turn_data_on(self) -> None:
        """Switch mobile data on."""
        self._phone.set(data_enabled=True)

    def turn_data_off(self) -> None:
        """Switch mobile data off."""
        self._phone.set(data_enabled=False)

    def turn_roaming_on(self) -> None:
        """Switch roaming on."""
        self._phone.set(roaming_enabled=True)

    def turn_roaming_off(self) -> None:
        """Switch roaming off."""
        self._phone.set(roaming_enabled=False)

    def turn_data_saver_mode_on(self) -> None:
        """Switch the saving of data on."""
        self._device["data_saver_mode"] = True

    def turn_data_saver_mode_off(self) -> None:
        """Switch the saving of data off."""
        self._device["data_saver_mode"] = False

    def unseat_sim_card(self) -> None:
        """Take the SIM card out."""
        self._phone.set(sim_card_missing=True)

    def lock_sim_card(self, mode: Literal["pin", "puk"]) -> None:
        """Lock the SIM card."""
        self._phone.set(sim_card_status=f"locked_{mode}")

    def break_vpn(self) -> None:
        """Use a slow VPN."""
        self._phone.break_vpn()

    def break_apn_settings(self) -> None:
        """Spoil the way to the data network."""
        self._device["active_apn_settings"]["apn_name"] = "broken"
        self._phone.search_network()

    def break_apn_mms_setting(self) -> None:
        """Spoil the way of pictures."""
        self._device["active_apn_settings"]["mmsc_url"] = None

    def remove_app_permission(self, app_name: str, permission: str) -> None:
        """Take a permission from an app."""
        self._device["app_statuses"][app_name]["permissions"][permission.lower()] = False

    def set_wifi_calling(self, enabled: bool, mms_over_wifi: bool | None = None) -> None:  # noqa: FBT001 - of a task
        """Switch calls, and perhaps pictures, over Wi-Fi."""
        self._device["wifi_calling_enabled"] = enabled
        if mms_over_wifi is not None:
            self._device["wifi_calling_mms_over_wifi"] = mms_over_wifi

    def assert_airplane_mode_status(self, expected_status: bool) -> bool:  # noqa: FBT001 - of a task
        """Whether airplane mode is so."""
        return bool(self._device["airplane_mode"] == expected_status)

    def assert_can_send_mms(self, expected_status: bool) -> bool:  # noqa: FBT001 - of a task
        """Whether pictures can, or cannot, be sent."""
        return self._phone.can_send_mms() == expected_status

    def assert_mobile_data_status(self, expected_status: bool) -> bool:  # noqa: FBT001 - of a task
        """Whether mobile data work, or do not."""
        return self._phone.has_mobile_data() == expected_status

    def assert_mobile_roaming_status(self, expected_status: bool) -> bool:  # noqa: FBT001 - of a task
        """Whether roaming is so."""
        return bool(self._device["roaming_enabled"] == expected_status)

    def assert_mobile_data_saver_mode_status(self, expected_status: bool) -> bool:  # noqa: FBT001 - of a task
        """Whether the saving of data is so."""
        return bool(self._device["data_saver_mode"] == expected_status)

    def assert_mobile_data_usage_exceeded(self, expected_status: bool) -> bool:  # noqa: FBT001 - of a task
        """Whether more data were used than the plan has."""
        return bool(self._phone.surroundings["mobile_data_usage_exceeded"] == expected_status)

    def assert_internet_speed(
        self, expected_speed: float, expected_desc: str | None = None
    ) -> bool:
        """Whether the internet is at least so fast, and has that word."""
        speed, word = self._phone.measure_speed()
        if speed is None or speed < expected_speed:
            return False
        return expected_desc is None or word.lower() == expected_desc.lower()

    def assert_internet_not_excellent(self) -> bool:
        """Whether the internet is slower than excellent."""
        return self._phone.measure_speed()[1] != "Excellent"

    def assert_service_status(self, expected_status: str) -> bool:
        """Whether the phone's connection has this status."""
        return bool(self._device["network_connection_status"] == expected_status)


def read_side(value: Any) -> Record:
    """Return a call of a task, checked as far as it is needed."""
    if not isinstance(value, dict) or value.get("env_type") not in ("assistant", "user"):
        raise ValueError("not a call of one of the sides")
    return value


def list_sides(state: TelecomState) -> dict[str, AccountPreparation | PhonePreparation]:
    """Return whom a task's calls go to, by its own word for them."""
    return {"assistant": AccountPreparation(state), "user": PhonePreparation(Phone(state))}
