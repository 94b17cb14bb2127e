"""Whether two JSON objects represent the same record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from harness.judging.matching.masks import is_masked
from harness.judging.policy.comparable_values import ComparableValue, is_same_value, to_comparable

_IDENTIFYING = re.compile(
    r"(?i:(?:^|[_.\- ])(?:id|uuid|key|name|number|code|email|login|username|ssn)$)"
    r"|[a-z](?:Id|Name|Key)$"
)


class JsonRecord:
    """A JSON object; its ids are determined once for all its fields."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.fields = fields
        """Its fields."""

    @cached_property
    def ids(self) -> Mapping[str, ComparableValue]:
        """Name → value of each identifying field that is not masked."""
        return {
            key: value
            for key, scalar in self.fields.items()
            if _IDENTIFYING.search(key)
            and (value := to_comparable(scalar)) is not None
            and not is_masked(scalar)
        }

    @property
    def names(self) -> frozenset[str]:
        """The names of its fields."""
        return frozenset(map(str, self.fields))


NOTHING = JsonRecord({})
"""The record of a value that is not in an object."""


class _SharedIds(NamedTuple):
    """The names of the ids that two objects share."""

    agreeing: frozenset[str]
    differing: frozenset[str]


def same_record(ours: JsonRecord, theirs: JsonRecord, except_for: str) -> bool | None:
    """Return true if two objects share an id, false if an id differs; else ``None``."""
    shared = _compare_ids(ours, theirs)
    # The comparison counts as 1 if true: the excepted name alone does not suffice.
    if len(shared.differing) > (except_for in shared.differing):
        return False
    return True if len(shared.agreeing) > (except_for in shared.agreeing) else None


def unlike_records(ours: JsonRecord, theirs: JsonRecord, except_for: str) -> bool:
    """Return whether two objects have ids to compare, and all of them differ."""
    shared = _compare_ids(ours, theirs)
    return len(shared.differing) > (except_for in shared.differing) and not shared.agreeing - {
        except_for
    }


# Records have no equality of their own, so the cache compares none of their contents.
@lru_cache(maxsize=256)
def _compare_ids(ours: JsonRecord, theirs: JsonRecord) -> _SharedIds:
    """Compare the ids of two objects; cached, since it is needed for each of their fields."""
    both = ours.ids.keys() & theirs.ids.keys()
    agreeing = frozenset(key for key in both if is_same_value(ours.ids[key], theirs.ids[key]))
    return _SharedIds(agreeing, frozenset(both - agreeing))


def same_kind(ours: JsonRecord, theirs: JsonRecord) -> bool:
    """Return whether two objects are records of the same kind: half of their fields are the same.

    An object without fields may be of any kind.
    """
    fewer = min(len(ours.names), len(theirs.names))
    return 2 * len(ours.names & theirs.names) >= fewer
