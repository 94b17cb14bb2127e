"""Ids that are tried as arguments: those of other records, and other values of the same one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.judging import Leaf, fold_text, is_masked, to_comparable
from harness.types import JsonObject

_MOST_OTHER_VALUES = 4
# The highest grade of `to_comparable`: a match is hardly chance.
_UNMISTAKABLE = 2
_LONGEST = 80
"""Longer values are texts, by which nothing is looked up."""


def find_ids(names: Iterable[str], leaves: Iterable[Leaf]) -> dict[str, list[str]]:
    """Return for each argument the ids among ``leaves``: the values of fields with its name.

    An argument such as ``person_id`` also takes the field ``id`` of a record.
    """
    found: dict[str, dict[str, None]] = {name: {} for name in names}
    for leaf in leaves:
        if isinstance(leaf.value, str) and leaf.value:
            for name, values in found.items():
                if names_id(name) and fold_text(leaf.name) in (fold_text(name), "id"):
                    values[leaf.value] = None
    return {name: list(values) for name, values in found.items()}


class OtherKeys:
    """What else than an id tells a record from all others.

    A server may look a record up by its email address, or by its number in another system, and
    check only what it calls the id.
    """

    def __init__(self, leaves: Iterable[Leaf]) -> None:
        """Index the records of ``leaves`` by the texts in their fields."""
        self._of: dict[str, dict[str, None]] = {}
        for leaf in leaves:
            if _tells_apart(leaf):
                for value in leaf.record.fields.values():
                    if isinstance(value, str) and value and value != leaf.value:
                        self._of.setdefault(value, {})[str(leaf.value)] = None

    def find_keys(self, arguments: JsonObject) -> Mapping[str, Sequence[str]]:
        """Return for each id in ``arguments`` further values that tell its record."""
        asked = {
            value: name for name, value in arguments.items() if isinstance(value, str) and value
        }
        found: dict[str, dict[str, None]] = {name: {} for name in asked.values()}
        for value, name in asked.items():
            found[name] |= self._of.get(value, {})
        return {name: list(values)[:_MOST_OTHER_VALUES] for name, values in found.items()}


def _tells_apart(leaf: Leaf) -> bool:
    value = to_comparable(leaf.value)
    if value is None or is_masked(leaf.value) or len(str(leaf.value)) > _LONGEST:
        return False
    # An amount is unmistakable, too, but nobody looks a record up by it.
    is_text = isinstance(leaf.value, str)
    return is_text and (value.grade == _UNMISTAKABLE or names_id(leaf.name))


def names_id(name: str) -> bool:
    """Whether an argument or a field of that name tells a record from others."""
    # Endings, since an id is mostly called after its table: "customer_id", "order_number".
    return fold_text(name).endswith(("id", "key", "number", "code", "name", "email"))


def iterate_given_ids(arguments: JsonObject) -> Iterator[tuple[str, str]]:
    """Yield the arguments that are ids, with their values."""
    for name, value in arguments.items():
        if isinstance(value, str) and value and names_id(name):
            yield name, value
