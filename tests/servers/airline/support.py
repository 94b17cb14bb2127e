"""An airline of our own making, small enough to reckon with by hand."""

from typing import Any

from servers.airline.tools import AirlineTools
from tests.servers.tau2_common.support import Asked

SEATS = {"basic_economy": 5, "economy": 3, "business": 1}
PRICES = {"basic_economy": 50, "economy": 100, "business": 300}


def flight(
    number: str, origin: str, destination: str, times: tuple[str, str], *days: str
) -> dict[str, Any]:
    """Return a flight whose ``days`` can be booked.

    2024-05-14 it landed, and 2024-05-29 it is cancelled.
    """
    available = {"status": "available", "available_seats": SEATS, "prices": PRICES}
    landed = {"status": "landed", "actual_departure_time_est": "x", "actual_arrival_time_est": "y"}
    return {
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "scheduled_departure_time_est": times[0],
        "scheduled_arrival_time_est": times[1],
        "dates": {
            "2024-05-14": landed,
            **dict.fromkeys(days, available),
            "2024-05-29": {"status": "cancelled"},
        },
    }


DATABASE: dict[str, dict[str, Any]] = {
    "flights": {
        "F1": flight("F1", "JFK", "ORD", ("06:00:00", "08:00:00"), "2024-05-20", "2024-05-21"),
        "F2": flight("F2", "ORD", "SFO", ("09:00:00", "12:00:00"), "2024-05-20", "2024-05-21"),
        "F3": flight("F3", "ORD", "SFO", ("07:00:00", "10:00:00"), "2024-05-20"),
        "F4": flight("F4", "JFK", "SFO", ("10:00:00", "16:00:00"), "2024-05-20"),
        "F5": flight("F5", "JFK", "DEN", ("22:00:00", "03:00:00+1"), "2024-05-08", "2024-05-20"),
        "F6": flight("F6", "DEN", "SFO", ("04:00:00", "06:00:00"), "2024-05-09", "2024-05-21"),
    },
    "reservations": {
        "RES001": {
            "reservation_id": "RES001",
            "user_id": "ann_lee_1",
            "origin": "JFK",
            "destination": "SFO",
            "flight_type": "one_way",
            "cabin": "economy",
            "flights": [
                {
                    "origin": "JFK",
                    "destination": "SFO",
                    "flight_number": "F4",
                    "date": "2024-05-20",
                    "price": 80,
                }
            ],
            "passengers": [
                {"first_name": "Ann", "last_name": "Lee", "dob": "1990-01-01"},
                {"first_name": "Bo", "last_name": "Lee", "dob": "1991-01-01"},
            ],
            "payment_history": [{"payment_id": "gift_card_1", "amount": 160}],
            "created_at": "2024-05-01T00:00:00",
            "total_baggages": 2,
            "nonfree_baggages": 1,
            "insurance": "no",
        }
    },
    "users": {
        "ann_lee_1": {
            "user_id": "ann_lee_1",
            "name": {"first_name": "Ann", "last_name": "Lee"},
            "address": {
                "address1": "1 Rue É",
                "address2": "",
                "city": "X",
                "country": "USA",
                "state": "NY",
                "zip": "1",
            },
            "email": "ann@example.com",
            "dob": "1990-01-01",
            "payment_methods": {
                "credit_card_1": {
                    "source": "credit_card",
                    "brand": "visa",
                    "last_four": "1111",
                    "id": "credit_card_1",
                },
                "gift_card_1": {"source": "gift_card", "amount": 200, "id": "gift_card_1"},
                "certificate_1": {"source": "certificate", "amount": 150, "id": "certificate_1"},
            },
            "saved_passengers": [],
            "membership": "gold",
            "reservations": ["RES001"],
        }
    },
}

BOOKING: dict[str, Any] = {
    "user_id": "ann_lee_1",
    "origin": "JFK",
    "destination": "SFO",
    "flight_type": "one_way",
    "cabin": "economy",
    "flights": [
        {"flight_number": "F1", "date": "2024-05-20"},
        {"flight_number": "F2", "date": "2024-05-20"},
    ],
    "passengers": [{"first_name": "Ann", "last_name": "Lee", "dob": "1990-01-01"}],
    "payment_methods": [
        {"payment_id": "certificate_1", "amount": 150},
        {"payment_id": "gift_card_1", "amount": 130},
    ],
    "total_baggages": 2,
    "nonfree_baggages": 1,
    "insurance": "yes",
}
"""Two flights at 100, insurance 30, one bag 50: 280."""


class Airline(Asked):
    """The small airline."""

    tools: AirlineTools

    def __init__(self) -> None:
        super().__init__(AirlineTools(DATABASE))
