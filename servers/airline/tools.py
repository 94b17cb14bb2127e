"""The airline's tools by name: their parameters in order, and their implementation.

Parameters are `Any`: arguments come from a model, unchecked, and the model reads Python's error for
a wrong one. Names and order of classes, methods and parameters are part of those errors.
"""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from mcp_types import ToolAnnotations

from ..common.hints import ADDS, CHANGES, READS
from ..tau2_common.calculator import calculate
from ..tau2_common.shapes import Schema
from ..tau2_common.store import Record, Store
from . import booking, changes, search
from .lookups import Lookups
from .records import Certificate, canonical
from .results import OUTPUTS

_NEW_CERTIFICATES: Final = ("certificate_3221322", "certificate_3221323", "certificate_3221324")


class AirlineTools:
    """Every tool a method, over a database of its own."""

    HINTS: ClassVar[Mapping[str, ToolAnnotations]] = {
        "book_reservation": ADDS,
        "calculate": READS,
        "cancel_reservation": CHANGES,
        "get_reservation_details": READS,
        "get_user_details": READS,
        "list_all_airports": READS,
        "search_direct_flight": READS,
        "search_onestop_flight": READS,
        "send_certificate": ADDS,
        "transfer_to_human_agents": ADDS,
        "update_reservation_baggages": CHANGES,
        "update_reservation_flights": CHANGES,
        "update_reservation_passengers": CHANGES,
        "get_flight_status": READS,
    }

    OUTPUTS: ClassVar[Mapping[str, Schema]] = OUTPUTS

    def __init__(self, database: Mapping[str, Mapping[str, Record]]) -> None:
        """Load ``database``, as the file has it."""
        self.store = Store(canonical(database), {"flights": ("origin", "destination")})
        self._lookups = Lookups(self.store)

    def calculate(self, expression: Any) -> str:
        """Return the value of an arithmetic expression."""
        return calculate(expression)

    def transfer_to_human_agents(self, summary: Any) -> str:
        """Hand the customer over."""
        return "Transfer successful"

    def get_user_details(self, user_id: Any) -> Record:
        """Return a user."""
        return self._lookups.user(user_id)

    def get_reservation_details(self, reservation_id: Any) -> Record:
        """Return a reservation."""
        return self._lookups.reservation(reservation_id)

    def get_flight_status(self, flight_number: Any, date: Any) -> str:
        """Return the status of a flight's day."""
        return str(self._lookups.day(flight_number, date)["status"])

    def list_all_airports(self) -> list[Record]:
        """Return every airport with its city."""
        return [{"iata": code, "city": city} for code, city in search.AIRPORTS]

    def search_direct_flight(self, origin: Any, destination: Any, date: Any) -> list[Record]:
        """Return the flights from here to there that can be booked."""
        return search.direct(self.store, origin, destination, date)

    def search_onestop_flight(self, origin: Any, destination: Any, date: Any) -> list[list[Record]]:
        """Return the pairs of flights from here to there that can be booked."""
        return search.one_stop(self.store, origin, destination, date)

    def book_reservation(  # noqa: PLR0913, PLR0917 - the tool takes as much
        self,
        user_id: Any,
        origin: Any,
        destination: Any,
        flight_type: Any,
        cabin: Any,
        flights: Any,
        passengers: Any,
        payment_methods: Any,
        total_baggages: Any,
        nonfree_baggages: Any,
        insurance: Any,
    ) -> Record:
        """Make a reservation and pay for it."""
        request = booking.Request(
            user_id=user_id,
            origin=origin,
            destination=destination,
            flight_type=flight_type,
            cabin=cabin,
            flights=flights,
            passengers=passengers,
            payment_methods=payment_methods,
            total_baggages=total_baggages,
            nonfree_baggages=nonfree_baggages,
            insurance=insurance,
        )
        return booking.book(self.store, request)

    def cancel_reservation(self, reservation_id: Any) -> Record:
        """Cancel a whole reservation."""
        return changes.cancel(self.store, reservation_id)

    def send_certificate(self, user_id: Any, amount: Any) -> str:
        """Give a user a certificate."""
        user = self._lookups.user(user_id)
        methods = user["payment_methods"]
        free = next(
            (candidate for candidate in _NEW_CERTIFICATES if candidate not in methods), None
        )
        if free is None:
            raise ValueError("Too many certificates")
        methods[free] = Certificate(source="certificate", id=free, amount=amount).model_dump()
        self.store.put("users", user_id, user)
        return f"Certificate {free} added to user {user_id} with amount {amount}."

    def update_reservation_baggages(
        self, reservation_id: Any, total_baggages: Any, nonfree_baggages: Any, payment_id: Any
    ) -> Record:
        """Set the numbers of bags of a reservation."""
        return changes.change_baggages(
            self.store, reservation_id, total_baggages, nonfree_baggages, payment_id
        )

    def update_reservation_flights(
        self, reservation_id: Any, cabin: Any, flights: Any, payment_id: Any
    ) -> Record:
        """Replace flights and cabin of a reservation."""
        return changes.change_flights(self.store, reservation_id, cabin, flights, payment_id)

    def update_reservation_passengers(self, reservation_id: Any, passengers: Any) -> Record:
        """Replace the passengers of a reservation."""
        return changes.change_passengers(self.store, reservation_id, passengers)
