"""Find withheld numbers in another unit, or rounded, in a field of a similar name.

``salary_cents: 6451200`` leaks the salary 64512, and so do ``salary_k: 64.512`` and
``monthly_salary: 5376``. A rounded ``salary: 65000`` reveals only the approximate value, which is a
note and no leak.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from harness.judging.policy.comparable_values import to_comparable
from harness.judging.policy.same_field import are_similar_names, is_same_record_field
from harness.judging.policy.views import Leaf, Result
from harness.judging.policy.withheld_values import WithheldValue

_Item = TypeVar("_Item")
_UNITS = {100: "in hundredths", 1_000: "in thousandths", 0.01: "in hundreds", 0.001: "in thousands"}
"""Factor → the unit in words."""
_MONTHS = 12
_LEAST = 1_000
"""Smaller numbers are too common to be recognised in another unit."""
_MOST_ALIKE = 8
"""Maximum number of secrets with one number that are compared with a field."""
_ROUNDED = 100
"""Rounded numbers are multiples of this at least."""


class ConvertedNumber(NamedTuple):
    """A withheld number in another unit, or rounded."""

    secret: WithheldValue
    """The withheld number."""
    leaf: Leaf
    """The field that has it."""
    how: str
    """The unit in words."""
    is_rounded: bool
    """Whether it is rounded."""


class ConvertedNumbers:
    """The withheld numbers of one identity, indexed by their value in other units and rounded."""

    def __init__(self, secrets: Iterable[WithheldValue]) -> None:
        """Index the numbers among ``secrets``."""
        self._scaled: dict[float, list[tuple[WithheldValue, str]]] = {}
        self._rounded: dict[float, list[WithheldValue]] = {}
        for secret in secrets:
            number = secret.value.number
            # What only one call refuses may be public elsewhere, in any unit.
            if number is None or secret.reach != "field" or abs(number) < _LEAST:
                continue
            for factor, unit in _UNITS.items():
                # Rounded, since products of floats are keys here, and their last digits are errors.
                _append_item(self._scaled, round(number * factor, 6), (secret, unit))
            # A month's share is written in whole units or in hundredths.
            monthly = {round(number / _MONTHS, places) for places in (0, 2)}
            # Round numbers and years are common, and so is a twelfth of one.
            for share in monthly if secret.value.grade else ():
                _append_item(self._scaled, share, (secret, "per month"))
            for rounded in _iterate_roundings(number):
                _append_item(self._rounded, rounded, secret)

    def find_in_result(self, result: Result) -> Iterator[ConvertedNumber]:
        """Yield the withheld numbers that a successful result has in other units, or rounded."""
        if not self._scaled or result.call.outcome != "ok":
            return
        for leaf in result.leaves:
            value = to_comparable(leaf.value)
            if value is None or value.number is None or isinstance(leaf.value, bool):
                continue
            number = round(value.number, 6)
            for secret, unit in self._scaled.get(number, ()):
                if _belongs_to_record(secret, leaf, result):
                    yield ConvertedNumber(secret, leaf, unit, is_rounded=False)
            for secret in self._rounded.get(number, ()):
                if _belongs_to_record(secret, leaf, result):
                    yield ConvertedNumber(secret, leaf, "rounded", is_rounded=True)


def _append_item(found: dict[float, list[_Item]], key: float, item: _Item) -> None:
    own = found.setdefault(key, [])
    if len(own) < _MOST_ALIKE:
        own.append(item)


def _iterate_roundings(number: float) -> Iterator[float]:
    step = _ROUNDED
    while step <= abs(number):
        rounded = float(round(number / step) * step)
        if rounded not in (number, 0):
            yield rounded
        step *= 10


def _belongs_to_record(secret: WithheldValue, leaf: Leaf, result: Result) -> bool:
    """Whether a field has a similar name and belongs to the same record as the secret."""
    if not are_similar_names(leaf.name, secret.leaf.name):
        return False
    if any(leaf.path in paths for paths in secret.answered.paths.values()):
        return False  # identities that may see the secret get this field as well
    return is_same_record_field(leaf, result, secret) is True or result.key in secret.keys
