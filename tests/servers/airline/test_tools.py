"""The airline's tools, one by one, on an airline of our own making."""

import json
from typing import Any

import pytest

from tests.servers.airline.support import BOOKING, PRICES, SEATS, Airline


@pytest.fixture
def airline() -> Airline:
    return Airline()


def test_a_record_is_one_line_of_json_in_the_order_of_its_fields(airline: Airline) -> None:
    user = airline.good("get_user_details", user_id="ann_lee_1")
    assert '"address1": "1 Rue \\u00c9"' in user
    assert '{"source": "gift_card", "id": "gift_card_1", "amount": 200.0}' in user
    assert (
        '{"source": "credit_card", "id": "credit_card_1", "brand": "visa", "last_four": "1111"}'
        in user
    )
    booked = airline.good("get_reservation_details", reservation_id="RES001")
    assert (
        '{"flight_number": "F4", "origin": "JFK", "destination": "SFO", "date": "2024-05-20", '
        '"price": 80}'
    ) in booked
    assert booked.endswith('"insurance": "no", "status": null}')


@pytest.mark.parametrize(
    ("date", "status"), [("2024-05-14", "landed"), ("2024-05-20", "available")]
)
def test_a_status_is_bare_text(airline: Airline, date: str, status: str) -> None:
    assert airline.good("get_flight_status", flight_number="F1", date=date) == status


def test_airports_come_in_their_order(airline: Airline) -> None:
    listed = json.loads(airline.good("list_all_airports"))
    assert listed[0] == {"iata": "SFO", "city": "San Francisco"}
    assert listed[-1] == {"iata": "LGA", "city": "LaGuardia"}
    assert len(listed) == 20


def test_a_direct_flight_does_not_repeat_the_date(airline: Airline) -> None:
    found = json.loads(
        airline.good("search_direct_flight", origin="JFK", destination="SFO", date="2024-05-20")
    )
    assert found == [
        {
            "flight_number": "F4",
            "origin": "JFK",
            "destination": "SFO",
            "status": "available",
            "scheduled_departure_time_est": "10:00:00",
            "scheduled_arrival_time_est": "16:00:00",
            "date": None,
            "available_seats": SEATS,
            "prices": PRICES,
        }
    ]


@pytest.mark.parametrize(
    "asked",
    [
        {"origin": "JFK", "destination": "XXX", "date": "2024-05-20"},
        {"origin": "JFK", "destination": "SFO", "date": "2024-06-20"},
        {"origin": "JFK", "destination": "SFO", "date": "2024-05-14"},
        {"origin": 7, "destination": "SFO", "date": "2024-05-20"},
    ],
)
def test_no_flight_is_an_empty_list(airline: Airline, asked: dict[str, Any]) -> None:
    assert airline.good("search_direct_flight", **asked) == "[]"
    assert airline.good("search_onestop_flight", **asked) == "[]"


def test_a_second_flight_leaves_after_the_first_lands_or_on_the_next_day(airline: Airline) -> None:
    found = json.loads(
        airline.good("search_onestop_flight", origin="JFK", destination="SFO", date="2024-05-20")
    )
    assert [[(leg["flight_number"], leg["date"]) for leg in pair] for pair in found] == [
        [("F1", "2024-05-20"), ("F2", "2024-05-20")],
        [("F5", "2024-05-20"), ("F6", "2024-05-21")],
    ]


def test_a_next_day_below_ten_is_never_found(airline: Airline) -> None:
    assert (
        airline.good("search_onestop_flight", origin="JFK", destination="SFO", date="2024-05-08")
        == "[]"
    )


def test_a_booking_is_priced_paid_and_stored(airline: Airline) -> None:
    made = json.loads(airline.good("book_reservation", **BOOKING))
    assert made["reservation_id"] == "HATHAT"
    assert made["created_at"] == "2024-05-15T15:00:00"
    assert made["status"] is None
    assert [flight["price"] for flight in made["flights"]] == [100, 100]
    assert json.loads(airline.good("get_reservation_details", reservation_id="HATHAT")) == made
    user = json.loads(airline.good("get_user_details", user_id="ann_lee_1"))
    assert user["reservations"] == ["RES001", "HATHAT"]
    assert "certificate_1" not in user["payment_methods"]  # whatever is left on it
    assert user["payment_methods"]["gift_card_1"]["amount"] == 70.0
    found = json.loads(
        airline.good("search_direct_flight", origin="JFK", destination="ORD", date="2024-05-20")
    )
    assert found[0]["available_seats"]["economy"] == 2


def test_every_passenger_pays_seat_and_insurance_and_a_bag_is_paid_once(airline: Airline) -> None:
    two = {**BOOKING, "passengers": BOOKING["passengers"] * 2}
    paid = [{"payment_id": "credit_card_1", "amount": 2 * (100 + 100) + 2 * 30 + 50}]
    made = json.loads(airline.good("book_reservation", **{**two, "payment_methods": paid}))
    assert made["payment_history"] == paid
    found = json.loads(
        airline.good("search_direct_flight", origin="JFK", destination="ORD", date="2024-05-20")
    )
    assert found[0]["available_seats"]["economy"] == 1


def test_ids_of_reservations_run_out(airline: Airline) -> None:
    free = {
        **BOOKING,
        "flights": [],
        "insurance": "no",
        "nonfree_baggages": 0,
        "payment_methods": [],
    }
    assert [
        json.loads(airline.good("book_reservation", **free))["reservation_id"] for _ in range(3)
    ] == [
        "HATHAT",
        "HATHAU",
        "HATHAV",
    ]
    assert airline.refusal("book_reservation", **free) == "Too many reservations"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"user_id": "nobody"}, "User nobody not found"),
        ({"user_id": None}, "User None not found"),
        ({"user_id": ["ann"]}, "unhashable type: 'list'"),
        ({"flights": [{"flight_number": "F9", "date": "2024-05-20"}]}, "Flight F9 not found"),
        (
            {"flights": [{"flight_number": "F1", "date": "2024-05-30"}]},
            "Flight F1 not found on date 2024-05-30",
        ),
        (
            {"flights": [{"flight_number": "F1", "date": "2024-05-14"}]},
            "Flight F1 not available on date 2024-05-14",
        ),
        ({"flights": None}, "'NoneType' object is not iterable"),
        ({"flights": ["F1"]}, "'str' object has no attribute 'flight_number'"),
        (
            {"cabin": "business", "passengers": BOOKING["passengers"] * 2},
            "Not enough seats on flight F1",
        ),
        (
            {"payment_methods": [{"payment_id": "nothing", "amount": 280}]},
            "Payment method nothing not found",
        ),
        (
            {"payment_methods": [{"payment_id": "gift_card_1", "amount": 280}]},
            "Not enough balance in payment method gift_card_1",
        ),
        (
            {"payment_methods": [{"payment_id": "credit_card_1", "amount": 279}]},
            "Payment amount does not add up, total price is 280, but paid 279",
        ),
    ],
)
def test_a_booking_is_refused_in_these_words(
    airline: Airline, change: dict[str, Any], message: str
) -> None:
    assert airline.refusal("book_reservation", **{**BOOKING, **change}) == message


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (
            {"passengers": [{"first_name": "A"}]},
            [
                "2 validation errors for Passenger\nlast_name\n  Field required [type=missing",
                "input_value={'first_name': 'A'}, input_type=dict]",
                "\ndob\n  Field required [type=missing",
            ],
        ),
        (
            {"payment_methods": [{"payment_id": "gift_card_1", "amount": 1.5}]},
            [
                (
                    "1 validation error for Payment\namount\n  Input should be a valid integer, "
                    "got a "
                    "number with a frac"
                )
            ],
        ),
        (
            {"payment_methods": [{"payment_id": "gift_card_1", "amount": "x"}]},
            [
                (
                    "Input should be a valid integer, unable to parse string as an integer "
                    "[type=int_parsing"
                )
            ],
        ),
        (
            {"flights": [{"flight_number": 1, "date": "2024-05-20"}]},
            ["for FlightInfo", "Input should be a valid str"],
        ),
        (
            {"cabin": "first"},
            ["for Reservation\ncabin\n  Input should be 'business', 'economy' or 'basic_economy'"],
        ),
        (
            {"flight_type": "x", "insurance": 1},
            ["2 validation errors for Reservation\nflight_type\n", "\ninsurance\n"],
        ),
    ],
)
def test_what_makes_no_record_is_told_field_by_field(
    airline: Airline, change: dict[str, Any], parts: list[str]
) -> None:
    message = airline.refusal("book_reservation", **{**BOOKING, **change})
    assert all(part in message for part in parts), message


def test_unknown_keys_are_dropped_and_numbers_made_whole(airline: Airline) -> None:
    odd = [{"payment_id": "credit_card_1", "amount": "280", "note": "dropped"}]
    made = json.loads(
        airline.good(
            "book_reservation", **{**BOOKING, "payment_methods": odd, "total_baggages": True}
        )
    )
    assert made["payment_history"] == [{"payment_id": "credit_card_1", "amount": 280}]
    assert made["total_baggages"] == 1


def test_a_certificate_that_pays_twice_is_gone_and_the_booking_fails(airline: Airline) -> None:
    twice = [{"payment_id": "certificate_1", "amount": 140}] * 2
    assert airline.ask("book_reservation", **{**BOOKING, "payment_methods": twice}) == (
        "Error: 'certificate_1'",
        True,
    )
    user = json.loads(airline.good("get_user_details", user_id="ann_lee_1"))
    assert "certificate_1" not in user["payment_methods"]
    assert user["reservations"] == ["RES001"]


def test_each_cancellation_negates_everything_before(airline: Airline) -> None:
    first = json.loads(airline.good("cancel_reservation", reservation_id="RES001"))
    assert first["status"] == "cancelled"
    assert [paid["amount"] for paid in first["payment_history"]] == [160, -160]
    second = json.loads(airline.good("cancel_reservation", reservation_id="RES001"))
    assert [paid["amount"] for paid in second["payment_history"]] == [160, -160, -160, 160]
    user = json.loads(airline.good("get_user_details", user_id="ann_lee_1"))
    assert user["payment_methods"]["gift_card_1"]["amount"] == 200.0  # nothing is refunded


def test_certificates_are_numbered_and_run_out(airline: Airline) -> None:
    asked = {"user_id": "ann_lee_1", "amount": 100}
    first = airline.good("send_certificate", **asked)
    assert first == "Certificate certificate_3221322 added to user ann_lee_1 with amount 100."
    user = airline.good("get_user_details", user_id="ann_lee_1")
    assert '{"source": "certificate", "id": "certificate_3221322", "amount": 100.0}' in user
    airline.good("send_certificate", **asked)
    airline.good("send_certificate", **asked)
    assert airline.refusal("send_certificate", **asked) == "Too many certificates"


def test_more_bags_are_paid_for_and_fewer_are_not_refunded(airline: Airline) -> None:
    more = {
        "reservation_id": "RES001",
        "total_baggages": 4,
        "nonfree_baggages": 3,
        "payment_id": "gift_card_1",
    }
    changed = json.loads(airline.good("update_reservation_baggages", **more))
    assert changed["payment_history"][-1] == {"payment_id": "gift_card_1", "amount": 100}
    user = json.loads(airline.good("get_user_details", user_id="ann_lee_1"))
    assert user["payment_methods"]["gift_card_1"]["amount"] == 100.0
    fewer = json.loads(
        airline.good("update_reservation_baggages", **{**more, "nonfree_baggages": 0})
    )
    assert len(fewer["payment_history"]) == 2
    assert fewer["nonfree_baggages"] == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reservation_id": "NONE"}, "Reservation NONE not found"),
        ({"payment_id": "nothing"}, "Payment method not found"),
        ({"payment_id": "certificate_1"}, "Certificate cannot be used to update reservation"),
        ({"nonfree_baggages": 6}, "Gift card balance is not enough"),
        ({"nonfree_baggages": None}, "unsupported operand type(s) for -: 'NoneType' and 'int'"),
    ],
)
def test_bags_are_refused_in_these_words(
    airline: Airline, change: dict[str, Any], message: str
) -> None:
    asked = {
        "reservation_id": "RES001",
        "total_baggages": 9,
        "nonfree_baggages": 1,
        "payment_id": "gift_card_1",
    }
    assert airline.refusal("update_reservation_baggages", **{**asked, **change}) == message


def test_a_flight_that_stays_keeps_its_price_and_a_dearer_one_is_paid_for(airline: Airline) -> None:
    kept = [{"flight_number": "F4", "date": "2024-05-20"}]
    asked = {"reservation_id": "RES001", "flights": kept, "payment_id": "credit_card_1"}
    same = json.loads(airline.good("update_reservation_flights", cabin="economy", **asked))
    assert (same["flights"][0]["price"], len(same["payment_history"])) == (80, 1)
    cheaper = json.loads(airline.good("update_reservation_flights", cabin="basic_economy", **asked))
    assert cheaper["cabin"] == "basic_economy"
    assert cheaper["payment_history"][-1] == {"payment_id": "credit_card_1", "amount": -60}
    found = json.loads(
        airline.good("search_direct_flight", origin="JFK", destination="SFO", date="2024-05-20")
    )
    assert found[0]["available_seats"] == SEATS  # no seats are taken or freed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reservation_id": "NONE"}, "Reservation NONE not found"),
        ({"cabin": "first"}, "'first'"),
        ({"cabin": "business"}, "Not enough seats on flight F4"),
        ({"flights": [{"flight_number": "F9", "date": "2024-05-20"}]}, "Flight F9 not found"),
        (
            {"flights": [{"flight_number": "F4", "date": "2024-05-29"}]},
            "Flight F4 not available on date 2024-05-29",
        ),
        ({"payment_id": "certificate_1"}, "Certificate cannot be used to update reservation"),
        (
            {"flights": [{"flight_number": f, "date": "2024-05-20"} for f in ("F1", "F2", "F1")]},
            "Gift card balance is not enough",
        ),
    ],
)
def test_other_flights_are_refused_in_these_words(
    airline: Airline, change: dict[str, Any], message: str
) -> None:
    asked = {
        "reservation_id": "RES001",
        "cabin": "economy",
        "flights": [{"flight_number": "F4", "date": "2024-05-20"}],
        "payment_id": "gift_card_1",
    }
    assert airline.refusal("update_reservation_flights", **{**asked, **change}) == message


def test_passengers_are_replaced_by_as_many(airline: Airline) -> None:
    two = [
        {"first_name": name, "last_name": "Z", "dob": "2000-01-01", "seat": 4}
        for name in ("P", "Q")
    ]
    changed = json.loads(
        airline.good("update_reservation_passengers", reservation_id="RES001", passengers=two)
    )
    assert changed["passengers"][0] == {"first_name": "P", "last_name": "Z", "dob": "2000-01-01"}
    refused = airline.refusal(
        "update_reservation_passengers", reservation_id="RES001", passengers=two[:1]
    )
    assert refused == "Number of passengers does not match"


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("think", {"thought": "x"}, "Tool 'think' not found."),
        (
            "get_user_details",
            {},
            "AirlineTools.get_user_details() missing 1 required positional argument: 'user_id'",
        ),
        (
            "get_flight_status",
            {},
            (
                "AirlineTools.get_flight_status() missing 2 required positional arguments: "
                "'flight_number' and 'date'"
            ),
        ),
        (
            "search_direct_flight",
            {},
            (
                "AirlineTools.search_direct_flight() missing 3 required positional arguments: "
                "'origin', 'destination', and 'date'"
            ),
        ),
        (
            "get_user_details",
            {"id": 1},
            "AirlineTools.get_user_details() got an unexpected keyword argument 'id'",
        ),
        (
            "get_flight_status",
            {"flight_number": "F1", "date": "x"},
            "Flight F1 not found on date x",
        ),
        ("get_flight_status", {"flight_number": "F9", "date": "x"}, "Flight F9 not found"),
        ("store", {}, "Tool 'store' not found."),
        ("__init__", {"database": {}}, "Tool '__init__' not found."),
    ],
)
def test_a_call_that_is_none_is_told_why(
    airline: Airline, tool: str, arguments: dict[str, Any], message: str
) -> None:
    assert airline.refusal(tool, **arguments) == message


def test_handing_over_changes_nothing(airline: Airline) -> None:
    before = airline.tools.store.digest()
    assert airline.good("transfer_to_human_agents", summary="x") == "Transfer successful"
    assert airline.tools.store.digest() == before
