"""The tools of both sides on a company of our own making; the real data: `test_telecom`."""

from __future__ import annotations

import json

import pytest

from tests.servers.telecom.support import MINE, Company


@pytest.fixture
def company() -> Company:
    return Company()


CAN = "Your messaging app can send MMS messages."
CANNOT = "Your messaging app cannot send MMS messages."


@pytest.mark.parametrize(
    ("spoil", "mend"),
    [
        (["turn_airplane_mode_on"], ["toggle_airplane_mode"]),
        (["unseat_sim_card"], ["reseat_sim_card"]),
        (["turn_data_off"], ["toggle_data"]),
        (["break_apn_settings"], ["reset_apn_settings", "reboot_device"]),
        (["break_apn_mms_setting"], ["reset_apn_settings", "reboot_device"]),
    ],
)
def test_what_is_spoilt_keeps_pictures_from_being_sent_until_all_of_it_is_mended(
    company: Company, spoil: list[str], mend: list[str]
) -> None:
    assert company.say("can_send_mms") == CAN
    for name in spoil:
        company.prepare("user", name)
    for tool in mend:
        assert company.say("can_send_mms") == CANNOT
        company.say(tool)
    assert company.say("can_send_mms") == CAN


def test_a_locked_sim_card_stays_locked(company: Company) -> None:
    company.prepare("user", "lock_sim_card", mode="pin")
    for tool in ("reseat_sim_card", "reboot_device"):
        assert "No Signal" in company.say(tool)
    assert company.say("check_sim_status") == "The SIM card is locked with a PIN code."
    assert company.ask('user/assert_service_status?expected_status="no_service"') == "true"


@pytest.mark.parametrize(
    ("mode", "shown", "speed"),
    [
        ("2g_only", "📶¹ Poor | 2G", "0.05 Mbps (Very Poor)"),
        ("3g_only", "📶² Fair | 3G", "1.50 Mbps (Poor)"),
        ("4g_only", "📶³ Good | 4G", "44.00 Mbps (Good)"),
        ("4g_5g_preferred", "📶⁴ Excellent | 5G", "275.00 Mbps (Excellent)"),
    ],
)
def test_the_network_decides_the_speed(company: Company, mode: str, shown: str, speed: str) -> None:
    told = company.say("set_network_mode_preference", mode=mode)
    assert told.startswith(f"Preferred Network Mode set to: {mode}\nStatus Bar: {shown} |")
    assert company.say("run_speed_test").startswith(f"Speed Test Result: {speed}.")


def test_a_slow_vpn_and_the_saving_of_data_slow_it_down(company: Company) -> None:
    company.prepare("user", "break_vpn")
    company.say("toggle_data_saver_mode")
    assert "4.40 Mbps (Poor)" in company.say("run_speed_test")
    company.say("disconnect_vpn")
    assert "44.00 Mbps (Good)" in company.say("run_speed_test")


def test_roaming_needs_both_sides(company: Company) -> None:
    company.prepare("user", "set_user_location", abroad=True)
    company.say("toggle_roaming")
    assert company.say("run_speed_test") == "Speed test failed: No Connection."
    assert company.say("can_send_mms") == CANNOT
    assert company.say("enable_roaming", **MINE) == "Roaming enabled successfully"
    assert company.say("can_send_mms") == CAN


def test_data_that_are_used_up_come_back_with_a_charge_on_the_next_bill(company: Company) -> None:
    company.prepare("assistant", "set_data_usage", **MINE, data_used_gb=5.0)
    assert company.ask("user/assert_mobile_data_status?expected_status=false") == "true"
    told = json.loads(company.say("refuel_data", **MINE, gb_amount=2.0))
    assert told["message"] == "Successfully added 2.0 GB of data for line L1 for $4.00"
    assert company.ask("user/assert_mobile_data_status?expected_status=true") == "true"
    asked = 'assistant/assert_data_refueling_amount?customer_id="C1"&line_id="L1"&expected_amount=2'
    assert company.ask(asked) == "true"
    (draft, _) = json.loads(company.say("get_bills_for_customer", customer_id="C1"))
    assert (draft["status"], draft["total_due"]) == ("Draft", 4.0)


def test_a_suspended_line_is_back_once_the_bill_is_paid_and_the_phone_restarted(
    company: Company,
) -> None:
    overdue = {"new_bill_id": "B2", "contract_ended": False}
    company.prepare("assistant", "suspend_line_for_overdue_bill", **MINE, **overdue)
    company.prepare("user", "simulate_network_search")
    assert company.ask('assistant/assert_no_overdue_bill?overdue_bill_id="B2"') == "false"
    assert company.say("check_payment_request") == "No payment request has been made."
    company.say("send_payment_request", customer_id="C1", bill_id="B2")
    assert company.say("check_payment_request").endswith("for bill B2 of 40.0 USD.")
    assert company.say("make_payment") == "Payment of 40.0 USD has been made for bill B2."
    assert company.ask('assistant/assert_no_overdue_bill?overdue_bill_id="B2"') == "true"
    assert '"status": "Active"' in company.say("resume_line", **MINE)
    assert "No Signal" in company.say("check_status_bar")
    assert "📶⁴ Excellent" in company.say("reboot_device")


def test_a_wrong_call_is_refused_in_the_words_of_the_leaderboard(company: Company) -> None:
    assert company.say("get_customer_by_id") == (
        "Error: TelecomTools.get_customer_by_id() missing 1 required positional argument: "
        "'customer_id'"
    )
    assert company.say("toggle_data", x=1) == (
        "Error: TelecomUserTools.toggle_data() got an unexpected keyword argument 'x'"
    )
    assert company.say("get_details_by_id", id="X1") == "Error: Unknown ID format or type: X1"


def test_a_state_comes_back_and_is_told_apart(company: Company) -> None:
    state = company.tools.store
    state.reset()
    start = state.digest()
    company.say("toggle_data")
    changed = state.digest()
    assert changed.split()[0] == start.split()[0]  # the company's own records
    assert changed.split()[1] != start.split()[1]
    state.reset()
    assert state.digest() == start


def test_what_is_no_question_has_no_answer(company: Company) -> None:
    assert company.ask("user/toggle_data") is None
    assert company.ask("nobody/assert_can_send_mms?expected_status=true") is None
    assert company.tools.read_state("state://hash") is None
