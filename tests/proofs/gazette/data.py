"""The newsroom's records: contributors, stories, revisions, shares and rights, from a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

Row: TypeAlias = dict[str, Any]
"""One record by field."""

TODAY: Final = "2026-06-15"
"""The newsroom's clock stands still."""
PEOPLE: Final = (
    ("P-10", "north"),
    ("P-11", "north"),
    ("P-12", "north"),
    ("P-13", "north"),
    ("P-14", "north"),
    ("P-15", "north"),
    ("P-20", "north-sea"),
    ("P-21", "north-sea"),
    ("P-140", "north-sea"),
)
"""Contributor and outlet: two outlets of one publisher, each a tenant."""
STORIES: Final[Sequence[tuple[str, str, str | None, str, str, str]]] = (
    ("S-101", "politics", "north", "P-12", "published", ""),
    ("S-102", "politics", "north", "P-13", "published", ""),
    ("S-103", "politics", "north", "P-13", "draft", ""),
    ("S-104", "politics", "north", "P-12", "draft", ""),
    ("S-105", "culture", "north", "P-13", "published", ""),
    ("S-106", "culture", "north", "P-14", "draft", ""),
    ("S-107", "culture", "north", "P-15", "draft", ""),
    ("S-108", "sports", "north", "P-15", "draft", ""),
    ("S-109", "politics-eu", "north", "P-13", "published", ""),
    ("S-110", "politics", "north", "P-13", "deleted", ""),
    ("S-111", "politics", "north", "P-13", "embargoed", "2026-09-01"),
    ("S-112", "politics", "north", "P-13", "locked", ""),
    ("S-113", "politics", "north-sea", "P-21", "published", ""),
    ("S-114", "culture", "north-sea", "P-140", "draft", ""),
    ("S-115", "sports", "north", "P-13", "published", ""),
    ("S-116", "culture", None, "P-13", "published", ""),
    ("S-117", "politics", "north", "P-15", "published", ""),
    ("S-118", "politics", "north", "P-15", "published", ""),
)
"""Story, desk, outlet, author, state, day on which an embargo ends."""
FORMER: Final = {"S-103": "P-12"}
"""Stories that had another author once."""
SHARES: Final = (
    ("L-81", "S-108", "P-14", "2026-12-31", False),
    ("L-82", "S-107", "P-14", "2026-12-31", True),
    ("L-83", "S-105", "P-14", "2026-01-31", False),
)
"""Link, story, with whom, until when, whether it was revoked."""
MEMBERS: Final = (
    ("P-11", "politics", "2024-01-01", ""),
    ("P-11", "sports", "2023-01-01", "2025-03-31"),
    ("P-13", "culture", "2024-01-01", ""),
)
"""Editors of a desk: contributor, desk, since, until."""
DELEGATED: Final = (("P-13", "P-11", "culture", "2026-02-28"),)
"""Desks that were handed over: from, to, desk, until."""
CURRENT: Final = 2
"""The number of the revision that a story says now."""
_FIRST: Final = ("Ines", "Bo", "Cara", "Noor", "Devan", "Ulf", "Finn", "Greta", "Halim")
_LAST: Final = ("Okonkwo", "Sandvik", "Petrie", "Yilmaz", "Castell", "Imura", "Dunbar", "Weiss")
_WHAT: Final = ("Harbour", "Budget", "Stadium", "Tunnel", "Festival", "Water", "Orchestra", "Ferry")
_HOW: Final = ("vote postponed", "deal questioned", "plan revived", "inquiry opened", "hall sold")
_SOURCES: Final = ("Marlow", "Quennell", "Ashdown", "Ferrars", "Tilney", "Bertram", "Wickham")


@dataclass(slots=True)
class Archive:
    """All records; what callers write is kept here, too."""

    people: dict[str, Row] = field(default_factory=dict)
    stories: dict[str, Row] = field(default_factory=dict)
    revisions: dict[str, list[Row]] = field(default_factory=dict)
    shares: list[Row] = field(default_factory=list)
    members: list[Row] = field(default_factory=list)
    delegated: list[Row] = field(default_factory=list)
    comments: list[Row] = field(default_factory=list)
    searches: dict[str, list[str]] = field(default_factory=dict)
    """Who searched for what, the last first."""
    used: dict[str, int] = field(default_factory=dict)
    """How often whoever searched in the old volumes."""
    wrong: dict[tuple[str, str], int] = field(default_factory=dict)
    """How often a wrong code was sent for a story, by whom."""


def make(seed: int) -> Archive:
    """Return the archive of a seed."""
    dice = random.Random(seed)  # fictional data
    archive = Archive()
    for number, (key, outlet) in enumerate(PEOPLE):
        name = f"{_FIRST[number]} {dice.choice(_LAST)}"
        alias = f"{name.split(maxsplit=1)[0].lower()}{dice.randint(100, 999)}"
        archive.people[key] = {
            "contributor_id": key,
            "name": name,
            "alias": alias,
            "outlet": outlet,
            "email": f"{alias}@{outlet}.example.org",
            "phone": f"+47 {dice.randint(20_000_000, 79_999_999)}",
            "iban": f"NO{dice.randint(10, 99)}{dice.randint(10**10, 10**11 - 1)}",
        }
    for key, desk, paper, author, state, embargo in STORIES:
        title = f"{dice.choice(_WHAT)} {dice.choice(_HOW)} {dice.randint(1000, 9999)}"
        source = f"{dice.choice(_SOURCES)} {dice.randint(100, 999)}"
        text = f"The {title.lower()} was confirmed in paper {dice.randint(100_000, 999_999)}"
        archive.stories[key] = {
            "story_id": key,
            "title": title,
            "desk": desk,
            "outlet": paper,
            "author": author,
            "state": state,
            "embargo": embargo,
            "text": text,
            "fee": dice.randint(10_003, 98_997),
            "source": source,
            "code": f"{dice.randint(1000, 9999)}",
        }
        first = f"{source} told us of the {title.lower()}, file {dice.randint(100_000, 999_999)}"
        archive.revisions[key] = [
            {"revision": 1, "saved": "2026-01-10", "text": first},
            {"revision": 2, "saved": "2026-05-20", "text": text},
        ]
    archive.shares = _name_fields("link story_id with until revoked", SHARES)
    archive.members = _name_fields("contributor_id desk since until", MEMBERS)
    archive.delegated = _name_fields("from to desk until", DELEGATED)
    return archive


def _name_fields(names: str, rows: Sequence[Sequence[Any]]) -> list[Row]:
    return [dict(zip(names.split(), row, strict=True)) for row in rows]
