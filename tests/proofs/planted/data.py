"""The clinic's records: people who do not exist, made from a number."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Record: TypeAlias = Mapping[str, Any]
"""One record, all its fields."""

WARDS = ("north", "south", "east")
"""Where patients lie."""

_GIVEN = (
    "Alma Bruno Chidi Dalia Emre Freya Goran Hilda Idris Jana Kofi Lena Milos Nadia Otto Priya "
    "Quentin Rosa Sami Tilda Umar Vera Wanda Xenia Yusuf Zora"
).split()
_FAMILY = (
    "Abara Bergmann Castellan Dimitrov Eriksen Fontaine Gallardo Haddad Ivanova Jankowski "
    "Kowalczyk Lindqvist Moreau Novotny Olufsen Papadakis Quintero Rasmussen Silvestri Takahashi "
    "Uribe Valkonen Wojcik Xanthos Yamamoto Zielinski"
).split()
_DIAGNOSES = (
    "acute inflammation of the appendix",
    "fracture of the left collarbone",
    "chronic obstruction of the airways",
    "torn ligament in the right knee",
    "migraine with visual disturbance",
    "insulin dependent diabetes, badly controlled",
    "bacterial infection of the kidneys",
    "irregular heartbeat after surgery",
)
_NOTES = (
    "Asked that the family in {city} is not told before {day} at the earliest.",
    "Was found unconscious near the station of {city} on a {day} evening.",
    "Refuses blood transfusions; signed in {city} on {day} before two witnesses.",
    "Had two relapses since moving to {city}, the last one on a {day} in spring.",
)
_CITIES = "Porto Turku Ghent Graz Split Leeds Lyon Bergen Kosice Cadiz".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_ROLES = ("director", "doctor", "doctor", "nurse", "clerk", "clerk")


@dataclass(frozen=True)
class Data:
    """Everything that the clinic knows, by id."""

    patients: Mapping[str, Record]
    staff: Mapping[str, Record]
    invoices: Mapping[str, Record]


def make(seed: int) -> Data:
    """Return the records of the number ``seed``; ids, wards and roles are the same for all."""
    dice = random.Random(seed)  # people who do not exist need no secrecy
    names = [
        f"{given} {family}"
        for given, family in zip(dice.sample(_GIVEN, 18), dice.sample(_FAMILY, 18), strict=True)
    ]
    patients = {
        f"P-{1001 + place}": _patient(dice, f"P-{1001 + place}", names[place], place)
        for place in range(12)
    }
    staff = {
        f"S-{place + 1:02}": _employee(dice, f"S-{place + 1:02}", names[12 + place], place)
        for place in range(6)
    }
    invoices = {
        f"I-{301 + place}": {
            "invoice_id": f"I-{301 + place}",
            "patient_id": f"P-{1001 + place % 12}",
            "amount": round(dice.uniform(1_000, 90_000), 2),
            "status": "open" if place % 3 else "paid",
            "reference": f"RF{dice.randrange(10**4, 10**5)}",
        }
        for place in range(16)
    }
    return Data(patients, staff, invoices)


def altered(data: Data, change: str) -> Data:
    """Return ``data`` with one value of a patient changed, or without a patient.

    ``P-1002.balance=20000.25`` changes a value; ``-P-1005`` takes a patient and the invoices away.

    Raises:
        ValueError: there is no such patient or field.
    """
    where, sign, value = change.partition("=")
    key, _, field = where.removeprefix("-").partition(".")
    patients, invoices = dict(data.patients), data.invoices
    if key not in patients or (sign and field not in patients[key]):
        raise ValueError(f"there is nothing to alter at {where!r}")
    if sign:
        kind = type(patients[key][field])
        patients[key] = {**patients[key], field: kind(value)}
        return Data(patients, data.staff, invoices)
    del patients[key]
    kept = {name: one for name, one in invoices.items() if one["patient_id"] != key}
    return Data(patients, data.staff, kept)


def _patient(dice: random.Random, patient_id: str, name: str, place: int) -> Record:
    given, family = name.lower().split()
    return {
        "patient_id": patient_id,
        "name": name,
        "ward": WARDS[place % 3],
        "phone": f"+351 {dice.randrange(10**8, 10**9)}",
        "email": f"{given}.{family}{dice.randrange(10, 99)}@example.org",
        "national_id": str(dice.randrange(10**8, 10**9)),
        "card": " ".join(str(dice.randrange(1_000, 10_000)) for _ in range(4)),
        "diagnosis": dice.choice(_DIAGNOSES),
        "notes": dice.choice(_NOTES).format(city=dice.choice(_CITIES), day=dice.choice(_DAYS)),
        "balance": round(dice.uniform(10_000, 900_000), 2),
        "protected": place in (4, 9),
        "discharged": place == 6,  # anybody would do
    }


def _employee(dice: random.Random, staff_id: str, name: str, place: int) -> Record:
    given, family = name.lower().split()
    return {
        "staff_id": staff_id,
        "name": name,
        "role": _ROLES[place],
        "ward": WARDS[place % 2],
        "salary": dice.randrange(31_000, 142_000) + 7,
        "iban": f"PT50{dice.randrange(10**20, 10**21)}",
        "home": f"{given}.{family}@home.example.net",
    }
