"""Whether two objects are about the same thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.judging.policy.comparable_values import same, value_of
from harness.matching.masks import is_masked

_IDENTIFYING = re.compile(
    r"(?:^|[_.\- ])(?:id|uuid|key|name|number|code|email|login|username|ssn)$|[a-z](?:Id|Name|Key)$"
)


def same_thing(ours: Mapping[str, Any], theirs: Mapping[str, Any], except_for: str) -> bool | None:
    """Return whether two objects have an id in common (true), or one that differs (false); ``None`` is unknown."""
    agreed = list(_agreed(ours, theirs, except_for))
    return all(agreed) if agreed else None


def unlike_things(ours: Mapping[str, Any], theirs: Mapping[str, Any], except_for: str) -> bool:
    """Return whether two objects have ids to compare, and each of them differs."""
    agreed = list(_agreed(ours, theirs, except_for))
    return bool(agreed) and not any(agreed)


def _agreed(ours: Mapping[str, Any], theirs: Mapping[str, Any], except_for: str) -> Iterator[bool]:
    """Yield for each id that both have whether it is the same."""
    for key in ours.keys() & theirs.keys():
        if (
            key == except_for
            or not _IDENTIFYING.search(key)
            or is_masked(ours[key])
            or is_masked(theirs[key])
        ):
            continue  # a mask says nothing of what it hides
        left, right = value_of(ours[key]), value_of(theirs[key])
        if left is not None and right is not None:
            yield same(left, right)
