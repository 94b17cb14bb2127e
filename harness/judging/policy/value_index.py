"""Indexes by value: the values that are withheld from an identity, and those that it gets."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

from harness.judging.policy.comparable_values import ComparableValue, Prose, to_comparable
from harness.judging.policy.same_field import (
    are_similar_names,
    is_same_record_field,
    similarity_keys,
)
from harness.judging.policy.views import Leaf, Result, View
from harness.judging.policy.withheld_values import WithheldValue

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
        found = {
            id(secret): secret
            for word in prose.list_words()
            for secret in self._by_word.get(word, ())
        }
        if self._by_number:
            found |= {
                id(one): one
                for number in prose.list_numbers()
                for one in self._by_number.get(number, ())
            }
        # Many secrets may have one value: the text is searched once for it.
        is_held = {
            value: prose.contains_value(value)
            for value in dict.fromkeys(secret.value for secret in found.values())
        }
        return [secret for secret in found.values() if is_held[secret.value]]


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
    leaf = secret.leaf
    source = (id(leaf.record), id(secret.answered), frozenset(secret.keys))
    # The text `true` has the comparable form of the boolean, but is judged by other rules.
    return (*source, secret.value, secret.reach, isinstance(leaf.value, bool))


def _iterate_forms(value: ComparableValue) -> Iterator[str | float]:
    yield value.text
    if value.number is not None:
        yield value.number
    if value.digits:
        # Marked, so that digits meet only digits, and not a text that consists of them.
        yield f"#{value.digits}"
