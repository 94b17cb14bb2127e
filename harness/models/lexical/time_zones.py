"""Cities that time zones are named after: the baseline's only knowledge of the world."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files


def find_zone(city: str) -> str | None:
    """Return the IANA zone named after ``city``, in any case: ``Asia/Tokyo`` for Tokyo."""
    return _load_zones().get(" ".join(city.lower().split()))


@cache
def _load_zones() -> Mapping[str, str]:
    """Return city → zone.

    The list is a copy of the tz database: the machine's own copy may differ or be missing.
    """
    listed = files(__package__).joinpath("zones.txt").read_text(encoding="utf-8").split()
    return {name.rpartition("/")[2].replace("_", " ").lower(): name for name in listed}
