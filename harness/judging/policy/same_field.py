"""Whether two fields have similar names, and whether they belong to the same record."""

from __future__ import annotations

import re
from functools import lru_cache

from harness.judging.matching.texts import fold_text
from harness.judging.policy.same_record import same_record
from harness.judging.policy.views import Leaf, Result
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
