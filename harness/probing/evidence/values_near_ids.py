"""Withheld values in a text that names their record.

A refusal may propose another record by its title, and a prompt may quote a record. Such a text has
no fields that tell whose value it is. A value counts if it is hardly there by chance (a number of
five digits, a text with digits, a long text) and an id that only its record has is in the text,
too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.judging import (
    ComparableValue,
    JsonRecord,
    Prose,
    Result,
    WithheldValue,
    WithheldValues,
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
    records: Mapping[int, JsonRecord] = {
        id(leaf.record): leaf.record for leaf in secret.answered.leaves
    }
    own = secret.leaf.record
    for name, value in own.ids.items():
        # The same record may be in an answer several times.
        others = (
            record.ids.get(name) for record in records.values() if record.fields != own.fields
        )
        if name != secret.leaf.name and value.grade > 1 and value not in others:
            yield value
