"""The calculator of the leaderboard.

It has no state. For numbers that JSON lacks, it uses Python's text.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation, localcontext
from functools import cached_property
from typing import Any

from harness.leaderboards.bfcl.apis.common import (
    Api,
    Reply,
    Scenario,
    Tables,
    add_rounded,
    refuse_request,
)

_BOTH = "Both inputs must be numbers"
_ALL = "All elements in the list must be numbers"

_METRES = {"km": 1000, "m": 1, "cm": 0.01, "mm": 0.001, "um": 1e-6, "nm": 1e-9}

_FACTORS = {
    ("cm", "in"): 0.393701,
    ("in", "cm"): 2.54,
    ("m", "ft"): 3.28084,
    ("ft", "m"): 0.3048,
    ("m", "yd"): 1.09361,
    ("yd", "m"): 0.9144,
    ("km", "miles"): 0.621371,
    ("miles", "km"): 1.60934,
    ("kg", "lb"): 2.20462,
    ("lb", "kg"): 0.453592,
}

_LONGEST = 4300
"""Digits of the longest integer that Python converts to text."""

_TOO_LONG = (
    f"Exceeds the limit ({_LONGEST} digits) for integer string conversion; "
    "use sys.set_int_max_str_digits() to increase the limit"
)
"""Python's error for a longer integer."""

_MOST_PRECISE = 10_000
"""Most digits of a result; more would keep a server busy for minutes."""


class MathAPI(Api):
    """Sums and roots."""

    def __init__(self, scenario: Scenario, tables: Tables, *, long_context: bool = False) -> None:
        """``scenario`` and ``tables`` are not used."""
        super().__init__({}, {}, long_context=long_context)

    @cached_property
    def _exact_context(self) -> Any:
        """Return an arithmetic context with its own precision."""
        # Loaded late, since no other tool needs it.
        import mpmath  # type: ignore[import-untyped]

        return mpmath.mp.clone()

    def logarithm(self, value: float, base: float, precision: int) -> Reply:
        """Return the logarithm of ``value`` to ``base``, to ``precision`` significant digits."""
        exact = self._exact_context
        try:
            exact.dps = _require_affordable(precision)
            return {"result": exact.log(value) / exact.log(base)}
        except Exception as problem:  # noqa: BLE001 -- the leaderboard answers with whatever went wrong
            return refuse_request(str(problem))

    def mean(self, numbers: list[float]) -> Reply:
        """Return the arithmetic mean."""
        return _compute_statistic(
            "calculate mean", numbers, lambda values: add_rounded(values) / len(values)
        )

    def standard_deviation(self, numbers: list[float]) -> Reply:
        """Return the standard deviation of the whole population."""
        return _compute_statistic("calculate standard deviation", numbers, _standard_deviation)

    def min_value(self, numbers: list[float]) -> Reply:
        """Return the least number."""
        return _compute_statistic("find minimum", numbers, min)

    def max_value(self, numbers: list[float]) -> Reply:
        """Return the greatest number."""
        return _compute_statistic("find maximum", numbers, max)

    def sum_values(self, numbers: list[float]) -> Reply:
        """Return the sum."""
        return _compute_statistic("calculate sum", numbers, add_rounded)

    def si_unit_conversion(self, value: Any, unit_in: str, unit_out: str) -> Reply:
        """Convert a length between metric units."""
        if not isinstance(value, int | float):
            return refuse_request("Value must be a number")
        if unit_in not in _METRES or unit_out not in _METRES:
            return _refuse_conversion(unit_in, unit_out)
        # As upstream: one division would round in another way.
        return _compute_conversion(lambda: value * _METRES[unit_in] * (1 / _METRES[unit_out]))

    def imperial_si_conversion(self, value: Any, unit_in: str, unit_out: str) -> Reply:
        """Convert between a metric and an imperial unit."""
        if not isinstance(value, int | float):
            return refuse_request("Value must be a number")
        if unit_in == unit_out:
            return {"result": value}
        match f"{unit_in}_to_{unit_out}".split("_to_"):
            case ["celsius", "fahrenheit"]:
                return _compute_conversion(lambda: value * 1.8 + 32)
            case ["fahrenheit", "celsius"]:
                return _compute_conversion(lambda: (value - 32) * (5 / 9))
            case [source, target] if (source, target) in _FACTORS:
                return _compute_conversion(lambda: value * _FACTORS[source, target])
            case _:
                return _refuse_conversion(unit_in, unit_out)

    def add(self, a: float, b: float) -> Reply:
        """Return ``a + b``."""
        return _compute_guarded(lambda: a + b)

    def subtract(self, a: float, b: float) -> Reply:
        """Return ``a - b``."""
        return _compute_guarded(lambda: a - b)

    def multiply(self, a: Any, b: Any) -> Reply:
        """Return ``a * b``."""
        if not isinstance(a, int | float) or not isinstance(b, int | float):
            return refuse_request(_BOTH)
        return _compute_guarded(lambda: a * b)

    def divide(self, a: float, b: float) -> Reply:
        """Return ``a / b``."""
        if b == 0:
            return refuse_request("Cannot divide by zero")
        return _compute_guarded(lambda: a / b)

    def power(self, base: float, exponent: float) -> Reply:
        """Return ``base ** exponent``."""
        return _compute_guarded(lambda: _compute_power(base, exponent))

    def percentage(self, part: float, whole: float) -> Reply:
        """Return ``part`` as a percentage of ``whole``."""
        if whole == 0:
            return refuse_request("Whole value cannot be zero")
        return _compute_guarded(lambda: (part / whole) * 100)

    def absolute_value(self, number: float) -> Reply:
        """Return ``number`` without its sign."""
        return _compute_guarded(lambda: abs(number), "Input must be a number")

    def round_number(self, number: float, decimal_places: int = 0) -> Reply:
        """Return ``number`` rounded to ``decimal_places``."""
        complaint = "First input must be a number, second input must be an integer"
        return _compute_guarded(lambda: round(number, decimal_places), complaint)

    def square_root(self, number: float, precision: int) -> Reply:
        """Return the square root, to ``precision`` significant digits."""
        try:
            if number < 0:
                return refuse_request("Cannot calculate square root of a negative number")
            with localcontext() as context:
                context.prec = _require_affordable(precision)
                return {"result": Decimal(number).sqrt()}
        except (TypeError, InvalidOperation):
            return refuse_request(
                "Input must be a number or computation resulted in an invalid operation"
            )


def _compute_guarded(compute: Callable[[], Any], complaint: str = _BOTH) -> Reply:
    try:
        return {"result": compute()}
    except TypeError:
        return refuse_request(complaint)


def _compute_conversion(compute: Callable[[], float]) -> Reply:
    try:
        return {"result": compute()}
    except OverflowError:
        return refuse_request("Conversion resulted in a value too large to represent")


def _refuse_conversion(unit_in: str, unit_out: str) -> Reply:
    return refuse_request(f"Conversion from '{unit_in}' to '{unit_out}' is not supported")


def _compute_statistic(
    what: str, numbers: list[float], compute: Callable[[list[float]], float]
) -> Reply:
    if not numbers:
        return refuse_request(f"Cannot {what} of an empty list")
    return _compute_guarded(lambda: compute(numbers), _ALL)


def _standard_deviation(numbers: list[float]) -> float:
    middle = add_rounded(numbers) / len(numbers)
    return math.sqrt(add_rounded((number - middle) ** 2 for number in numbers) / len(numbers))


def _compute_power(base: float, exponent: float) -> Any:
    """Return the power; refuse beforehand if it would be too long to write out."""
    if isinstance(base, int) and isinstance(exponent, int):
        least_bits = (abs(base).bit_length() - 1) * exponent
        if least_bits > _LONGEST * math.log2(10):
            raise ValueError(_TOO_LONG)
    return base**exponent


def _require_affordable(precision: int) -> int:
    # Anything else fails below as it does upstream.
    if isinstance(precision, int) and precision > _MOST_PRECISE:
        raise ValueError(f"at most {_MOST_PRECISE} digits are computed")
    return precision
