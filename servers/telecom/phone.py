"""The customer's phone: its radios, its speed, and whether it can send a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .records import ApnSettings, Record
from .state import TelecomState

MODES: Final[Mapping[str, tuple[str, ...]]] = {
    "4g_5g_preferred": ("5G", "4G"),
    "4g_only": ("4G",),
    "3g_only": ("3G",),
    "2g_only": ("2G",),
}
"""Preference → technologies that are tried, the last whatever its signal."""
_FULL_MBPS: Final = {"none": 0.0, "2G": 0.25, "3G": 3.0, "4G": 55.0, "5G": 275.0}
_SHARE: Final = {"none": 0.0, "poor": 0.2, "fair": 0.5, "good": 0.8, "excellent": 1.0}
_DATA_SAVER: Final = 0.2
_SLOW_VPN: Final = 0.1
_GRADES: Final = ((1, "Very Poor"), (5, "Poor"), (25, "Fair"), (100, "Good"))
_VPN: Final = {"server_address": "192.168.1.1", "protocol": "OpenVPN"}


class Phone:
    """What the phone does by itself; the texts of its tools are `phone_tools`."""

    def __init__(self, state: TelecomState) -> None:
        """Be the phone of ``state``."""
        self._state = state

    @property
    def device(self) -> Record:
        """The phone's settings."""
        return self._state.device

    @property
    def surroundings(self) -> Record:
        """Where its owner is, and what the company allows."""
        return self._state.surroundings

    def search_network(self) -> None:
        """Connect to the best network that the settings allow, or to none."""
        device = self.device
        reachable = (
            not device["airplane_mode"]
            and not device["sim_card_missing"]
            and device["sim_card_status"] == "active"
            and device["active_apn_settings"]["apn_name"] != "broken"
            and self.surroundings["line_active"]
        )
        technology = strength = "none"
        if reachable:
            signals = self.surroundings["signal_strength"]
            tried = MODES.get(device["network_mode_preference"], ("4G",))
            here = (name for name in tried if signals.get(name, "none") != "none")
            technology = next(here, tried[-1])
            strength = signals.get(technology, "none")
        device["network_connection_status"] = "connected" if reachable else "no_service"
        device["network_technology_connected"] = technology
        device["network_signal_strength"] = strength

    def has_mobile_data(self) -> bool:
        """Whether the phone reaches the internet over the mobile network."""
        device, around = self.device, self.surroundings
        if device["airplane_mode"] or device["network_signal_strength"] == "none":
            return False
        if device["network_connection_status"] == "no_service" or not device["data_enabled"]:
            return False
        if around["is_abroad"] and not (device["roaming_enabled"] and around["roaming_allowed"]):
            return False
        return not around["mobile_data_usage_exceeded"]

    def measure_speed(self) -> tuple[float | None, str]:
        """Return the speed in Mbps and a word for it; ``None`` without a connection."""
        if not self.has_mobile_data():
            return None, "No Connection"
        device = self.device
        factor = 1.0
        details = device["vpn_details"]
        if device["vpn_connected"] and details and details["server_performance"] == "poor":
            factor *= _SLOW_VPN
        if device["data_saver_mode"]:
            factor *= _DATA_SAVER
        full = _FULL_MBPS[device["network_technology_connected"]]
        speed = round(full * _SHARE[device["network_signal_strength"]] * factor, 2)
        word = next((word for limit, word in _GRADES if speed < limit), "Excellent")
        return speed, word

    def can_send_mms(self) -> bool:
        """Whether the messaging app can send a picture."""
        device = self.device
        app = device["app_statuses"].get("messaging")
        return (
            self.has_mobile_data()
            and device["network_technology_connected"] != "2G"
            and not (device["wifi_calling_enabled"] and device["wifi_calling_mms_over_wifi"])
            and device["active_apn_settings"]["mmsc_url"] is not None
            and app is not None
            and app["permissions"]["storage"]
            and app["permissions"]["sms"]
        )

    def set_airplane_mode(self, *, on: bool) -> None:
        """Switch all radios off, or on again."""
        device = self.device
        device["airplane_mode"] = on
        device["wifi_connected"], device["wifi_ssid"] = False, None
        device["wifi_signal_strength"] = "none"
        if on:
            self.cut_vpn()
        self.search_network()

    def connect_vpn(self) -> None:
        """Use the one VPN that there is."""
        details = {**_VPN, "server_performance": self._state.vpn_performance}
        self.device["vpn_connected"], self.device["vpn_details"] = True, details

    def break_vpn(self) -> None:
        """Make the VPN slow, from now on, and use it."""
        self._state.vpn_performance = "poor"
        own = self.device["vpn_details"] or {}
        self.connect_vpn()
        self.device["vpn_details"] |= {**own, "server_performance": "poor"}

    def cut_vpn(self) -> None:
        """End the VPN, if there is one."""
        self.device["vpn_connected"], self.device["vpn_details"] = False, None

    def reset_apn(self) -> None:
        """Give the phone the carrier's own APN settings."""
        self.device["active_apn_settings"] = ApnSettings().model_dump()

    def set(self, **settings: Any) -> None:
        """Change settings that the radios depend on."""
        self.device.update(settings)
        self.search_network()
