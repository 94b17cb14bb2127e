"""Search for flights between two airports."""

# ruff: noqa: TID252  # the package also travels inside another one, under another absolute name

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..tau2_common.store import Record, Store

AIRPORTS: Final = (
    ("SFO", "San Francisco"), ("JFK", "New York"), ("LAX", "Los Angeles"), ("ORD", "Chicago"),
    ("DFW", "Dallas"), ("DEN", "Denver"), ("SEA", "Seattle"), ("ATL", "Atlanta"), ("MIA", "Miami"),
    ("BOS", "Boston"), ("PHX", "Phoenix"), ("IAH", "Houston"), ("LAS", "Las Vegas"),
    ("MCO", "Orlando"), ("EWR", "Newark"), ("CLT", "Charlotte"), ("MSP", "Minneapolis"),
    ("DTW", "Detroit"), ("PHL", "Philadelphia"), ("LGA", "LaGuardia"),
)  # fmt: skip

_NEXT_DAY: Final = "+1"
"""Ends the arrival time of a flight that lands after midnight."""


def direct(store: Store, origin: Any, destination: Any, date: Any) -> list[Record]:
    """Return the flights that can be booked; they do not repeat the date that was asked for."""
    return [
        _leg(flight, date, None)
        for flight in store.find("flights", origin=origin, destination=destination)
        if _is_available(flight, date)
    ]


def one_stop(store: Store, origin: Any, destination: Any, date: Any) -> list[list[Record]]:
    """Return the bookable pairs of flights where the second leaves after the first lands.

    Times are compared as text. A second flight on the next day is looked for under a date whose day
    has no leading zero, so that one is found in the second half of a month only.
    """
    pairs = []
    for first in store.find("flights", origin=origin):
        if not _is_available(first, date):
            continue
        lands = first["scheduled_arrival_time_est"]
        second_date = f"2024-05-{int(date[-2:]) + 1}" if _NEXT_DAY in lands else date
        pairs += [
            [_leg(first, date, date), _leg(second, second_date, second_date)]
            for second in _onward(store, first["destination"], destination, second_date)
            if second["scheduled_departure_time_est"] >= lands
        ]
    return pairs


def _onward(store: Store, origin: str, destination: Any, date: str) -> Iterator[Record]:
    flights = store.find("flights", origin=origin, destination=destination)
    return (flight for flight in flights if _is_available(flight, date))


def _is_available(flight: Record, date: Any) -> bool:
    return date in flight["dates"] and flight["dates"][date]["status"] == "available"


def _leg(flight: Record, date: str, shown_date: str | None) -> Record:
    day = flight["dates"][date]
    return {
        "flight_number": flight["flight_number"],
        "origin": flight["origin"],
        "destination": flight["destination"],
        "status": "available",
        "scheduled_departure_time_est": flight["scheduled_departure_time_est"],
        "scheduled_arrival_time_est": flight["scheduled_arrival_time_est"],
        "date": shown_date,
        "available_seats": day["available_seats"],
        "prices": day["prices"],
    }
