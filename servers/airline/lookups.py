"""Look-ups in the airline's data; a missing record gives a message."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from typing import Any

from ..tau2_common.store import Record, Store


class Lookups:
    """Finds records; every method raises `ValueError` for one that does not exist."""

    def __init__(self, store: Store) -> None:
        """Look into ``store``."""
        self.store = store

    def user(self, user_id: Any) -> Record:
        """Return a user."""
        return self._found("users", user_id, f"User {user_id} not found")

    def reservation(self, reservation_id: Any) -> Record:
        """Return a reservation."""
        return self._found(
            "reservations", reservation_id, f"Reservation {reservation_id} not found"
        )

    def flight(self, flight_number: Any) -> Record:
        """Return a flight with all its days."""
        return self._found("flights", flight_number, f"Flight {flight_number} not found")

    def day(self, flight_number: Any, date: Any) -> Record:
        """Return a flight's day."""
        flight = self.flight(flight_number)
        if date not in flight["dates"]:
            raise ValueError(f"Flight {flight_number} not found on date {date}")
        day: Record = flight["dates"][date]
        return day

    def bookable_day(self, flight_number: Any, date: Any, cabin: Any, seats: int) -> Record:
        """Return a flight's day that has so many seats left in the cabin."""
        day = self.day(flight_number, date)
        if day["status"] != "available":
            raise ValueError(f"Flight {flight_number} not available on date {date}")
        if day["available_seats"][cabin] < seats:
            raise ValueError(f"Not enough seats on flight {flight_number}")
        return day

    def _found(self, collection: str, key: Any, otherwise: str) -> Record:
        record = self.store.get(collection, key)
        if record is None:
            raise ValueError(otherwise)
        return record
