"""Calls beyond the suite's own that may reveal a dependence on an altered value.

They request the records that have the value and similar ones, search for the value of A and of B,
sort by its field, read further pages, and tamper with arguments as the rest of the probe does
(`harness.probing.arguments.tampering`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product, zip_longest
from typing import Any

from harness.judging import CallKey, Leaf, fold_text
from harness.probing.arguments.argument_change import get_argument_type, is_limit
from harness.probing.arguments.argument_names import find_ids
from harness.probing.arguments.tampering import ArgumentTamperer
from harness.probing.callers import ProbeCaller
from harness.probing.planned_calls import ProbeCall
from harness.types import JsonObject, Tool, dataclass

MOST_FURTHER = 600
"""Maximum number of further calls for one altered value, over all identities."""
_MOST_VALUES = 2
"""Maximum number of values of one data set that are searched for."""
_MOST_PAGES = 2
_SORTING = ("sort", "sort_by", "order", "order_by")
"""Undeclared arguments that may sort."""
_FEW = (1, 2)
"""Small limits and page numbers, which cut a list short."""
_PAGING = ("cursor", "token", "page", "after", "next", "continuation")
"""Parts of the names of arguments and fields for paging."""


@dataclass(frozen=True, slots=True)
class AlteredValue:
    """The altered value as the identities get it that may see it."""

    field: str
    """The name of its field."""
    a: Sequence[Leaf]
    """The fields whose value only A has."""
    b: Sequence[Leaf]
    """The fields whose value only B has."""

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """Some fields of either data set."""
        return (*self.a[:_MOST_VALUES], *self.b[:_MOST_VALUES])

    @property
    def record_leaves(self) -> Iterator[Leaf]:
        """All fields of the records that have the value."""
        for leaf in (*self.a, *self.b):
            for name, value in leaf.record.fields.items():
                yield leaf._replace(name=str(name), value=value)


def propose_further_calls(
    ranks: Sequence[Sequence[ProbeCaller]],
    own: Sequence[tuple[ProbeCall, Tool]],
    altered: AlteredValue,
    pages: Mapping[str, Sequence[str]],
) -> tuple[Mapping[str, list[ProbeCall]], int]:
    """Return the further calls of each caller, and how many were left out.

    Args:
        ranks: The callers that must not see the value; calls of the first rank come first.
        own: The regular calls with their tools.
        altered: The altered value.
        pages: Caller → the cursors and page tokens that it was given.
    """
    # Several ways may lead to the same call, which is made once.
    chosen = {
        (name, call.label): call
        for callers in ranks
        for name, call in _interleave_calls(callers, own, altered, pages)
    }
    kept: dict[str, list[ProbeCall]] = {}
    for (name, _), call in islice(chosen.items(), MOST_FURTHER):
        kept.setdefault(name, []).append(call)
    return kept, max(0, len(chosen) - MOST_FURTHER)


def is_paging_name(name: str) -> bool:
    """Whether a field or an argument of that name is used for paging."""
    return any(word in fold_text(name) for word in _PAGING)


def _interleave_calls(
    callers: Sequence[ProbeCaller],
    own: Sequence[tuple[ProbeCall, Tool]],
    altered: AlteredValue,
    pages: Mapping[str, Sequence[str]],
) -> Iterator[tuple[str, ProbeCall]]:
    """Yield the first further call for each caller and call, then the second of each, and so on."""
    known = {call.key for call, _ in own}
    each = []
    for caller, (call, tool) in product(callers, own):
        ask = _FurtherArguments(call, tool, altered, pages.get(caller.name, ()))
        each.append(_propose_calls(caller, call, ask, known))
    return (one for together in zip_longest(*each) for one in together if one is not None)


def _propose_calls(
    caller: ProbeCaller, call: ProbeCall, ask: _FurtherArguments, known: set[CallKey]
) -> Iterator[tuple[str, ProbeCall]]:
    # A copy, since all callers and calls share `known`.
    seen = set(known)
    for arguments in ask.propose_arguments(caller):
        made = replace(call, arguments=arguments)
        if made.key not in seen:
            seen.add(made.key)
            yield caller.name, made


class _FurtherArguments:
    """Other arguments for one call of one caller."""

    def __init__(
        self, call: ProbeCall, tool: Tool, altered: AlteredValue, pages: Sequence[str]
    ) -> None:
        declared = tool.input_schema.get("properties")
        self._given = call.arguments
        self._call, self._tool, self._altered, self._pages = call, tool, altered, pages
        self._parts: Mapping[str, Any] = declared if isinstance(declared, Mapping) else {}
        needed = tool.input_schema.get("required", ())
        self._needed = {name: value for name, value in self._given.items() if name in needed}

    def propose_arguments(self, caller: ProbeCaller) -> Iterator[JsonObject]:
        """Yield the arguments, the most promising first."""
        altered = self._altered
        beside = [*altered.record_leaves]
        ids = find_ids(self._given, beside)
        for name, values in ids.items():
            yield from ({**self._given, name: value} for value in values)
        for leaf in beside:
            for name in self._parts:
                if fold_text(name) == fold_text(leaf.name):
                    yield {**self._needed, name: leaf.value}
        yield from self._propose_enum_values()
        for name, part in self._parts.items():
            if isinstance(part, Mapping) and "enum" not in part:  # all its words are tried below
                for value in self._propose_values(name, get_argument_type(part)):
                    # Other filters might exclude the record, so one call leaves them out.
                    yield {**self._needed, name: value}
                    yield {**self._given, name: value}
        yield {**self._given, **dict.fromkeys(_SORTING, altered.field)}
        for leaf in (*altered.a[:1], *altered.b[:1]):
            yield {**self._given, altered.field: leaf.value}
        for name, values in ids.items():
            # A server may complete or correct a truncated id.
            yield from ({**self._given, name: value[:-1]} for value in values[:1])
        # All but the last, which only repeats the call.
        for bent in [*ArgumentTamperer(self._tool, ids).tamper(caller, self._call, ())][:-1]:
            yield bent.arguments

    def _propose_enum_values(self) -> Iterator[JsonObject]:
        """Yield the enum values with the field's name, such as ``-salary``, ``salary_desc``."""
        field = fold_text(self._altered.field)
        for name, part in self._parts.items():
            choices = part.get("enum") if isinstance(part, Mapping) else None
            for choice in choices if isinstance(choices, list) else ():
                if isinstance(choice, str) and field in fold_text(choice):
                    yield {**self._given, name: choice}

    def _propose_values(self, name: str, kind: str | None) -> Iterator[Any]:
        """Yield values of the argument ``name`` that search for the value or sort by its field."""
        field, values = self._altered.field, [leaf.value for leaf in self._altered.leaves]
        if kind == "string":
            yield from self._pages[:_MOST_PAGES] if is_paging_name(name) else ()
            yield from map(str, values)
            yield field
            yield from (text.split()[0] for value in values if (text := str(value).strip()))
            yield from (f"{field}{sign}{value}" for sign in ("=", ":") for value in values)
        elif kind == "array":
            yield from ([value] for value in (field, *values))
        elif kind == "object":
            yield from ({field: value} for value in values)
        elif kind in ("integer", "number"):
            numbers = [value for value in values if isinstance(value, int | float)]
            yield from (number for number in numbers if kind == "number" or isinstance(number, int))
            if is_limit(name) or is_paging_name(name) or not numbers:
                yield from _FEW
