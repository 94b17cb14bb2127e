"""The airline's records as the tools check them, and the form in which the database keeps them."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel

from ..tau2_common.records import ordered
from ..tau2_common.store import Record


class FlightInfo(BaseModel):
    """A flight that is asked for."""

    flight_number: str
    date: str


class Passenger(BaseModel):
    """Somebody who flies."""

    first_name: str
    last_name: str
    dob: str


class Payment(BaseModel):
    """An amount and what pays it, in whole dollars."""

    payment_id: str
    amount: int


class Certificate(BaseModel):
    """A travel certificate among a user's payment methods."""

    source: Literal["certificate"]
    id: str
    amount: float


class Reservation(BaseModel):
    """A reservation in the making; its flights are added once they are found."""

    reservation_id: str
    user_id: str
    origin: str
    destination: str
    flight_type: Literal["round_trip", "one_way"]
    cabin: Literal["business", "economy", "basic_economy"]
    flights: list[dict[str, Any]]
    passengers: list[Passenger]
    payment_history: list[Payment]
    created_at: str
    total_baggages: int
    nonfree_baggages: int
    insurance: Literal["yes", "no"]
    status: Literal["cancelled"] | None = None


def canonical(database: Mapping[str, Mapping[str, Record]]) -> dict[str, dict[str, Record]]:
    """Return the database of the file in the form in which it is printed and hashed."""
    return {
        "flights": dict(database["flights"]),
        "users": {key: _user(user) for key, user in database["users"].items()},
        "reservations": {
            key: _reservation(booked) for key, booked in database["reservations"].items()
        },
    }


def _user(user: Record) -> Record:
    return {
        **user,
        "payment_methods": {
            key: _method(method) for key, method in user["payment_methods"].items()
        },
    }


def _method(method: Record) -> Record:
    if "amount" in method:
        method = {**method, "amount": float(method["amount"])}
    return ordered(method, "source", "id")


def _reservation(reservation: Record) -> Record:
    flights = [ordered(flight, "flight_number") for flight in reservation["flights"]]
    whole = {**reservation, "flights": flights}
    return {
        **{key: value for key, value in whole.items() if key != "status"},
        "status": whole.get("status"),
    }
