"""Output schemas of the airline's tools that return a record."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ..tau2_common.shapes import (
    ADDRESS,
    CREDIT_CARD,
    INTEGER,
    NAME,
    NUMBER,
    TEXT,
    Schema,
    by_id,
    either,
    listed,
    one_of,
    or_null,
    record,
)

_PASSENGER: Final = record(first_name=TEXT, last_name=TEXT, dob=TEXT)
_CREDIT: Final = record(source=one_of("gift_card", "certificate"), id=TEXT, amount=NUMBER)

_USER: Final = record(
    user_id=TEXT,
    name=NAME,
    address=ADDRESS,
    email=TEXT,
    dob=TEXT,
    payment_methods=by_id(either(CREDIT_CARD, _CREDIT)),
    saved_passengers=listed(_PASSENGER),
    membership=one_of("gold", "silver", "regular"),
    reservations=listed(TEXT),
)
_RESERVATION: Final = record(
    reservation_id=TEXT,
    user_id=TEXT,
    origin=TEXT,
    destination=TEXT,
    flight_type=one_of("round_trip", "one_way"),
    cabin=one_of("business", "economy", "basic_economy"),
    flights=listed(
        record(flight_number=TEXT, origin=TEXT, destination=TEXT, date=TEXT, price=INTEGER)
    ),
    passengers=listed(_PASSENGER),
    payment_history=listed(record(payment_id=TEXT, amount=INTEGER)),
    created_at=TEXT,
    total_baggages=INTEGER,
    nonfree_baggages=INTEGER,
    insurance=one_of("yes", "no"),
    status=or_null(one_of("cancelled")),
)

OUTPUTS: Final[Mapping[str, Schema]] = {
    "get_user_details": _USER,
    "get_reservation_details": _RESERVATION,
    "book_reservation": _RESERVATION,
    "cancel_reservation": _RESERVATION,
    "update_reservation_baggages": _RESERVATION,
    "update_reservation_flights": _RESERVATION,
    "update_reservation_passengers": _RESERVATION,
}
"""Tool → the schema of its result; tools whose result is a text or a list have none."""
