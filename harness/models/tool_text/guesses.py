"""Made-up values: by a parameter's format, its name, and its bounds.

A guess has the right form but does not exist on the server, and the draft says so. The caller must
still check each guess against the schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.models.tool_text.parameters import Param
from harness.models.tool_text.terms import extract_terms, split_words

_FORMATS: Mapping[str, str] = {
    "date": "2025-05-14",
    "date-time": "2025-05-14T09:30:00Z",
    "time": "09:30:00Z",
    "duration": "P3D",
    "email": "maria.keller@example.com",
    "idn-email": "maria.keller@example.com",
    "hostname": "www.example.com",
    "ipv4": "192.0.2.17",
    "ipv6": "2001:db8::17",
    "uri": "https://example.com/start",
    "url": "https://example.com/start",
    "uri-reference": "https://example.com/start",
    "uuid": "3f2b8c1e-7a4d-4e59-9c06-1d2e3f4a5b6c",
}
"""JSON Schema format → a value of it."""

_TEXTS: tuple[tuple[str, str], ...] = (
    ("email mail recipient", "maria.keller@example.com"),
    ("phone telephone mobile", "+49 30 5550148"),
    ("url uri link website href", "https://example.com/start"),
    ("directory folder dir", "/data/reports"),
    ("destination target", "/data/archive/summary.txt"),
    ("path file filename source", "/data/reports/summary.txt"),
    ("glob pattern exclude", "*.txt"),
    ("timezone zone tz", "Europe/Berlin"),
    ("currency", "EUR"),
    ("ticker symbol", "AAPL"),
    ("language locale lang", "en"),
    ("datetime timestamp", "2025-05-14T09:30:00Z"),
    ("date day since until start end", "2025-05-14"),
    ("time hour", "09:30"),
    ("country", "Germany"),
    ("city location place town region", "Berlin"),
    ("branch ref", "main"),
    ("repo repository project", "website"),
    ("title subject label headline", "Quarterly report"),
    ("sql", "SELECT COUNT(*) FROM orders"),
    ("query search keyword term phrase", "wireless headphones"),
    ("message content text body comment note input prompt data", "Good morning"),
    ("message content text body comment note input prompt data", "Good evening"),
    ("topic theme", "solar power"),
    ("reason description summary", "the customer asked for it"),
    ("category kind type tag", "electronics"),
    ("user username author assignee owner", "maria.keller"),
    ("company organisation organization", "Example Ltd"),
    ("name person customer client employee", "Maria Keller"),
)
"""Words of a parameter's name → a text for it; the first row with one of the words applies."""

_NUMBERS: tuple[tuple[str, float], ...] = (
    ("latitude lat", 52.52),
    ("longitude lon lng", 13.405),
    ("years", 10),
    ("year", 2024),
    ("month", 6),
    ("percent percentage rate", 5),
    ("port", 8080),
    ("page", 2),
    ("limit count top max size head tail first last", 5),
    ("price amount principal budget cost salary", 250),
    ("quantity", 3),
    ("id number", 1042),
)
"""Words of a parameter's name → a number for it."""

_SERIES = (12, 30, 7, 45, 18, 60)
"""Numbers for parameters without any hint: all different, so that swapped arguments are noticed."""

_ENDS = frozenset(split_words("end last to until before due"))
_FOLDERS = frozenset(split_words("directory directories folder folders"))
_IDENTIFIES = frozenset(split_words("id key code uuid guid sku reference"))


def text_guesses(param: Param, thing: str) -> Iterator[str]:
    """Yield texts for ``param``, likeliest first; ``thing`` is what a bare ``id`` identifies."""
    if isinstance(kind := param.schema.get("format"), str) and kind in _FORMATS:
        yield (
            _add_week(_FORMATS[kind])
            if kind.startswith("date") and _ENDS & param.name_words
            else _FORMATS[kind]
        )
    spoken = split_words(param.name)
    # Before words of the name: `customer_id` is an id, and no customer's name.
    if spoken and spoken[-1] in _IDENTIFIES:
        owner = "_".join(spoken[:-1]) or thing
        yield f"{owner.upper()}_1042" if owner else "A1042"
    # A tool for folders may call its parameter just `path`.
    if _FOLDERS & set(split_words(thing)):
        yield from (text for row, text in _TEXTS if "folder" in row and "path" in param.name_words)
    # The name first, since a description speaks of other things as well.
    for known in (param.name_terms | param.name_words, param.terms):
        yield from (text for row, text in _TEXTS if not known.isdisjoint(_split_row(row)))
    yield "example"


def number_guesses(param: Param, place: int) -> Iterator[float | int]:
    """Yield numbers for ``param``, the likeliest first.

    ``place`` is the position of the parameter in its tool.
    """
    usual = [number for row, number in _NUMBERS if set(row.split()) & param.name_words]
    usual.append(_SERIES[place % len(_SERIES)])
    # The likeliest first; the bounds below are for schemas that refuse it.
    yield from usual
    low, high = (
        _find_bound(param, "minimum", "exclusiveMinimum"),
        _find_bound(param, "maximum", "exclusiveMaximum"),
    )
    step = _find_bound(param, "multipleOf", "multipleOf") or 1
    if low is not None:
        yield from (low, low + step, low + 1)
    if high is not None:
        yield from (high, high - step, high - 1)
    if low is not None and high is not None:
        yield (low + high) / 2
    yield step


def _add_week(moment: str) -> str:
    """Return a week after the usual date, so that a period does not end on its first day."""
    return moment.replace("-14", "-21")


def _split_row(row: str) -> frozenset[str]:
    return frozenset([*extract_terms(row), *row.split()])


def _find_bound(param: Param, *names: str) -> Any:
    found = (param.schema.get(name) for name in names)
    return next(
        (
            bound
            for bound in found
            if isinstance(bound, int | float) and not isinstance(bound, bool)
        ),
        None,
    )
