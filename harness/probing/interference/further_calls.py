"""Calls beyond the suite's own that may show what depends on an altered value.

They ask for the records that have the value and for others like them, search for the value as it is
in A and in B, sort by the field that has it, and are bent as in the rest of the probe
(`harness.probing.bent_arguments`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any

from harness.canonical_json import canonical_json
from harness.judging.policy.views import Leaf
from harness.matching.texts import fold
from harness.probing.bent_arguments import Bending, ids_for, is_limit
from harness.probing.callers import ProbeCaller
from harness.probing.planned_calls import ProbeCall
from harness.types import JsonObject, Tool

MOST_FURTHER = 600
"""Further calls for one altered value, all identities together; each is made with both data."""
_MOST_VALUES = 2
"""Values of one side that are searched for."""
_SORTING = ("sort", "sort_by", "order", "order_by")
"""Arguments that may sort, although no schema declares them."""
_FEW = (1, 2)
"""Limits and pages that cut a list short."""


def further_calls(
    ranks: Sequence[Sequence[ProbeCaller]],
    own: Sequence[tuple[ProbeCall, Tool]],
    altered: tuple[Sequence[Leaf], Sequence[Leaf]],
    field: str,
) -> tuple[Mapping[str, list[ProbeCall]], int]:
    """Return the further calls of each caller by name, and how many were left out.

    Args:
        ranks: Who must not see the value, whose calls come first in the first rank.
        own: The calls that everybody makes, with their tools.
        altered: The fields whose value differs, as somebody gets them in A and in B.
        field: The name of these fields.
    """
    known = {(call.tool, canonical_json(call.arguments)) for call, _ in own}
    chosen = {
        (name, call.label): call
        for callers in ranks
        for name, call in _in_turns(callers, own, altered, field, known)
    }
    kept: dict[str, list[ProbeCall]] = {}
    for (name, _), call in islice(chosen.items(), MOST_FURTHER):
        kept.setdefault(name, []).append(call)
    return kept, max(0, len(chosen) - MOST_FURTHER)


def _in_turns(
    callers: Sequence[ProbeCaller],
    own: Sequence[tuple[ProbeCall, Tool]],
    altered: tuple[Sequence[Leaf], Sequence[Leaf]],
    field: str,
    known: set[tuple[str, str]],
) -> Iterator[tuple[str, ProbeCall]]:
    """Yield the first further call of each caller and call, then the second of each …."""
    makers = [(caller, call, tool) for caller in callers for call, tool in own]
    each = [
        _once(known, _of_call(caller, call, tool, altered, field)) for caller, call, tool in makers
    ]
    for together in zip_longest(*each):
        for (caller, _, _), call in zip(makers, together, strict=True):
            if call is not None:
                yield caller.name, call


def _once(
    known: set[tuple[str, str]], calls: Iterable[tuple[ProbeCall, JsonObject]]
) -> Iterator[ProbeCall]:
    seen = set(known)
    for call, arguments in calls:
        key = call.tool, canonical_json(arguments)
        if key not in seen:
            seen.add(key)
            yield ProbeCall(tool=call.tool, arguments=arguments, changes=call.changes)


def _of_call(
    caller: ProbeCaller,
    call: ProbeCall,
    tool: Tool,
    altered: tuple[Sequence[Leaf], Sequence[Leaf]],
    field: str,
) -> Iterator[tuple[ProbeCall, JsonObject]]:
    """Yield ``call`` with other arguments, the most telling first."""
    declared = tool.input_schema.get("properties")
    parts: Mapping[str, Any] = declared if isinstance(declared, Mapping) else {}
    required = {
        name: value
        for name, value in call.arguments.items()
        if name in tool.input_schema.get("required", ())
    }
    beside = [*_beside(leaf for leaves in altered for leaf in leaves)]
    ids = ids_for(call.arguments, beside)
    for name, values in ids.items():
        for value in values:
            yield call, {**call.arguments, name: value}
    for leaf in beside:
        for name in parts:
            if fold(name) == fold(leaf.name):
                yield call, {**required, name: leaf.value}
    for name, part in parts.items():
        if isinstance(part, Mapping):
            for value in _values(name, part, altered, field):
                # Other filters may leave out the very record, so it is asked without them, too.
                yield call, {**required, name: value}
                yield call, {**call.arguments, name: value}
    yield call, {**call.arguments, **dict.fromkeys(_SORTING, field)}
    for leaves in altered:
        for leaf in leaves[:1]:
            yield call, {**call.arguments, field: leaf.value}
    for bent in [*Bending(tool.input_schema, ids).bent(caller, call, ())][:-1]:
        yield call, bent.arguments


def _values(
    name: str,
    part: Mapping[str, Any],
    altered: tuple[Sequence[Leaf], Sequence[Leaf]],
    field: str,
) -> Iterator[Any]:
    """Yield what the declared argument ``name`` may be, to search for the value or sort by it."""
    if "enum" in part:
        return  # each of its words is tried anyway
    kind = _kind(part)
    leaves = [leaf for side in altered for leaf in side[:_MOST_VALUES]]
    if kind == "string":
        yield from (str(leaf.value) for leaf in leaves)
        yield field
        yield from (text.split()[0] for leaf in leaves if (text := str(leaf.value).strip()))
    elif kind == "array":
        yield from ([leaf.value] for leaf in leaves)
    elif kind in ("integer", "number"):
        numbers = [leaf.value for leaf in leaves if isinstance(leaf.value, int | float)]
        yield from (number for number in numbers if kind == "number" or isinstance(number, int))
        if is_limit(name) or not numbers:
            yield from _FEW


def _kind(part: Mapping[str, Any]) -> str | None:
    """Return the type of a declared argument; one that may also be null has that of the rest."""
    options = [part, *(one for one in part.get("anyOf", ()) if isinstance(one, Mapping))]
    for one in options:
        kinds = one.get("type")
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            if isinstance(kind, str) and kind != "null":
                return kind
    return None


def _beside(leaves: Iterable[Leaf]) -> Iterator[Leaf]:
    """Yield the fields of the records that ``leaves`` stand in."""
    for leaf in leaves:
        for name, value in leaf.record.fields.items():
            yield leaf._replace(name=str(name), value=value)
