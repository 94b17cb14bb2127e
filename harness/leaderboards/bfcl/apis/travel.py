"""The travel agency of the leaderboard: flights, cards, insurance."""

from __future__ import annotations

import random
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

from harness.leaderboards.bfcl.apis.common import Api, Reply, Scenario, Tables, refuse_request

_AIRPORTS = (
    *("RMS", "SBK", "MPC", "SVP", "SHD", "CDG", "LHR", "SSV", "OKD", "WLB", "PEK", "HND"),
    *("HKG", "CIA", "CRH", "ATV", "PHV", "GFD", "SFO", "LAX", "JFK", "ORD", "BOS"),
)

_CLASS_FACTORS = {"economy": 1, "business": 2, "first": 5}

_DATE = "%Y-%m-%d"
_OF_AGE = 18

_BOOKING_FIELDS = (
    *("travel_date", "travel_from", "travel_to", "travel_class"),
    *("travel_cost", "transaction_id"),
)

_THANKS = (
    "Thank you for contacting customer support. Your message has been received and we will "
    "get back to you shortly."
)


class TravelAPI(Api):
    """A traveller's session: who is logged in, the cards, the bookings."""

    credit_card_list: dict[str, dict[str, Any]]
    booking_record: dict[str, dict[str, Any]]
    access_token: str | None
    token_type: str | None
    token_expires_in: int | None
    token_scope: str | None
    user_first_name: str | None
    user_last_name: str | None
    budget_limit: float | None

    def __init__(self, scenario: Scenario, tables: Tables, *, long_context: bool = False) -> None:
        """Take attributes from ``scenario``, and the others from the defaults in the tables."""
        super().__init__(scenario, tables, long_context=long_context)
        self._random = random.Random(self._initial_value("random_seed"))  # noqa: S311 -- repeatable, not secret
        if long_context:
            # Copies, since all instances share the tables, and a state may change.
            cards, bookings = deepcopy(
                (tables["CREDIT_CARD_EXTENSION"], tables["BOOKING_RECORD_EXTENSION"])
            )
            # Entries of the state come first, and win.
            self.credit_card_list = self.credit_card_list | {**cards, **self.credit_card_list}
            self.booking_record = self.booking_record | {**bookings, **self.booking_record}

    def authenticate_travel(
        self,
        client_id: str,
        client_secret: str,
        refresh_token: str,
        grant_type: str,
        user_first_name: str,
        user_last_name: str,
    ) -> Reply:
        """Log in; any credentials are accepted."""
        # Nothing counts it down, so that only a scenario has an expired token.
        self.token_expires_in = 2
        self.access_token = self._random_number(6)
        self.token_type = "Bearer"  # noqa: S105 -- a kind of token, not one
        self.token_scope = grant_type
        self.user_first_name = user_first_name
        self.user_last_name = user_last_name
        return {
            "expires_in": 2,
            "access_token": self.access_token,
            "token_type": "Bearer",
            "scope": grant_type,
        }

    def travel_get_login_status(self) -> Reply:
        """Say whether somebody is logged in."""
        return {"status": not (self.token_expires_in is None or self.token_expires_in == 0)}

    def get_budget_fiscal_year(
        self,
        lastModifiedAfter: str | None = None,  # noqa: N803 -- the leaderboard's names
        includeRemoved: str | None = None,  # noqa: N803
    ) -> Reply:
        """Return the only fiscal year."""
        return {"budget_fiscal_year": "2018"}

    def register_credit_card(
        self,
        access_token: str,
        card_number: str,
        expiration_date: str,
        cardholder_name: str,
        card_verification_number: int,
    ) -> Reply:
        """Register a card, under a random id and with a random balance."""
        refusal = self._locked_out(access_token)
        # Only here does upstream tell a token that was never made from a wrong one.
        if self.token_expires_in is None:
            refusal = "Token not initialized"
        # As upstream: the keys are ids, so that a number is hardly ever found among them.
        if refusal is None and card_number in self.credit_card_list:
            refusal = "Card already registered"
        if refusal is not None:
            return refuse_request(refusal)
        card_id = self._random_number(12)
        self.credit_card_list[card_id] = {
            "card_number": card_number,
            "expiration_date": expiration_date,
            "cardholder_name": cardholder_name,
            "card_verification_number": card_verification_number,
            "balance": int(self._random_number(5)),
        }
        return {"card_id": card_id}

    def get_credit_card_balance(self, access_token: str, card_id: str) -> Reply:
        """Return the balance of a card."""
        refusal = self._locked_out(access_token)
        if refusal is None and card_id not in self.credit_card_list:
            refusal = (
                f"Card not registered. Here are a list of card_id's: {list(self.credit_card_list)}"
            )
        if refusal is not None:
            return refuse_request(refusal)
        return {"card_balance": self.credit_card_list[card_id]["balance"]}

    def get_all_credit_cards(self) -> Reply:
        """Return all cards."""
        return {"credit_card_list": self.credit_card_list}

    def get_flight_cost(
        self, travel_from: str, travel_to: str, travel_date: str, travel_class: str
    ) -> Reply:
        """Return the fare; with long context also those of all other routes, as in the table."""
        fares = self._tables["base_costs"]
        own = fares.get((travel_from, travel_to))
        if own is None:
            raise ValueError("No available route for the given airports.")
        # Compared one by one, as upstream: a value without a hash is no class either.
        if travel_class not in list(_CLASS_FACTORS):
            raise ValueError("Invalid travel class. Options are: economy, business, first.")
        even = sum(int(digit) for digit in travel_date if digit.isdigit()) % 2 == 0
        factor = _CLASS_FACTORS[travel_class] * (2 if even else 1)
        asked = fares.values() if self.long_context else [own]
        return {"travel_cost_list": [float(fare * factor) for fare in asked]}

    def book_flight(
        self,
        access_token: str,
        card_id: str,
        travel_date: str,
        travel_from: str,
        travel_to: str,
        travel_class: str,
    ) -> Reply:
        """Book a flight and pay for it by card."""
        refusal = self._locked_out(access_token) or self._find_card_error(card_id)
        flight = (travel_date, travel_from, travel_to, travel_class)
        if refusal is None:
            refusal = _find_flight_error(*flight)
        if refusal is not None:
            return {"booking_status": False, **refuse_request(refusal)}
        try:
            cost = self._compute_fare(*flight)
        except ValueError as problem:
            return {"booking_status": False, **refuse_request(str(problem))}
        card = self.credit_card_list[card_id]
        if card["balance"] < cost:
            return {"booking_status": False, **refuse_request("Insufficient funds")}
        if self.budget_limit is not None and card["balance"] < self.budget_limit:
            return {"booking_status": False, **refuse_request("Balance is less than budget limit")}
        card["balance"] -= cost
        booking_id, transaction_id = self._random_number(7), self._random_number(8)
        self.booking_record[booking_id] = {
            "card_id": card_id,
            **dict(zip(_BOOKING_FIELDS, (*flight, cost, transaction_id), strict=True)),
        }
        return {
            "booking_id": booking_id,
            "transaction_id": transaction_id,
            "booking_status": True,
            "booking_history": self.booking_record if self.long_context else {},
        }

    def retrieve_invoice(
        self, access_token: str, booking_id: str | None = None, insurance_id: str | None = None
    ) -> Reply:
        """Return what a booking cost."""
        refusal = self._locked_out(access_token) or self._find_booking_error(booking_id)
        if refusal is not None:
            return refuse_request(refusal)
        booking = self.booking_record[str(booking_id)]
        fields = {name: booking[name] for name in _BOOKING_FIELDS}
        return {"invoice": {"booking_id": booking_id, **fields}}

    def get_booking_history(self, access_token: str) -> Reply:
        """Return all bookings."""
        refusal = self._locked_out(access_token)
        return refuse_request(refusal) if refusal else {"booking_history": self.booking_record}

    def cancel_booking(self, access_token: str, booking_id: str) -> Reply:
        """Cancel a booking and refund the money."""
        refusal = self._locked_out(access_token) or self._find_booking_error(booking_id)
        if refusal is not None:
            return {"cancel_status": False, **refuse_request(refusal)}
        booking = self.booking_record[booking_id]
        card_id, cost = booking["card_id"], booking["travel_cost"]
        self.credit_card_list[card_id]["balance"] += cost
        del self.booking_record[booking_id]
        return {"cancel_status": True}

    def list_all_airports(self) -> list[str]:
        """Return the codes of all airports."""
        return list(_AIRPORTS)

    def get_nearest_airport_by_city(self, location: str) -> Reply:
        """Return the airport of a city."""
        return {"nearest_airport": self._tables["airport_map"].get(location, "Unknown")}

    def compute_exchange_rate(
        self, base_currency: str, target_currency: str, value: float
    ) -> Reply:
        """Convert money; one of the two currencies is the dollar."""
        for (dollar, other), rate in self._tables["exchange_rates"].items():
            if (base_currency, target_currency) == (dollar, other):
                return {"exchanged_value": float(value * rate)}
            if (base_currency, target_currency) == (other, dollar):
                return {"exchanged_value": round(value / rate, 2)}
        raise ValueError("No available exchange rate for the given currencies.")

    def verify_traveler_information(
        self, first_name: str, last_name: str, date_of_birth: str, passport_number: str
    ) -> Reply:
        """Say whether somebody may travel: only the user, as an adult with an American passport."""
        failure = self._find_traveller_error(first_name, last_name, date_of_birth, passport_number)
        if failure is None:
            return {"verification_status": True}
        return {"verification_status": False, "verification_failure": failure}

    def set_budget_limit(self, access_token: str, budget_limit: float) -> Reply:
        """Set the budget."""
        refusal = self._locked_out(access_token)
        if refusal is not None:
            return refuse_request(refusal)
        self.budget_limit = float(budget_limit)
        return {"budget_limit": self.budget_limit}

    def purchase_insurance(
        self,
        access_token: str,
        insurance_type: str,
        booking_id: str,
        insurance_cost: float,
        card_id: str,
    ) -> Reply:
        """Insure a booking and pay for it by card, whatever its balance."""
        refusal = self._locked_out(access_token)
        if refusal is None and self.budget_limit is not None and self.budget_limit < insurance_cost:
            refusal = "Exceeded budget limit"
        refusal = refusal or self._find_booking_error(booking_id)
        if refusal is None and card_id not in self.credit_card_list:
            refusal = "Credit card not registered"
        if refusal is not None:
            return {"insurance_status": False, **refuse_request(refusal)}
        self.credit_card_list[card_id]["balance"] -= insurance_cost
        return {"insurance_id": self._random_number(9), "insurance_status": True}

    def contact_customer_support(self, booking_id: str, message: str) -> Reply:
        """Ask for help with a booking."""
        refusal = self._find_booking_error(booking_id)
        return refuse_request(refusal) if refusal else {"customer_support_message": _THANKS}

    def _random_number(self, digits: int) -> str:
        """Return a random number of ``digits`` digits."""
        return str(self._random.randint(10 ** (digits - 1), 10**digits - 1))

    def _compute_fare(self, date: str, origin: str, destination: str, travel_class: str) -> float:
        fares = self.get_flight_cost(origin, destination, date, travel_class)
        costs: list[float] = fares["travel_cost_list"]
        # With long context the costs are of all routes, in the order of the table.
        routes = list(self._tables["base_costs"])
        return costs[routes.index((origin, destination))] if self.long_context else costs[0]

    def _locked_out(self, access_token: str) -> str | None:
        if self.token_expires_in == 0:
            return "Token expired"
        return "Invalid access token" if access_token != self.access_token else None

    def _find_booking_error(self, booking_id: str | None) -> str | None:
        return None if booking_id in self.booking_record else "Booking not found"

    def _find_card_error(self, card_id: str) -> str | None:
        if card_id not in self.credit_card_list:
            return "Card not registered"
        return None if "balance" in self.credit_card_list[card_id] else "Balance not found"

    def _find_traveller_error(
        self, first_name: str, last_name: str, date_of_birth: str, passport_number: str
    ) -> str | None:
        if self.user_first_name != first_name or self.user_last_name != last_name:
            expected = f"{self.user_first_name} {self.user_last_name}"
            got = f"{first_name} {last_name}"
            return f"Cannot book flight information for another user.Expected {expected}, got {got}"
        try:
            born = datetime.strptime(date_of_birth, _DATE)  # noqa: DTZ007 -- a day has no zone
        except ValueError:
            return "Invalid date of birth format. Please use YYYY-MM-DD."
        # The real day, as upstream: a traveller may come of age between two runs.
        today = datetime.now(UTC)
        birthday_to_come = (today.month, today.day) < (born.month, born.day)
        if today.year - born.year - birthday_to_come < _OF_AGE:
            return "Traveler must be at least 18 years old."
        if not passport_number.startswith("US"):
            return "Passport must be issued by the United States."
        return None


def _find_flight_error(date: str, origin: str, destination: str, travel_class: str) -> str | None:
    """Return the error if the requested flight is invalid."""
    if origin not in _AIRPORTS:
        return f"Invalid departure airport code: {origin}"
    if destination not in _AIRPORTS:
        return f"Invalid destination airport code: {destination}"
    try:
        datetime.strptime(date, _DATE)  # noqa: DTZ007 -- a day has no zone
    except ValueError:
        return "Invalid date format. Use YYYY-MM-DD."
    # A set, as upstream: a value without a hash is an error of Python here.
    if travel_class not in set(_CLASS_FACTORS):
        # Upstream prints its set, in an order that varies; here the order is fixed.
        classes = "{" + ", ".join(repr(name) for name in sorted(_CLASS_FACTORS)) + "}"
        return f"Invalid travel class. Must be one of {classes}"
    return None
