"""Rows that come in the order of a field which is withheld from whoever asks for them.

Whoever may sort by such a field learns of each record whether it has more than the next, and with
a record of their own among them, how much. A server that ignores the wish, or refuses it, gives no
such order.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.judging import JsonRecord, Result, WithheldValue, same_record

LEAST = 6
"""Fewer rows are too often in some order by chance: six are in one of 360 cases."""


def find_ordered_values(
    secrets: Sequence[WithheldValue], result: Result, usual: Sequence[Result]
) -> Sequence[WithheldValue]:
    """Return the values of the rows of ``result`` if they are in order.

    Args:
        secrets: The values of one field that is withheld from the caller.
        result: The answer to a call that names this field.
        usual: The caller's regular answers of the same tool. An order that one of them has, too,
            shows nothing.
    """
    found = _find_sorted_values(secrets, result)
    is_usual = bool(found) and any(_find_sorted_values(secrets, one) for one in usual)
    return [] if is_usual else found


def _find_sorted_values(secrets: Sequence[WithheldValue], result: Result) -> list[WithheldValue]:
    """Return the values of the rows of ``result`` if these are sorted by them; else nothing."""
    if result.call.outcome != "ok":
        return []
    leaves = [leaf for leaf in result.leaves if "[]" in leaf.path]
    # Each row is often in both forms of the result: one is read.
    rows = {id(leaf.record): leaf.record for leaf in leaves if leaf.channel == leaves[0].channel}
    found = [one for row in rows.values() if (one := _find_row_secret(row, secrets)) is not None]
    values = [one.leaf.value for one in found]
    # Values of several types have no common order.
    if len({*map(str, values)}) < LEAST or len({*map(type, values)}) > 1:
        return []
    return found if values in (sorted(values), sorted(values, reverse=True)) else []


def _find_row_secret(row: JsonRecord, secrets: Sequence[WithheldValue]) -> WithheldValue | None:
    """Return the secret of a row."""
    return next((secret for secret in secrets if same_record(secret.leaf.record, row, "")), None)
