"""Changes to a reservation, and what they cost."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Any, Final

from ..tau2_common.records import made_into, plain
from ..tau2_common.store import Record, Store
from .lookups import Lookups
from .records import FlightInfo, Passenger, Payment

_BAG: Final = 50  # dollars for each one that is not free


def cancel(store: Store, reservation_id: Any) -> Record:
    """Cancel a reservation; every payment is followed by its negation, also the second time."""
    reservation = Lookups(store).reservation(reservation_id)
    history = reservation["payment_history"]
    history += [
        {"payment_id": paid["payment_id"], "amount": -paid["amount"]} for paid in list(history)
    ]
    reservation["status"] = "cancelled"
    store.put("reservations", reservation_id, reservation)
    return reservation


def change_baggages(
    store: Store, reservation_id: Any, total: Any, nonfree: Any, payment_id: Any
) -> Record:
    """Set the numbers of bags; more that are not free are paid for, fewer are not refunded."""
    lookups = Lookups(store)
    reservation = lookups.reservation(reservation_id)
    user = lookups.user(reservation["user_id"])
    price = _BAG * max(0, nonfree - reservation["nonfree_baggages"])
    _pay(user, reservation, payment_id, price)
    reservation["total_baggages"] = total
    reservation["nonfree_baggages"] = nonfree
    return _stored(store, user, reservation)


def change_flights(
    store: Store, reservation_id: Any, cabin: Any, flights: Any, payment_id: Any
) -> Record:
    """Replace flights and cabin.

    What stays as it was keeps its price, and no seats are taken or freed.
    """
    wanted = made_into(FlightInfo, flights)
    lookups = Lookups(store)
    reservation = lookups.reservation(reservation_id)
    user = lookups.user(reservation["user_id"])
    passengers = len(reservation["passengers"])
    chosen = [
        _kept(reservation, cabin, flight) or _new(lookups, cabin, flight, passengers)
        for flight in wanted
    ]
    price = sum(flight["price"] for flight in chosen) - sum(
        flight["price"] for flight in reservation["flights"]
    )
    _pay(user, reservation, payment_id, price * passengers)
    reservation["flights"] = chosen
    reservation["cabin"] = cabin
    return _stored(store, user, reservation)


def change_passengers(store: Store, reservation_id: Any, passengers: Any) -> Record:
    """Replace the passengers by as many others."""
    named = made_into(Passenger, passengers)
    reservation = Lookups(store).reservation(reservation_id)
    if len(named) != len(reservation["passengers"]):
        raise ValueError("Number of passengers does not match")
    reservation["passengers"] = plain(named)
    store.put("reservations", reservation_id, reservation)
    return reservation


def _kept(reservation: Record, cabin: Any, flight: FlightInfo) -> Record | None:
    if cabin != reservation["cabin"]:
        return None
    asked = (flight.flight_number, flight.date)
    return next(
        (kept for kept in reservation["flights"] if (kept["flight_number"], kept["date"]) == asked),
        None,
    )


def _new(lookups: Lookups, cabin: Any, flight: FlightInfo, passengers: int) -> Record:
    day = lookups.bookable_day(flight.flight_number, flight.date, cabin, passengers)
    found = lookups.flight(flight.flight_number)
    return {
        "flight_number": flight.flight_number,
        "origin": found["origin"],
        "destination": found["destination"],
        "date": flight.date,
        "price": day["prices"][cabin],
    }


def _pay(user: Record, reservation: Record, payment_id: Any, price: Any) -> None:
    """Charge ``price``, below zero a refund.

    The method has to be a good one even if nothing is to be paid.
    """
    if payment_id not in user["payment_methods"]:
        raise ValueError("Payment method not found")
    method = user["payment_methods"][payment_id]
    if method["source"] == "certificate":
        raise ValueError("Certificate cannot be used to update reservation")
    if method["source"] == "gift_card":
        if method["amount"] < price:
            raise ValueError("Gift card balance is not enough")
        method["amount"] -= price
    if price != 0:
        reservation["payment_history"].append(
            Payment(payment_id=payment_id, amount=price).model_dump()
        )


def _stored(store: Store, user: Record, reservation: Record) -> Record:
    store.put("users", user["user_id"], user)
    store.put("reservations", reservation["reservation_id"], reservation)
    return reservation
