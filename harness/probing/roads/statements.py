"""What suites state of the records and fields that each identity gets, or does not get."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from harness.base import canonical_json
from harness.judging import (
    CallKey,
    Leaf,
    Result,
    fold_text,
    is_masked,
    read_masks,
    stated_arguments,
    to_comparable,
)
from harness.probing.callers import ProbeCaller
from harness.probing.planned_calls import Expectations
from harness.types import Check, JsonObject, dataclass

_REFUSED = frozenset({"denied", "hidden"})
_OPEN = frozenset({"allowed", "filtered"})
_SHORTEST = 6
"""Characters of a text that is hardly anywhere by chance."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ][\d:.+Z-]*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a suite states of one call of one identity."""

    tool: str
    """The tool."""
    arguments: JsonObject | None
    """The exact arguments; ``None``: any."""
    is_refused: bool = False
    """Whether the call is refused to the identity."""
    is_open: bool = False
    """Whether the call is answered."""
    never: bool = False
    """Whether the record, or the fields, must not come by any other road either."""
    fields: tuple[str, ...] = ()
    """Fields that no answer may contain."""

    @property
    def key(self) -> CallKey:
        """Tool and arguments, in a form that can be compared."""
        return self.tool, canonical_json(self.arguments or {})


def collect_statements(
    expected: Expectations, callers: Iterable[ProbeCaller]
) -> dict[str, list[JsonObject]]:
    """Return what ``expected`` states of each caller by name, as JSON for the log."""
    found: dict[str, list[JsonObject]] = {}
    own: list[JsonObject]
    for caller in callers:
        checks = expected.list_checks(caller.user_context)
        own = [asdict(one) for one in map(_read_statement, checks) if one is not None]
        if own:
            found[caller.name] = own
    return found


def _read_statement(check: Check) -> Statement | None:
    words, never = {*check.params.get("is", ())}, check.params.get("never")
    fields = tuple(read_masks(check.params))
    settled = words - {"not_attempted"}
    is_refused, is_open = bool(settled) and settled <= _REFUSED, bool(settled & _OPEN)
    if not (is_refused or is_open or fields):
        return None
    arguments = stated_arguments(check.params.get("args", {}))
    return Statement(
        tool=check.params["tool"],
        arguments=None if arguments is None else dict(arguments),
        is_refused=is_refused,
        is_open=is_open,
        never=bool(never),
        fields=fields,
    )


def read_statements(settings: JsonObject) -> dict[str, list[Statement]]:
    """Return the statements of a log's settings by identity."""
    stored: Mapping[str, Sequence[JsonObject]] = settings.get("statements", {})
    return {
        name: [Statement(**{**one, "fields": tuple(one["fields"])}) for one in own]
        for name, own in stored.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptValue:
    """A value that a statement keeps from an identity."""

    value: Any
    """The value."""
    field: str
    """Its field."""
    statement: Statement
    """Whose statement keeps it."""
    record: frozenset[str]
    """Texts that tell its record."""
    givers: tuple[str, ...]
    """Who gets it."""

    @property
    def text(self) -> str:
        """The value as it is looked for in texts."""
        return fold_text(str(self.value))


class KeptData:
    """The values that statements keep from each identity, by the answers to the others."""

    def __init__(
        self,
        statements: Mapping[str, Sequence[Statement]],
        results: Sequence[tuple[str, Result]],
        attributes: Mapping[str, JsonObject],
    ) -> None:
        """``results`` are the answers to the suite's identities, whose ``attributes`` are given."""
        self.statements = statements
        self._results = [one for one in results if one[1].call.outcome == "ok"]
        self.attributes = attributes
        self._values: dict[str, tuple[KeptValue, ...]] = {}
        self._places: dict[str, list[Leaf]] = {}
        for _, result in self._results:
            for leaf in result.leaves:
                if _is_telling(leaf):
                    self._places.setdefault(fold_text(str(leaf.value)), []).append(leaf)

    def list_refused(self, name: str) -> list[Statement]:
        """Return the statements on records that are refused to an identity, `never` first."""
        own = [one for one in self.statements.get(name, ()) if one.is_refused and one.arguments]
        return sorted(own, key=lambda one: not one.never)

    def list_fields(self, name: str) -> list[str]:
        """Return the fields that statements keep from an identity."""
        own = self.statements.get(name, ())
        return list(dict.fromkeys(field for one in own for field in one.fields))

    def list_values(self, name: str) -> tuple[KeptValue, ...]:
        """Return the values that are kept from an identity, those of whole records first."""
        known = self._values.get(name)
        if known is None:
            known = self._values[name] = tuple(self._iterate_values(name))
        return known

    def _iterate_values(self, name: str) -> Iterator[KeptValue]:
        open_texts = self._collect_open_texts(name)
        for statement in self.list_refused(name):
            # A line that says never outweighs one on a list that the record must not be in.
            yield from (
                one
                for one in self._find_record(name, statement)
                if statement.never or one.text not in open_texts
            )
        for statement in self.statements.get(name, ()):
            if statement.fields:
                yield from self._find_fields(name, statement)

    def _collect_open_texts(self, name: str) -> set[str]:
        """Return the values in answers that the suite says an identity gets."""
        open_keys = {one.key for one in self.statements.get(name, ()) if one.is_open}
        return {
            fold_text(str(leaf.value))
            for who, result in self._results
            if who == name and result.key in open_keys
            for leaf in result.leaves
        }

    def _find_record(self, name: str, statement: Statement) -> Iterator[KeptValue]:
        asked = frozenset(_iterate_scalars(statement.arguments))
        given = [
            (who, result)
            for who, result in self._results
            if result.key == statement.key and who != name and not self._is_refused(who, statement)
        ]
        seen: set[str] = set()
        for who, result in given:
            for leaf in result.leaves:
                text = fold_text(str(leaf.value))
                if _is_telling(leaf) and text not in seen and self._is_of_record(leaf, asked):
                    seen.add(text)
                    yield KeptValue(
                        value=leaf.value,
                        field=leaf.path or leaf.name,
                        statement=statement,
                        record=asked,
                        givers=(who,),
                    )

    def _is_refused(self, name: str, statement: Statement) -> bool:
        own = self.statements.get(name, ())
        return any(one.is_refused and one.key == statement.key for one in own)

    def _is_of_record(self, leaf: Leaf, asked: frozenset[str]) -> bool:
        """Whether a value is that record's alone, wherever it is."""
        if fold_text(leaf.name).endswith("id"):
            return False  # it names another record, which may be anybody's
        text = fold_text(str(leaf.value))
        return all(
            not one.record.ids or _collect_texts(one) & asked for one in self._places.get(text, ())
        )

    def _find_fields(self, name: str, statement: Statement) -> Iterator[KeptValue]:
        wanted = {fold_text(field): field for field in statement.fields}
        own = {fold_text(text) for text in _iterate_scalars(self.attributes.get(name, {}))}
        seen: set[str] = set()
        for who, result in self._results:
            if result.call.tool != statement.tool or who == name:
                continue
            hidden = {fold_text(field) for field in self.list_fields(who)}
            for leaf in result.leaves:
                folded, text = fold_text(leaf.name), fold_text(str(leaf.value))
                if folded not in wanted or folded in hidden or text in seen:
                    continue
                record = _collect_texts(leaf)
                # Everybody may know what is their own.
                is_own = bool({fold_text(one) for one in record} & own)
                if _is_telling(leaf) and not is_own and self._is_of_field(text, folded):
                    seen.add(text)
                    yield KeptValue(
                        value=leaf.value,
                        field=wanted[folded],
                        statement=statement,
                        record=frozenset(record),
                        givers=(who,),
                    )

    def _is_of_field(self, text: str, folded: str) -> bool:
        return all(fold_text(leaf.name) == folded for leaf in self._places.get(text, ()))


def _is_telling(leaf: Leaf) -> bool:
    """Whether a value is hardly anywhere by chance: no date, no word, no round number."""
    value = to_comparable(leaf.value)
    if value is None or value.grade == 0 or is_masked(leaf.value):
        return False
    text = str(leaf.value)
    if isinstance(leaf.value, str) and len(text) < _SHORTEST:
        return False
    return _DATE.fullmatch(text) is None


def _collect_texts(leaf: Leaf) -> frozenset[str]:
    """Return the ids of the record of a field, as texts."""
    return frozenset(str(leaf.record.fields[name]) for name in leaf.record.ids)


def _iterate_scalars(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _iterate_scalars(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _iterate_scalars(part)
    elif value is not None and not isinstance(value, bool):
        yield str(value)
