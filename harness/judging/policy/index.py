"""Indexes by value of what is withheld from an identity and of what it is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from harness.judging.policy.comparable_values import Prose, Value, value_of
from harness.judging.policy.same_field import about, akin
from harness.judging.policy.views import Leaf, Result, View
from harness.judging.policy.withheld import WithheldValue

_MOST_PLACES = 50
"""At most so many places are remembered for one value."""


class WithheldValues:
    """Everything that is withheld from one identity, by value."""

    def __init__(self, secrets: Iterable[WithheldValue]) -> None:
        """Index ``secrets`` by their forms; those recognisable in prose also by a word."""
        self._of: dict[Value, tuple[WithheldValue, ...]] = {}
        self._by_form: dict[str | float, list[WithheldValue]] = {}
        self._by_word: dict[str, list[WithheldValue]] = {}
        self._by_number: dict[float, list[WithheldValue]] = {}
        for secret in secrets:
            for form in _forms(secret.value):
                self._by_form.setdefault(form, []).append(secret)
            if secret.value.grade == 2:  # noqa: PLR2004 - graded in `comparable_values`
                self._add_to_texts(secret)

    def _add_to_texts(self, secret: WithheldValue) -> None:
        value = secret.value
        if value.number is not None:
            self._by_number.setdefault(value.number, []).append(secret)
            return
        words = re.findall(r"\w+", value.text)
        for word in dict.fromkeys((*sorted(words, key=len)[-1:], *filter(None, [value.digits]))):
            self._by_word.setdefault(word, []).append(secret)

    def __bool__(self) -> bool:
        """Whether anything is withheld at all."""
        return bool(self._by_form)

    def of(self, value: Value) -> Iterable[WithheldValue]:
        """Return the withheld values that equal ``value``."""
        found = self._of.get(value)
        if found is None:  # many fields may have one value
            by_id = {
                id(secret): secret
                for form in _forms(value)
                for secret in self._by_form.get(form, ())
            }
            found = self._of[value] = tuple(by_id.values())
        return found

    def told_in(self, prose: Prose) -> Iterable[WithheldValue]:
        """Return the withheld values that stand in a text and cannot be a coincidence there."""
        found = {
            id(secret): secret for word in prose.words() for secret in self._by_word.get(word, ())
        }
        if self._by_number:
            found |= {
                id(one): one
                for number in prose.numbers()
                for one in self._by_number.get(number, ())
            }
        return [secret for secret in found.values() if prose.holds(secret.value)]


class Shown:
    """Every value in the good results of one identity, with the fields that hold it."""

    def __init__(self, views: Sequence[View]) -> None:
        self._places: dict[str | float, list[tuple[Leaf, Result]]] = {}
        for view in views:
            for result in view.results:
                if result.call.outcome == "ok":
                    for leaf in result.leaves:
                        self._add(leaf, result)

    def _add(self, leaf: Leaf, result: Result) -> None:
        value = value_of(leaf.value)
        for form in () if value is None else _forms(value):
            places = self._places.setdefault(form, [])
            if len(places) < _MOST_PLACES:
                places.append((leaf, result))

    def rightly(self, secret: WithheldValue) -> bool:
        """Whether the server gives the same value in a field that is unrelated to the secret.

        Unrelated is a field of another name, or of another record.
        """
        places = [place for form in _forms(secret.value) for place in self._places.get(form, ())]
        if secret.reach == "call":
            return bool(places)
        return any(
            not akin(leaf.name, secret.leaf.name) or about(leaf, result, secret) is False
            for leaf, result in places
        )


def _forms(value: Value) -> Iterator[str | float]:
    yield value.text
    if value.number is not None:
        yield value.number
    if value.digits:
        yield f"#{value.digits}"
