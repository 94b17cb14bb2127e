"""How well numbers and days fit a parameter: the part of `affinity` about quantities.

Scores have the same meaning as there. All quantities look alike, so mostly the words around them
decide: "over $500" is a minimum, "the 5 latest" a limit, "for 10 years" a number of years.
"""

from __future__ import annotations

import math
import re

from harness.models.lexical.dates import Period
from harness.models.lexical.text_parsing import NearbyWords
from harness.models.lexical.text_values import TextValue
from harness.models.tool_text.parameters import Param
from harness.models.tool_text.terms import extract_terms, word_set

Scored = tuple[str | int | float, float]
"""An argument and its score."""

_LIMIT = frozenset(extract_terms("limit max maximum count top n size page results"))
_LIMIT_CUES = word_set("top first last latest newest recent most max maximum limit up only at")
_AT_LEAST = word_set("over above exceeding least minimum min than from more greater higher larger")
_AT_MOST = word_set("under below most maximum max up less fewer lower smaller")
_MINIMUM = frozenset([*extract_terms("min minimum above over greater least lower gt gte"), "from"])
_MAXIMUM = frozenset(extract_terms("max maximum below under less most upper lt lte"))
_MONEY = frozenset(extract_terms("amount price dollar usd eur cost salary principal "
                                 "contribution budget "
        "value fee revenue "
                         "deposit payment balance invested"))  # fmt: skip
_PERCENT = frozenset(
    extract_terms("rate percent percentage interest discount share margin ratio growth tax")
)
_FRACTION = frozenset(extract_terms("decimal fraction"))
_START = frozenset([*extract_terms("start since begin first min earliest"), "from", "after"])
_END = frozenset(
    [*extract_terms("end last max latest until"), "to", "until", "before", "through", "till"]
)
_DATED = frozenset(
    [
        *extract_terms("date day start end since until begin timestamp datetime"),
        "from",
        "to",
        "before",
        "after",
    ]
)


def fit_number(param: Param, value: TextValue, around: NearbyWords) -> Scored | None:
    """Return ``value`` as a number for ``param``; ``None`` if it is out of bounds or no number."""
    # JSON has no infinity, and the server would get no valid request.
    if value.kind != "number" or not math.isfinite(value.number):
        return None
    amount = _convert_percent(param, value) if value.measure == "%" else value.number
    # A fraction is never rounded: it would be a number that nobody said.
    if param.kind == "integer" and not float(amount).is_integer():
        return None
    if not _is_in_bounds(param, amount):
        return None
    return amount, 1.0 + _score_unit(param, value) + _score_cues(param, value, around)


def _score_unit(param: Param, value: TextValue) -> float:
    """Score how the number's unit suits the parameter's topic."""
    if value.measure == "%":
        return 3.0 if param.terms & _PERCENT else -1.0
    if value.measure == "$":
        return (
            -1.5
            if param.terms & _PERCENT and not param.terms & _MONEY
            else 1.5
            if param.terms & _MONEY
            else 0.0
        )
    return -1.0 if _PERCENT & param.name_terms else 0.0


def _score_cues(param: Param, value: TextValue, around: NearbyWords) -> float:
    """Score what the words around the number say."""
    name, close = param.name_terms, around.all_terms()
    counted = frozenset(extract_terms(value.unit))
    # Bounded, so that a long description does not win by its number of words.
    score = 2.0 * min(2, len(close & name)) + 1.0 * min(3, len(close & param.terms - name))
    if counted & name:
        score += 1.0
    if counted and value.measure == "" and param.terms & _MONEY and not counted & param.terms:
        score -= 2.0  # "7 orders" is not an amount of money
    if name & _LIMIT and value.measure == "":
        cued = around.says_before(_LIMIT_CUES) or any(
            word.text in _LIMIT_CUES for word in around.after[:1]
        )
        score += (2.0 if cued else 0.0) + (1.0 if counted & param.terms else 0.0)
    # "no more than 5" has words of both kinds, and is an upper bound.
    if around.says_before(_AT_LEAST) and not around.says_before(_AT_MOST):
        score += 3.0 if name & _MINIMUM else -3.0 if name & _MAXIMUM else 0.0
    elif around.says_before(_AT_MOST):
        score += 3.0 if name & _MAXIMUM else -3.0 if name & _MINIMUM else 0.0
    return score


def _convert_percent(param: Param, value: TextValue) -> float | int:
    """Return 7% as 0.07 where the parameter says that it takes a decimal, else as 7."""
    shown = [float(example) for example in param.examples if re.fullmatch(r"0?\.\d+", example)]
    highest = param.schema.get("maximum")
    small = isinstance(highest, (int, float)) and not isinstance(highest, bool) and highest <= 1
    return (
        round(value.number / 100, 12) if shown or small or param.terms & _FRACTION else value.number
    )


def _is_in_bounds(param: Param, number: float) -> bool:
    def get_bound(key: str) -> float | None:
        limit = param.schema.get(key)
        return limit if isinstance(limit, (int, float)) and not isinstance(limit, bool) else None

    low, high = get_bound("minimum"), get_bound("maximum")
    return (low is None or number >= low) and (high is None or number <= high)


def fit_period(param: Param, value: TextValue) -> Scored | None:
    """Return the year, day or words of a ``period`` that ``param`` takes, or ``None``."""
    if value.period is None:
        return None
    if param.kind in ("integer", "number"):
        day = value.period.first or value.period.last
        return (day.year, 4.0) if day is not None and "year" in param.name_words else None
    return _day_or_words(param, value, value.period) if param.kind in ("string", "any") else None


def _day_or_words(param: Param, value: TextValue, days: Period) -> Scored | None:
    """Return the first or the last day, as the parameter's name asks.

    For a parameter such as "timeframe", return the words.
    """
    roles = param.name_terms | param.name_words
    dated = str(param.schema.get("format")).startswith("date") or roles & _DATED
    if not dated:
        return (
            (value.text, 1.0)
            if roles & frozenset(extract_terms("period timeframe range interval query"))
            else None
        )
    # A name with words of both kinds takes the first day.
    ends = bool(roles & _END and not roles & _START)
    day = days.last if ends else days.first
    if day is None:
        return None
    if param.schema.get("format") != "date-time":
        return day.isoformat(), 4.0
    return f"{day.isoformat()}T{'23:59:59' if ends else '00:00:00'}Z", 4.0
