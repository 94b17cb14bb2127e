"""The two databases in the form in which they are printed and hashed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

Record: TypeAlias = dict[str, Any]

_CUSTOMER: Final[Mapping[str, Any]] = {
    "customer_id": None,
    "full_name": None,
    "date_of_birth": None,
    "email": None,
    "phone_number": None,
    "address": None,
    "account_status": "Pending Verification",
    "payment_methods": [],
    "line_ids": [],
    "bill_ids": [],
    "created_at": "2025-01-01",
    "last_extension_date": None,
    "goodwill_credit_used_this_year": 0.0,
}
_LINE: Final = {
    "line_id": None,
    "phone_number": None,
    "status": "Pending Activation",
    "plan_id": None,
    "device_id": None,
    "data_used_gb": 0.0,
    "data_refueling_gb": 0.0,
    "roaming_enabled": False,
    "contract_end_date": None,
    "last_plan_change_date": None,
    "last_sim_replacement_date": None,
    "suspension_start_date": None,
}
_BILL: Final[Mapping[str, Any]] = {
    "bill_id": None,
    "customer_id": None,
    "period_start": None,
    "period_end": None,
    "issue_date": None,
    "total_due": None,
    "due_date": None,
    "line_items": [],
    "status": "Draft",
}
_DEVICE: Final = {
    "device_id": None,
    "device_type": None,
    "model": None,
    "imei": None,
    "is_esim_capable": None,
    "activated": False,
    "activation_date": None,
    "last_esim_transfer_date": None,
}
_SHAPES: Final[Mapping[str, Mapping[str, Any]]] = {
    "plans": {},
    "customers": _CUSTOMER,
    "lines": _LINE,
    "bills": _BILL,
    "devices": _DEVICE,
}
"""Collection → the keys of its records in print order, each with what it is where the file has
none."""
_TIMES: Final = frozenset({"created_at", "activation_date", "last_esim_transfer_date"})


class ApnSettings(BaseModel):
    """How the phone reaches the carrier's data network."""

    model_config = ConfigDict(extra="forbid", title="APNSettings")

    apn_name: Literal["internet", "broken"] = "internet"
    reset_at_reboot: bool = False
    mms_apn: str | None = "mms"
    mmsc_url: str | None = "http://mms.carrier.com/mms/wapenc"
    mms_proxy: str | None = None
    mms_port: int | None = None


def order_accounts(database: Mapping[str, Sequence[Record]]) -> dict[str, list[Record]]:
    """Return the company's database, as its file has it, with every key in print order."""
    return {
        name: [_order_record(record, shape) for record in database.get(name, ())]
        for name, shape in _SHAPES.items()
    }


def _order_record(record: Record, shape: Mapping[str, Any]) -> Record:
    ordered = {key: record.get(key, value) for key, value in shape.items()} or dict(record)
    for key in _TIMES & ordered.keys():
        # A point in time is printed with a blank between day and hour.
        if isinstance(ordered[key], str):
            ordered[key] = ordered[key].replace("T", " ")
    return ordered


_PHONE: Final = {
    "sim_card_status": "active",
    "sim_card_missing": False,
    "airplane_mode": False,
    "network_signal_strength": "good",
    "network_technology_connected": "5G",
    "network_connection_status": "connected",
    "battery_level": 80,
    "data_enabled": True,
    "roaming_enabled": False,
    "network_mode_preference": "4g_5g_preferred",
    "active_apn_settings": {},
    "wifi_enabled": False,
    "wifi_connected": False,
    "wifi_ssid": None,
    "wifi_signal_strength": "none",
    "wifi_calling_enabled": False,
    "wifi_calling_mms_over_wifi": False,
    "data_saver_mode": False,
    "vpn_enabled_setting": False,
    "vpn_connected": False,
    "vpn_details": None,
    "app_statuses": {},
}
_SURROUNDINGS: Final = {
    "name": None,
    "phone_number": None,
    "is_abroad": False,
    "roaming_allowed": False,
    "signal_strength": {"2G": "poor", "3G": "fair", "4G": "good", "5G": "excellent"},
    "mobile_data_usage_exceeded": False,
    "line_active": True,
    "payment_request": None,
}
PERMISSIONS: Final = ("sms", "storage", "phone", "network")


def order_phone(database: Mapping[str, Record]) -> dict[str, Record]:
    """Return the customer's side, as its file has it, with every key in print order."""
    given = database.get("device", {})
    device = {key: given.get(key, value) for key, value in _PHONE.items()}
    device["active_apn_settings"] = ApnSettings(**device["active_apn_settings"]).model_dump()
    device["app_statuses"] = {
        name: {
            "app_name": app["app_name"],
            "permissions": {key: app.get("permissions", {}).get(key, False) for key in PERMISSIONS},
        }
        for name, app in device["app_statuses"].items()
    }
    around = database.get("surroundings", {})
    surroundings = {key: around.get(key, value) for key, value in _SURROUNDINGS.items()}
    return {"device": device, "surroundings": surroundings}
