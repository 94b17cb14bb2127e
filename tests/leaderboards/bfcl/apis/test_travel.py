from __future__ import annotations

import ast
import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from harness.leaderboards.bfcl.apis.common import Api, get_public_state
from tests.leaderboards.bfcl.apis.scenes import TABLES, an_api, text_of

FLIGHT = {
    "access_token": "t",
    "card_id": "c",
    "travel_date": "2024-01-01",
    "travel_from": "SFO",
    "travel_to": "LAX",
    "travel_class": "economy",
}


def a_session(*, long_context: bool = False, **scenario: Any) -> Api:
    settings = {
        "access_token": "t",
        "token_expires_in": 9,
        "credit_card_list": {"c": {"balance": 1000}},
        "user_first_name": "Ann",
        "user_last_name": "Lee",
    }
    return an_api("TravelAPI", long_context=long_context, **{**settings, **scenario})


def test_logging_in_gives_a_token_that_the_seed_determines() -> None:
    login = dict.fromkeys(("client_id", "client_secret", "refresh_token"), "x")
    login |= {"grant_type": "read", "user_first_name": "Ben", "user_last_name": "Day"}
    one, other = an_api("TravelAPI"), an_api("TravelAPI")
    assert text_of(one, "travel_get_login_status") == '{"status": false}'
    answer = json.loads(text_of(one, "authenticate_travel", **login))
    assert json.loads(text_of(other, "authenticate_travel", **login)) == answer
    assert {**answer, "access_token": ""} == {
        "expires_in": 2,
        "access_token": "",
        "token_type": "Bearer",
        "scope": "read",
    }
    assert len(answer["access_token"]) == 6
    assert text_of(one, "travel_get_login_status") == '{"status": true}'
    state = get_public_state(one)
    kept = [
        state[name] for name in ("user_first_name", "user_last_name", "token_type", "token_scope")
    ]
    assert (kept, state["token_expires_in"]) == (["Ben", "Day", "Bearer", "read"], 2)
    assert state["access_token"] == answer["access_token"]


@pytest.mark.parametrize(
    ("tool", "arguments", "key"),
    [
        ("get_credit_card_balance", {"card_id": "c"}, None),
        (
            "book_flight",
            {key: value for key, value in FLIGHT.items() if key != "access_token"},
            "booking_status",
        ),
        ("retrieve_invoice", {"booking_id": "b"}, None),
        ("get_booking_history", {}, None),
        ("cancel_booking", {"booking_id": "b"}, "cancel_status"),
        ("set_budget_limit", {"budget_limit": 1}, None),
        (
            "purchase_insurance",
            {"insurance_type": "x", "booking_id": "b", "insurance_cost": 1, "card_id": "c"},
            "insurance_status",
        ),
        (
            "register_credit_card",
            {
                "card_number": "1",
                "expiration_date": "x",
                "cardholder_name": "x",
                "card_verification_number": 1,
            },
            None,
        ),
    ],
)
def test_a_wrong_or_expired_token_opens_nothing(
    tool: str, arguments: dict[str, Any], key: str | None
) -> None:
    status = {} if key is None else {key: False}
    session, expired = a_session(), a_session(token_expires_in=0)
    before = repr(get_public_state(session))
    assert json.loads(text_of(session, tool, access_token="?", **arguments)) == {
        **status,
        "error": "Invalid access token",
    }
    assert json.loads(text_of(expired, tool, access_token="t", **arguments)) == {
        **status,
        "error": "Token expired",
    }
    assert repr(get_public_state(session)) == before


def test_a_card_is_registered_under_a_number_of_its_own() -> None:
    session = a_session()
    card = {
        "card_number": "1",
        "expiration_date": "01/30",
        "cardholder_name": "Ann",
        "card_verification_number": 7,
    }
    card_id = json.loads(text_of(session, "register_credit_card", access_token="t", **card))[
        "card_id"
    ]
    kept = get_public_state(session)["credit_card_list"][card_id]
    assert (len(card_id), kept["card_number"], 10000 <= kept["balance"] <= 99999) == (12, "1", True)
    taken = {**card, "card_number": "c"}
    assert text_of(session, "register_credit_card", access_token="t", **taken) == (
        '{"error": "Card already registered"}'
    )
    stranger = an_api("TravelAPI")
    assert text_of(stranger, "register_credit_card", access_token="t", **card) == (
        '{"error": "Token not initialized"}'
    )


@pytest.mark.parametrize(
    ("date", "travel_class", "cost"),
    [
        ("2024-01-01", "economy", 200.0),
        ("2024-01-02", "economy", 100.0),
        ("2024-01-02", "business", 200.0),
        ("2024-01-02", "first", 500.0),
    ],
)
def test_a_fare_doubles_on_dates_with_an_even_sum_of_digits(
    date: str, travel_class: str, cost: float
) -> None:
    # 2 + 0 + 2 + 4 + 0 + 1 + 0 + 1 is even.
    asked = {
        "travel_from": "SFO",
        "travel_to": "LAX",
        "travel_date": date,
        "travel_class": travel_class,
    }
    assert json.loads(text_of(a_session(), "get_flight_cost", **asked)) == {
        "travel_cost_list": [cost]
    }


def test_there_are_no_other_routes_and_classes() -> None:
    asked = {
        "travel_from": "LAX",
        "travel_to": "SFO",
        "travel_date": "2024-01-01",
        "travel_class": "economy",
    }
    assert text_of(a_session(), "get_flight_cost", **asked) == (
        "Error during execution: No available route for the given airports."
    )
    asked |= {"travel_from": "SFO", "travel_to": "LAX", "travel_class": "royal"}
    assert text_of(a_session(), "get_flight_cost", **asked) == (
        "Error during execution: Invalid travel class. Options are: economy, business, first."
    )


def test_a_flight_is_booked_paid_invoiced_insured_and_cancelled() -> None:
    session = a_session()
    booked = json.loads(text_of(session, "book_flight", **FLIGHT))
    assert (booked["booking_status"], booked["booking_history"]) == (True, {})
    assert (
        text_of(session, "get_credit_card_balance", access_token="t", card_id="c")
        == '{"card_balance": 800.0}'
    )
    number = booked["booking_id"]
    invoice = json.loads(text_of(session, "retrieve_invoice", access_token="t", booking_id=number))[
        "invoice"
    ]
    assert (invoice["booking_id"], invoice["travel_cost"], "card_id" in invoice) == (
        number,
        200.0,
        False,
    )
    insurance = {"insurance_type": "x", "booking_id": number, "insurance_cost": 900, "card_id": "c"}
    insured = json.loads(text_of(session, "purchase_insurance", access_token="t", **insurance))
    assert (insured["insurance_status"], len(insured["insurance_id"])) == (True, 9)
    assert get_public_state(session)["credit_card_list"]["c"]["balance"] == -100.0
    assert "Thank you" in text_of(
        session, "contact_customer_support", booking_id=number, message="?"
    )
    assert (
        text_of(session, "cancel_booking", access_token="t", booking_id=number)
        == '{"cancel_status": true}'
    )
    assert text_of(session, "cancel_booking", access_token="t", booking_id=number) == (
        '{"cancel_status": false, "error": "Booking not found"}'
    )
    assert get_public_state(session)["credit_card_list"]["c"]["balance"] == 100.0
    assert get_public_state(session)["booking_record"] == {}


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"card_id": "?"}, "Card not registered"),
        ({"card_id": "empty"}, "Balance not found"),
        ({"travel_from": "XXX"}, "Invalid departure airport code: XXX"),
        ({"travel_to": "XXX"}, "Invalid destination airport code: XXX"),
        ({"travel_date": "1 May"}, "Invalid date format. Use YYYY-MM-DD."),
        (
            {"travel_class": "royal"},
            "Invalid travel class. Must be one of {'business', 'economy', 'first'}",
        ),
        ({"travel_from": "LAX", "travel_to": "SFO"}, "No available route for the given airports."),
        ({"card_id": "poor"}, "Insufficient funds"),
        ({"card_id": "low"}, "Balance is less than budget limit"),
    ],
)
def test_a_flight_that_cannot_be_is_not_booked(changes: dict[str, Any], error: str) -> None:
    cards = {"c": {"balance": 1000}, "empty": {}, "poor": {"balance": 1}, "low": {"balance": 300}}
    session = a_session(credit_card_list=cards, budget_limit=500)
    before = repr(get_public_state(session))
    assert json.loads(text_of(session, "book_flight", **{**FLIGHT, **changes})) == {
        "booking_status": False,
        "error": error,
    }
    assert repr(get_public_state(session)) == before


def test_a_budget_stops_an_insurance() -> None:
    session = a_session(booking_record={"b": {}})
    assert (
        text_of(session, "set_budget_limit", access_token="t", budget_limit=5)
        == '{"budget_limit": 5.0}'
    )
    insurance = {"insurance_type": "x", "booking_id": "b", "insurance_cost": 6, "card_id": "c"}
    assert "Exceeded budget limit" in text_of(
        session, "purchase_insurance", access_token="t", **insurance
    )
    cheap = {**insurance, "insurance_cost": 1}
    assert "Credit card not registered" in text_of(
        session, "purchase_insurance", access_token="t", **{**cheap, "card_id": "?"}
    )
    assert "Booking not found" in text_of(
        session, "purchase_insurance", access_token="t", **{**cheap, "booking_id": "?"}
    )


@pytest.mark.parametrize(
    ("changes", "failure"),
    [
        ({}, None),
        (
            {"first_name": "Bob"},
            "Cannot book flight information for another user.Expected Ann Lee, got Bob Lee",
        ),
        ({"date_of_birth": "May"}, "Invalid date of birth format. Please use YYYY-MM-DD."),
        ({"date_of_birth": "9990-01-01"}, "Traveler must be at least 18 years old."),
        ({"passport_number": "FR1"}, "Passport must be issued by the United States."),
    ],
)
def test_a_traveller_is_the_user_of_age_and_american(
    changes: dict[str, str], failure: str | None
) -> None:
    person = {
        "first_name": "Ann",
        "last_name": "Lee",
        "date_of_birth": "1990-01-01",
        "passport_number": "US1",
    }
    expected = {"verification_status": failure is None} | (
        {"verification_failure": failure} if failure else {}
    )
    assert (
        json.loads(text_of(a_session(), "verify_traveler_information", **{**person, **changes}))
        == expected
    )


@pytest.mark.parametrize(("days", "of_age"), [(-3, False), (3, True)])
def test_of_age_is_who_was_born_eighteen_years_ago(days: int, of_age: bool) -> None:
    born = (datetime.now(UTC) - timedelta(days=18 * 365.25 + days)).strftime("%Y-%m-%d")
    person = {
        "first_name": "Ann",
        "last_name": "Lee",
        "date_of_birth": born,
        "passport_number": "US1",
    }
    answer = json.loads(text_of(a_session(), "verify_traveler_information", **person))
    assert answer["verification_status"] is of_age


def test_money_is_changed_in_both_directions_through_the_dollar() -> None:
    session = a_session()
    for base, target, value in (("USD", "EUR", 5.0), ("EUR", "USD", 20.0)):
        asked = {"base_currency": base, "target_currency": target, "value": 10}
        assert json.loads(text_of(session, "compute_exchange_rate", **asked)) == {
            "exchanged_value": value
        }
    asked = {"base_currency": "EUR", "target_currency": "EUR", "value": 10}
    assert text_of(session, "compute_exchange_rate", **asked) == (
        "Error during execution: No available exchange rate for the given currencies."
    )


def test_small_questions_have_small_answers() -> None:
    session = a_session()
    assert (
        text_of(session, "get_nearest_airport_by_city", location="Boston")
        == '{"nearest_airport": "BOS"}'
    )
    assert (
        text_of(session, "get_nearest_airport_by_city", location="?")
        == '{"nearest_airport": "Unknown"}'
    )
    airports = ast.literal_eval(text_of(session, "list_all_airports"))
    assert (len(set(airports)), airports[0], airports[-1]) == (23, "RMS", "BOS")
    assert hashlib.sha256("".join(airports).encode()).hexdigest()[:8] == "b6beb701"
    assert text_of(session, "get_budget_fiscal_year") == '{"budget_fiscal_year": "2018"}'
    assert (
        text_of(session, "get_all_credit_cards") == '{"credit_card_list": {"c": {"balance": 1000}}}'
    )
    assert text_of(session, "get_credit_card_balance", access_token="t", card_id="?") == (
        '{"error": "Card not registered. Here are a list of card_id\'s: [\'c\']"}'
    )


def test_long_context_adds_cards_bookings_and_fares_and_never_changes_the_tables() -> None:
    before = repr(TABLES["TravelAPI"])
    session = a_session(long_context=True, credit_card_list={"own": {"balance": 1000}})
    assert get_public_state(session)["credit_card_list"] == {
        "own": {"balance": 1000},
        "extra": {"balance": 2},
    }
    asked = {
        "travel_from": "LAX",
        "travel_to": "BOS",
        "travel_date": "2024-01-02",
        "travel_class": "economy",
    }
    assert json.loads(text_of(session, "get_flight_cost", **asked)) == {
        "travel_cost_list": [100.0, 300.0]
    }
    booked = json.loads(text_of(session, "book_flight", access_token="t", card_id="own", **asked))
    assert list(booked["booking_history"]) == ["b0", booked["booking_id"]]
    assert get_public_state(session)["credit_card_list"]["own"]["balance"] == 700.0
    assert (
        text_of(session, "cancel_booking", access_token="t", booking_id="b0")
        == '{"cancel_status": true}'
    )
    assert get_public_state(session)["credit_card_list"]["extra"]["balance"] == 7.0
    assert repr(TABLES["TravelAPI"]) == before
