"""A new reservation: everything is checked first, then paid for, then stored."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..tau2_common.records import made_into
from ..tau2_common.store import Record, Store
from .lookups import Lookups
from .records import FlightInfo, Passenger, Payment, Reservation

NOW: Final = "2024-05-15T15:00:00"
"""The time at which the airline stands still."""

_NEW_IDS: Final = ("HATHAT", "HATHAU", "HATHAV")
_INSURANCE: Final = 30  # dollars for each passenger
_BAG: Final = 50  # dollars for each one that is not free


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What was asked for, as it came."""

    user_id: Any
    origin: Any
    destination: Any
    flight_type: Any
    cabin: Any
    flights: Any
    passengers: Any
    payment_methods: Any
    total_baggages: Any
    nonfree_baggages: Any
    insurance: Any


def book(store: Store, request: Request) -> Record:
    """Make a reservation, pay for it and return it.

    Raises:
        ValueError: it cannot be made (`pydantic.ValidationError` is one).
        KeyError: there is no such cabin; or a certificate is to pay twice and is gone the second
            time.
    """
    lookups = Lookups(store)
    flights = made_into(FlightInfo, request.flights)
    passengers = made_into(Passenger, request.passengers)
    payments = made_into(Payment, request.payment_methods)
    user = lookups.user(request.user_id)
    reservation = Reservation(
        reservation_id=_new_id(store),
        user_id=request.user_id,
        origin=request.origin,
        destination=request.destination,
        flight_type=request.flight_type,
        cabin=request.cabin,
        flights=[],
        passengers=passengers,
        payment_history=payments,
        created_at=NOW,
        total_baggages=request.total_baggages,
        nonfree_baggages=request.nonfree_baggages,
        insurance=request.insurance,
    )
    total = 0
    for flight in flights:
        day = lookups.bookable_day(
            flight.flight_number, flight.date, request.cabin, len(passengers)
        )
        price = day["prices"][request.cabin]
        reservation.flights.append(_flown(lookups.flight(flight.flight_number), flight.date, price))
        total += price * len(passengers)
    if request.insurance == "yes":
        total += _INSURANCE * len(passengers)
    total += _BAG * request.nonfree_baggages
    _check_payments(user, payments, total)
    _pay(store, user, payments)
    _take_seats(lookups, reservation)
    made = reservation.model_dump()
    store.put("reservations", reservation.reservation_id, made)
    user["reservations"].append(reservation.reservation_id)
    store.put("users", reservation.user_id, user)
    return made


def _new_id(store: Store) -> str:
    free = next(
        (candidate for candidate in _NEW_IDS if store.get("reservations", candidate) is None), None
    )
    if free is None:
        raise ValueError("Too many reservations")
    return free


def _flown(flight: Record, date: str, price: int) -> Record:
    return {
        "flight_number": flight["flight_number"],
        "origin": flight["origin"],
        "destination": flight["destination"],
        "date": date,
        "price": price,
    }


def _check_payments(user: Record, payments: Sequence[Payment], total: float) -> None:
    for payment in payments:
        if payment.payment_id not in user["payment_methods"]:
            raise ValueError(f"Payment method {payment.payment_id} not found")
        method = user["payment_methods"][payment.payment_id]
        if method["source"] in ("gift_card", "certificate") and method["amount"] < payment.amount:
            raise ValueError(f"Not enough balance in payment method {payment.payment_id}")
    paid = sum(payment.amount for payment in payments)
    if paid != total:
        raise ValueError(f"Payment amount does not add up, total price is {total}, but paid {paid}")


def _pay(store: Store, user: Record, payments: Sequence[Payment]) -> None:
    methods = user["payment_methods"]
    try:
        for payment in payments:
            method = methods[payment.payment_id]
            if method["source"] == "gift_card":
                method["amount"] -= payment.amount
            elif method["source"] == "certificate":
                del methods[payment.payment_id]
    finally:
        store.put(
            "users", user["user_id"], user
        )  # a certificate that is named twice fails here, and is gone


def _take_seats(lookups: Lookups, reservation: Reservation) -> None:
    for booked in reservation.flights:
        flight = lookups.flight(booked["flight_number"])
        flight["dates"][booked["date"]]["available_seats"][reservation.cabin] -= len(
            reservation.passengers
        )
        lookups.store.put("flights", booked["flight_number"], flight)
