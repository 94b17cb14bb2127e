"""Indexes by value: the values that are withheld from an identity, and those that it gets.

A withheld number is found in another unit, too, in a field of a similar name: ``salary_cents:
6451200`` leaks the salary 64512, and so do ``salary_k: 64.512`` and ``monthly_salary: 5376``. A
rounded ``salary: 65000`` reveals only the approximate value, which is a note and no leak.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from harness.judging.matching.texts import fold_text
from harness.judging.policy.comparable_values import (
    ComparableValue,
    Prose,
    same_record,
    to_comparable,
)
from harness.judging.policy.views import Leaf, Result, View
from harness.judging.policy.withheld_values import WithheldValue

# fmt: off
_GENERIC = frozenset({
    "id", "name", "number", "no", "value", "date", "day", "type", "code", "status", "key", "amount",
    "total", "count",
    "text", "field", "data", "info", "of", "the",
})
# fmt: on


def are_similar_names(left: str, right: str) -> bool:
    """Return whether two fields have similar names: ``salary`` and ``current_salary``."""
    return not similarity_keys(left).isdisjoint(similarity_keys(right))


@lru_cache(maxsize=10_000)
def similarity_keys(name: str) -> frozenset[str]:
    """Return the keys that similar names share: distinctive words, and the whole name."""
    # Capitals within a name begin words: `currentSalary`.
    parts = re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))
    # One form for singular and plural: `email` and `emails`.
    words = frozenset(part.casefold().removesuffix("s") for part in parts) - _GENERIC
    # Marked, so that a whole name such as `id` equals only itself and no word of another.
    return words | {f"={fold_text(name)}"}


def is_same_record_field(leaf: Leaf, result: Result, secret: WithheldValue) -> bool | None:
    """Return whether a field belongs to the same record as the secret; ``None`` if unknown.

    The ids in both records decide; without ids, the arguments of the calls.
    """
    for ours, theirs in (
        (secret.leaf.record, leaf.record),
        (secret.answered.requested_record, result.requested_record),
        (secret.leaf.record, result.requested_record),
        (secret.answered.requested_record, leaf.record),
    ):
        # The field itself is no evidence: whether its value is the secret is the question.
        verdict = same_record(ours, theirs, except_for=leaf.name)
        if verdict is not None:
            return verdict
    return None


_MOST_PLACES = 50
"""Maximum number of places that are stored for one value."""


class Siblings:
    """Secrets with the same value, reach, record and result, by their names.

    A record may have thousands of fields with the same value, such as ``false``. Conditions that do
    not depend on the name are tested on the `first` alone.
    """

    def __init__(self, secrets: Sequence[WithheldValue]) -> None:
        self.first = secrets[0]
        self.all = secrets
        self._at: dict[str, list[WithheldValue]] = {}
        self._marked: dict[str, list[WithheldValue]] = {}
        for secret in secrets:
            self._at.setdefault(secret.leaf.path, []).append(secret)
            for mark in similarity_keys(secret.leaf.name):
                self._marked.setdefault(mark, []).append(secret)

    def find_at(self, path: str) -> Collection[WithheldValue]:
        """Return the secrets at ``path``."""
        return self._at.get(path, ())

    def find_similar(self, name: str) -> Collection[WithheldValue]:
        """Return the secrets with names similar to ``name``."""
        found = [secret for mark in similarity_keys(name) for secret in self._marked.get(mark, ())]
        # Two names may share several keys, and each secret counts once.
        return {id(secret): secret for secret in found}.values()


class WithheldValues:
    """All values that are withheld from one identity."""

    def __init__(self, secrets: Iterable[WithheldValue]) -> None:
        """Index ``secrets`` by their forms; those recognisable in a text also by a word."""
        self._of: dict[ComparableValue, tuple[Siblings, ...]] = {}
        self._by_form: dict[str | float, list[WithheldValue]] = {}
        self._by_word: dict[str, list[WithheldValue]] = {}
        self._by_number: dict[float, list[WithheldValue]] = {}
        self._masked: dict[str, list[WithheldValue]] = {}
        for secret in secrets:
            for fingerprint in secret.masks:
                self._masked.setdefault(fingerprint, []).append(secret)
            for form in _iterate_forms(secret.value):
                self._by_form.setdefault(form, []).append(secret)
            if secret.value.grade == 2:  # noqa: PLR2004 - graded in `comparable_values`
                self._add_to_texts(secret)

    def _add_to_texts(self, secret: WithheldValue) -> None:
        value = secret.value
        if value.number is not None:
            self._by_number.setdefault(value.number, []).append(secret)
            return
        words = re.findall(r"\w+", value.text)
        # One word suffices, and the longest is the rarest: a text without it cannot have the value.
        for word in dict.fromkeys((*sorted(words, key=len)[-1:], *filter(None, [value.digits]))):
            self._by_word.setdefault(word, []).append(secret)

    def __bool__(self) -> bool:
        """Whether anything is withheld at all."""
        return bool(self._by_form)

    def find_equal(self, value: ComparableValue) -> Sequence[Siblings]:
        """Return the withheld values that equal ``value``."""
        found = self._of.get(value)
        if found is None:  # cached, since many fields may have the same value
            by_id = {
                id(secret): secret
                for form in _iterate_forms(value)
                for secret in self._by_form.get(form, ())
            }
            families: dict[Hashable, list[WithheldValue]] = {}
            for secret in by_id.values():
                families.setdefault(_family_key(secret), []).append(secret)
            found = self._of[value] = tuple(map(Siblings, families.values()))
        return found

    def find_masked(self, result: Result) -> Sequence[WithheldValue]:
        """Return the withheld values that a result masks."""
        return self._masked.get(result.fingerprint, ())

    def find_in_prose(self, prose: Prose) -> Iterable[WithheldValue]:
        """Return the withheld values in a text that are no accidental match."""
        indexes: list[tuple[Mapping[Any, list[WithheldValue]], Iterable[Any]]] = [
            (self._by_word, prose.list_words()),
            # Numbers are read only if any is looked for, since that takes long.
            (self._by_number, prose.numbers if self._by_number else ()),
        ]
        found = {
            id(secret): secret
            for index, parts in indexes
            for part in parts
            for secret in index.get(part, ())
        }
        # Many secrets may have one value: the text is searched once for it.
        values = dict.fromkeys(secret.value for secret in found.values())
        held = {value for value in values if prose.contains_value(value)}
        return [secret for secret in found.values() if secret.value in held]


class ShownValues:
    """All values in the successful results of one identity, with their fields."""

    def __init__(self, views: Sequence[View]) -> None:
        self._places: dict[str | float, list[tuple[Leaf, Result]]] = {}
        for view in views:
            for result in view.results:
                if result.call.outcome == "ok":
                    for leaf in result.leaves:
                        self._add_leaf(leaf, result)

    def _add_leaf(self, leaf: Leaf, result: Result) -> None:
        value = to_comparable(leaf.value)
        for form in () if value is None else _iterate_forms(value):
            places = self._places.setdefault(form, [])
            if len(places) < _MOST_PLACES:
                places.append((leaf, result))

    def is_rightful(self, secret: WithheldValue) -> bool:
        """Whether the identity also gets the same value in a field that is unrelated to the secret.

        A field is unrelated if it has another name or belongs to another record.
        """
        places = [
            place for form in _iterate_forms(secret.value) for place in self._places.get(form, ())
        ]
        # What was only refused in one call may be public: any field that shows it is enough.
        if secret.reach == "call":
            return bool(places)
        return any(
            not are_similar_names(leaf.name, secret.leaf.name)
            or is_same_record_field(leaf, result, secret) is False
            for leaf, result in places
        )


def _family_key(secret: WithheldValue) -> Hashable:
    # The text `true` has the comparable form of the boolean, but is judged by other rules.
    is_bool = isinstance(secret.leaf.value, bool)
    source = (id(secret.leaf.record), id(secret.answered), frozenset(secret.keys))
    return (*source, secret.value, secret.reach, is_bool)


def _iterate_forms(value: ComparableValue) -> Iterator[str | float]:
    yield value.text
    if value.number is not None:
        yield value.number
    if value.digits:
        # Marked, so that digits meet only digits, and not a text that consists of them.
        yield f"#{value.digits}"


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
            rounded = ((secret, "rounded") for secret in self._rounded.get(number, ()))
            for secret, how in (*self._scaled.get(number, ()), *rounded):
                if _belongs_to_record(secret, leaf, result):
                    yield ConvertedNumber(secret, leaf, how, is_rounded=how == "rounded")


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
    if secret.is_given_at(leaf.path):
        return False  # identities that may see the secret get this field as well
    return is_same_record_field(leaf, result, secret) is True or result.key in secret.keys
