"""The servers of the documentation with other people in them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping

from tests.proofs.planted.data import make

EMAIL = "DESK_EMAIL"
"""The variable that gives the first customer another address."""
ANOTHER_EMAIL = "altered.address@example.org"
_CITIES = ("Lisbon", "Oslo", "Porto", "Turku", "Ghent", "Graz", "Leeds", "Lyon", "Bergen", "Cadiz")
_IN_THE_DOCS = (
    {
        "name": "Ines Okafor",
        "email": "ines.okafor@example.com",
        "phone": "+1-619-555-0148",
        "city": "Lisbon",
    },
    {
        "name": "Tomas Berg",
        "email": "tomas.berg@example.org",
        "phone": "+1-619-555-0171",
        "city": "Oslo",
    },
    {"name": "Mia Sand", "email": "mia.sand@example.net", "phone": "", "city": "Oslo"},
)


def customers(seed: int) -> list[dict[str, str]]:
    """Return three people of the number ``seed``, the last two of one city."""
    cities = random.Random(seed).sample(_CITIES, 2)
    patients = [*make(seed).patients.values()][: len(_IN_THE_DOCS)]
    return [
        {
            "id": f"C-{17 + place}",
            "name": one["name"],
            "city": cities[min(place, 1)],
            "email": one["email"],
            "phone": one["phone"],
        }
        for place, one in enumerate(patients)
    ]


def with_people(files: Mapping[str, str], seed: int) -> dict[str, str]:
    """Return the files of a recipe with the people of ``seed`` in place of the documentation's.

    In Python the address of the first one can be altered by the variable `EMAIL`.
    """
    others: dict[str, str] = {}
    for known, person in zip(_IN_THE_DOCS, customers(seed), strict=True):
        others |= {value: person[key] for key, value in known.items() if value}
    changed = {}
    for name, text in files.items():
        for old, new in others.items():
            text = text.replace(old, new)  # noqa: PLW2901 - one after the other
        if name.endswith(".py"):
            address = json.dumps(customers(seed)[0]["email"])
            text = text.replace(address, f'__import__("os").environ.get("{EMAIL}", {address})')  # noqa: PLW2901
        changed[name] = text
    return changed
