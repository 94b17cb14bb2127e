"""The tools of the customer, over the phone in their hand."""

from __future__ import annotations

from typing import Any, Final

from .phone import MODES, Phone
from .records import PERMISSIONS, ApnSettings, Record

_BARS: Final = {
    "none": "📵 No Signal",
    "poor": "📶¹ Poor",
    "fair": "📶² Fair",
    "good": "📶³ Good",
    "excellent": "📶⁴ Excellent",
}
_SIM: Final = {
    "active": "Your SIM card is active and working.",
    "missing": "No SIM card detected in the phone.",
    "locked_pin": "The SIM card is locked with a PIN code.",
    "locked_puk": "The SIM card is locked with a PUK code.",
}
_SPEEDS: Final = {
    "Very Poor": "Connection is very slow. Basic web browsing might be difficult.",
    "Poor": "Connection is slow. Web browsing may be sluggish, streaming difficult.",
    "Fair": "Connection is okay for web browsing and some standard definition streaming.",
    "Good": "Connection is good for most activities, including HD streaming.",
    "Excellent": "Connection is very fast.",
}


class TelecomUserTools:
    """Every tool a method; parameters are `Any`, since a model sends them unchecked.

    The name of the class is a part of what Python says of a wrong call.
    """

    def __init__(self, phone: Phone) -> None:
        """Work on ``phone``."""
        self._phone = phone

    @property
    def _device(self) -> Record:
        return self._phone.device

    def check_status_bar(self) -> str:
        """Return what the top of the screen shows."""
        return f"Status Bar: {' | '.join(self._list_icons())}"

    def _list_icons(self) -> list[str]:
        device = self._device
        icons = []
        if device["airplane_mode"]:
            icons.append("✈️ Airplane Mode")
        else:
            icons.append(_BARS[device["network_signal_strength"]])
            connected = device["network_technology_connected"] != "none"
            if connected:
                icons.append(device["network_technology_connected"])
            has_data = connected and device["data_enabled"]
            icons.append("📱 Data Enabled" if has_data else "📵 Data Disabled")
            if has_data and device["data_saver_mode"]:
                icons.append("🔽 Data Saver")
        if device["wifi_enabled"] and device["wifi_connected"]:
            network = device["wifi_ssid"]
            icons.append(f"📡 Connected to {network}" if network else "📡 Enabled")
        if device["vpn_connected"]:
            icons.append("🔒 VPN Connected")
        return [*icons, f"🔋 {device['battery_level']}%"]

    def _report(self, words: str) -> str:
        return f"{words}\n{self.check_status_bar()}"

    def check_network_status(self) -> str:
        """Return the state of all radios."""
        device = self._device
        lines = [
            f"Airplane Mode: {_on(device['airplane_mode'])}",
            f"SIM Card Status: {self._sim_status}",
            f"Cellular Connection: {device['network_connection_status']}",
            f"Cellular Signal: {device['network_signal_strength']}",
            f"Cellular Network Type: {device['network_technology_connected']}",
            f"Mobile Data Enabled: {_yes(device['data_enabled'])}",
            f"Data Roaming Enabled: {_yes(device['roaming_enabled'])}",
            f"Wi-Fi Radio: {_on(device['wifi_enabled'])}",
            f"Wi-Fi Connected: {_yes(device['wifi_connected'])}",
        ]
        if device["wifi_connected"]:
            lines.append(f"Connected Wi-Fi Network: {device['wifi_ssid']}")
        return "\n".join(lines)

    @property
    def _sim_status(self) -> str:
        return "missing" if self._device["sim_card_missing"] else self._device["sim_card_status"]

    def check_network_mode_preference(self) -> str:
        """Return which kinds of network the phone may use."""
        return f"Network Mode Preference: {self._device['network_mode_preference']}"

    def set_network_mode_preference(self, mode: Any) -> str:
        """Choose which kinds of network the phone may use."""
        if mode not in MODES:
            options = ", ".join(MODES)
            return self._report(
                f"Failed to set network mode: '{mode}' is not a valid option. Please use one of: "
                f"{options}"
            )
        self._phone.set(network_mode_preference=mode)
        return self._report(f"Preferred Network Mode set to: {mode}")

    def run_speed_test(self) -> str:
        """Return how fast the mobile internet is."""
        speed, word = self._phone.measure_speed()
        if speed is None:
            return f"Speed test failed: {word}."
        return f"Speed Test Result: {speed:.2f} Mbps ({word}). {_SPEEDS[word]}"

    def toggle_airplane_mode(self) -> str:
        """Switch airplane mode."""
        on = not self._device["airplane_mode"]
        self._phone.set_airplane_mode(on=on)
        return self._report(f"Airplane Mode is now {_on(on)}.")

    def check_sim_status(self) -> str:
        """Return whether the SIM card works."""
        return _SIM[self._sim_status]

    def reseat_sim_card(self) -> str:
        """Take the SIM card out and put it in again."""
        self._phone.set(sim_card_missing=False)
        return self._report("SIM card re-seated successfully.")

    def toggle_data(self) -> str:
        """Switch mobile data."""
        on = not self._device["data_enabled"]
        self._phone.set(data_enabled=on)
        return self._report(f"Mobile Data is now {_on(on)}.")

    def toggle_roaming(self) -> str:
        """Switch data roaming."""
        on = not self._device["roaming_enabled"]
        self._phone.set(roaming_enabled=on)
        return self._report(f"Data Roaming is now {_on(on)}.")

    def check_data_restriction_status(self) -> str:
        """Return whether data are saved."""
        limited = " (limits data usage)" if self._device["data_saver_mode"] else ""
        return f"Data Saver mode is {_on(self._device['data_saver_mode'])}{limited}."

    def toggle_data_saver_mode(self) -> str:
        """Switch the saving of data."""
        on = not self._device["data_saver_mode"]
        self._device["data_saver_mode"] = on
        return self._report(f"Data Saver Mode is now {_on(on)}.")

    def check_apn_settings(self) -> str:
        """Return how the phone reaches the carrier's data network."""
        settings = self._device["active_apn_settings"]
        return (
            f"Current APN Name: {settings['apn_name']}\n"
            f"MMSC URL (for picture messages): {settings['mmsc_url'] or 'Not Set'}\n"
            "(These are technical settings, usually best left unchanged.)"
        )

    def set_apn_settings(self, apn_settings: Any) -> str:
        """Change how the phone reaches the carrier's data network."""
        settings = ApnSettings(**apn_settings).model_dump()
        self._phone.set(active_apn_settings=settings)
        return self._report(f"APN settings set to: {settings['apn_name']}")

    def reset_apn_settings(self) -> str:
        """Have the next restart give the phone the carrier's own settings."""
        self._device["active_apn_settings"]["reset_at_reboot"] = True
        self._phone.search_network()
        return self._report("APN settings will reset at reboot.")

    def check_wifi_status(self) -> str:
        """Return the state of Wi-Fi."""
        device = self._device
        if not device["wifi_enabled"]:
            return "Wi-Fi is turned OFF."
        if not device["wifi_connected"]:
            return "Wi-Fi is ON but not connected to any network."
        return (
            f"Wi-Fi is ON and connected to '{device['wifi_ssid']}'. "
            f"Signal strength: {device['wifi_signal_strength']}."
        )

    def toggle_wifi(self) -> str:
        """Switch Wi-Fi."""
        device = self._device
        if device["airplane_mode"]:
            return self._report("Cannot change Wi-Fi settings while Airplane Mode is ON.")
        on = not device["wifi_enabled"]
        device["wifi_enabled"] = on
        if not on:
            device["wifi_connected"], device["wifi_ssid"] = False, None
            device["wifi_signal_strength"] = "none"
        return self._report(f"Wi-Fi is now {_on(on)}.")

    def check_wifi_calling_status(self) -> str:
        """Return whether calls go over Wi-Fi."""
        return f"Wi-Fi Calling is currently turned {_on(self._device['wifi_calling_enabled'])}."

    def toggle_wifi_calling(self) -> str:
        """Switch calls over Wi-Fi."""
        on = not self._device["wifi_calling_enabled"]
        self._device["wifi_calling_enabled"] = on
        return self._report(f"Wi-Fi Calling is now {_on(on)}.")

    def check_vpn_status(self) -> str:
        """Return whether a VPN is used."""
        device = self._device
        if device["vpn_connected"]:
            details = device["vpn_details"]
            if not details:
                return "VPN is ON and connected (no specific details available)."
            grade = details["server_performance"]
            # As upstream prints an enumeration.
            shown = f"<PerformanceLevel.{grade.upper()}: '{grade}'>"
            parts = f"'server_address': {details['server_address']!r}, "
            parts += f"'protocol': {details['protocol']!r}, 'server_performance': {shown}"
            return f"VPN is ON and connected. Details: {{{parts}}}"
        if device["vpn_enabled_setting"]:
            return "VPN is turned ON in settings, but currently not connected."
        return "VPN is turned OFF."

    def connect_vpn(self) -> str:
        """Connect to the VPN."""
        if self._device["vpn_connected"]:
            return "VPN already connected."
        self._phone.connect_vpn()
        return self._report("VPN connected successfully.")

    def disconnect_vpn(self) -> str:
        """End the VPN."""
        if not self._device["vpn_connected"]:
            return self._report("No active VPN connection to disconnect.")
        self._phone.cut_vpn()
        return self._report("VPN disconnected successfully.")

    def check_installed_apps(self) -> str:
        """Return the names of the apps."""
        names = ", ".join(self._device["app_statuses"])
        return f"The following apps are installed on the phone: {names}"

    def check_app_status(self, app_name: Any) -> str:
        """Return what is known of an app."""
        granted = self._list_granted(app_name)
        if granted is None:
            return _tell_missing_app(app_name)
        head = f"Status for App: {app_name}\n - Permissions"
        if not granted:
            return f"{head}: None granted."
        return "\n".join([f"{head} Granted:", *(f"   - {name}" for name in granted)])

    def check_app_permissions(self, app_name: Any) -> str:
        """Return what an app may do."""
        granted = self._list_granted(app_name)
        if granted is None:
            return _tell_missing_app(app_name)
        if not granted:
            return f"App '{app_name}' currently has no permissions granted."
        return f"App '{app_name}' has permission for: {', '.join(granted)}."

    def _list_granted(self, app_name: Any) -> list[str] | None:
        app = self._device["app_statuses"].get(app_name)
        return None if app is None else [one for one in PERMISSIONS if app["permissions"][one]]

    def grant_app_permission(self, app_name: Any, permission: Any) -> str:
        """Let an app do something."""
        name = permission.lower()
        app = self._device["app_statuses"].get(app_name)
        if app is None:
            return self._report(f"Error. App '{app_name}' not found. Cannot grant permission.")
        if name not in app["permissions"]:
            return self._report(
                f"Error. Permission '{name}' not tracked for app '{app_name}', available "
                f"permissions: {list(app['permissions'])}"
            )
        app["permissions"][name] = True
        return self._report(f"Success. Permission '{name}' granted to app '{app_name}'.")

    def can_send_mms(self) -> str:
        """Return whether the messaging app can send pictures."""
        can = "can" if self._phone.can_send_mms() else "cannot"
        return f"Your messaging app {can} send MMS messages."

    def reboot_device(self) -> str:
        """Restart the phone."""
        words = "Restarting network services..."
        if self._device["active_apn_settings"]["reset_at_reboot"]:
            words = f"Resetting APN settings...\n{words}"
            self._phone.reset_apn()
        self._phone.search_network()
        return self._report(words)

    def check_payment_request(self) -> str:
        """Return what the company asks to be paid."""
        request = self._phone.surroundings["payment_request"]
        if request is None:
            return "No payment request has been made."
        return (
            f"You have a payment request for bill {request['bill_id']} of "
            f"{request['amount_due']} USD."
        )

    def make_payment(self) -> str:
        """Pay what the company asks for."""
        request = self._phone.surroundings["payment_request"]
        if request is None:
            return "You do not have a payment request."
        request["paid"] = True
        return (
            f"Payment of {request['amount_due']} USD has been made for bill {request['bill_id']}."
        )


def _tell_missing_app(app_name: Any) -> str:
    return f"App '{app_name}' not found on this phone."


def _on(value: Any) -> str:
    return "ON" if value else "OFF"


def _yes(value: Any) -> str:
    return "Yes" if value else "No"
