"""Both sides' tools by name, what a task prepares, and what it asks of the end state."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final
from urllib.parse import parse_qsl

from mcp_types import ToolAnnotations

from ..common.hints import ADDS, CHANGES, READS
from ..tau2_common.shapes import Schema
from .preparation import list_sides, read_side
from .state import TelecomState

ASSERTION: Final = "state://assertion/"
"""Begins the URI of a question about the state: the side, the question, and its arguments, whose
values are JSON: ``user/assert_can_send_mms?expected_status=true``."""

_AGENT: Final = {
    "get_customer_by_phone": READS,
    "get_customer_by_id": READS,
    "get_customer_by_name": READS,
    "get_details_by_id": READS,
    "suspend_line": CHANGES,
    "resume_line": CHANGES,
    "get_bills_for_customer": READS,
    "send_payment_request": CHANGES,
    "get_data_usage": READS,
    "enable_roaming": CHANGES,
    "disable_roaming": CHANGES,
    "transfer_to_human_agents": ADDS,
    "refuel_data": ADDS,
}
_CUSTOMER: Final = {
    "check_status_bar": READS,
    "check_network_status": READS,
    "check_network_mode_preference": READS,
    "set_network_mode_preference": CHANGES,
    "run_speed_test": READS,
    "toggle_airplane_mode": CHANGES,
    "check_sim_status": READS,
    "reseat_sim_card": CHANGES,
    "toggle_data": CHANGES,
    "toggle_roaming": CHANGES,
    "check_data_restriction_status": READS,
    "toggle_data_saver_mode": CHANGES,
    "check_apn_settings": READS,
    "set_apn_settings": CHANGES,
    "reset_apn_settings": CHANGES,
    "check_wifi_status": READS,
    "toggle_wifi": CHANGES,
    "check_wifi_calling_status": READS,
    "toggle_wifi_calling": CHANGES,
    "check_vpn_status": READS,
    "connect_vpn": CHANGES,
    "disconnect_vpn": CHANGES,
    "check_installed_apps": READS,
    "check_app_status": READS,
    "check_app_permissions": READS,
    "grant_app_permission": CHANGES,
    "can_send_mms": READS,
    "reboot_device": CHANGES,
    "check_payment_request": READS,
    "make_payment": CHANGES,
}


class BothSides:
    """All tools of both sides, over a state of its own."""

    HINTS: ClassVar[Mapping[str, ToolAnnotations]] = {**_AGENT, **_CUSTOMER}
    OUTPUTS: ClassVar[Mapping[str, Schema]] = {}

    def __init__(self, database: Mapping[str, Mapping[str, Any]]) -> None:
        """Load ``database``: ``accounts``, ``device`` and ``surroundings``."""
        self.store = TelecomState(database["accounts"], database)
        self._sides = list_sides(self.store)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Carry out a tool, and let each side notice what the other did."""
        side = self._sides["user" if name in _CUSTOMER else "assistant"]
        found = getattr(side, name)(**arguments)
        # Before the other side is told, since a record would show what came of it.
        answer = json.loads(json.dumps(found))
        self.store.synchronize()
        return answer

    def prepare(self, calls: Any) -> None:
        """Carry out what a task does before its conversation."""
        for call in map(read_side, calls):
            getattr(self._sides[call["env_type"]], call["func_name"])(**call["arguments"])
            self.store.synchronize()

    def read_state(self, uri: str) -> str | None:
        """Return the answer to a question about the state; ``None`` for any other URI."""
        if not uri.startswith(ASSERTION):
            return None
        asked, _, given = uri.removeprefix(ASSERTION).partition("?")
        side, _, name = asked.partition("/")
        if side not in self._sides or not name.startswith("assert_"):
            return None
        arguments = {key: json.loads(value) for key, value in parse_qsl(given)}
        return json.dumps(getattr(self._sides[side], name)(**arguments))
