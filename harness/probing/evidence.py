"""Whether an answer gives anything, and what shows withheld data other than a field that has it.

A refusal may propose another record by its title, and a prompt may quote a record. Such a text has
no fields that tell whose value it is. A value counts if it is hardly there by chance (a number of
five digits, a text with digits, a long text) and an id that only its record has is in the text,
too.

Rows may come in the order of a field which is withheld from whoever asks for them. Whoever may sort
by such a field learns of each record whether it has more than the next, and with a record of their
own among them, how much. A server that ignores the wish, or refuses it, gives no such order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.judging import (
    ComparableValue,
    JsonRecord,
    Prose,
    Result,
    WithheldValue,
    WithheldValues,
    is_about_call,
    same_record,
    tells_of_nothing,
)


def find_values_near_ids(secrets: WithheldValues, result: Result) -> Iterator[WithheldValue]:
    """Yield the values of ``secrets`` in the text of ``result`` that stand beside their ids.

    Values that only one call withholds may be public elsewhere, unless their row is left out.
    """
    if result.call.outcome == "ok" and not result.is_prose:
        return  # its fields are compared
    prose = Prose(result.call.text)
    for secret in secrets.find_in_prose(prose):
        is_kept = secret.reach == "field" or secret.kept == "left out"
        if is_kept and any(prose.contains_value(one) for one in _own_ids(secret)):
            yield secret


def _own_ids(secret: WithheldValue) -> Iterator[ComparableValue]:
    """Yield the ids of a secret's record that no other record of the same answer has."""
    records = {id(leaf.record): leaf.record for leaf in secret.answered.leaves}
    own = secret.leaf.record
    for name, value in own.ids.items():
        # The same record may be in an answer several times.
        others = (one.ids.get(name) for one in records.values() if one.fields != own.fields)
        if name != secret.leaf.name and value.grade > 1 and value not in others:
            yield value


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


def is_telling(result: Result) -> bool:
    """Whether an answer gives something: data that the call did not send itself.

    An empty list with its count, or a failure without ``isError``, gives nothing.
    """
    if result.call.outcome != "ok":
        return False
    sent = set(iterate_texts(result.call.arguments))
    if not result.is_prose or result.call.structured is not None:
        return any(
            leaf.value
            and leaf.value not in sent
            and not is_about_call(leaf.name, leaf.value)
            # The failure of one item may stand in a result that is ok: `{"content": "x: Error"}`.
            and not (isinstance(leaf.value, str) and tells_of_nothing(_cut_out(leaf.value, sent)))
            for leaf in result.leaves
        )
    said = read_without_sent(result, sent)
    return bool(re.search(r"\w", said)) and not tells_of_nothing(said)


def read_without_sent(result: Result, sent: Iterable[str]) -> str:
    """Return the text of an answer without the texts that the call sent."""
    text = result.call.text or " ".join(str(leaf.value) for leaf in result.leaves)
    return _cut_out(text, sent)


def _cut_out(text: str, sent: Iterable[str]) -> str:
    for value in sorted(sent, key=len, reverse=True):
        text = text.replace(value, "") if value else text
    return text


def iterate_texts(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from iterate_texts(part)
