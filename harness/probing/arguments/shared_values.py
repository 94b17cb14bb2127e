"""Values that a suite, an identity or an answer has for a parameter, for tools that take the like.

A policy is often right in the tool that its author thought of and wrong in the next one. So what is
known to be a real value of one parameter is tried for each one of the same meaning: an attack that
the suite states for one tool, the path of a record, an attribute of an identity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import zip_longest
from typing import Any

from harness.base import canonical_json, is_valid
from harness.judging import CallKey, Leaf
from harness.models import build_example_arguments, split_words
from harness.probing.arguments.argument_change import get_argument_schema, get_argument_type
from harness.probing.arguments.argument_names import find_cursor_argument
from harness.probing.arguments.outside_places import find_plain_place, leads_out
from harness.probing.planned_calls import ProbeCall
from harness.types import JsonObject, Tool, dataclass

# Each value is a call of each identity, so bounds keep a probe short.
_MOST_STATED = 8
_MOST_FOUND = 2
_LONGEST = 300
"""Characters of a value; longer ones are texts, by which nothing is looked up."""
_ALIKE = (
    frozenset(
        {"path", "file", "filename", "filepath", "folder", "directory", "dir", "source", "document"}
    ),
    frozenset({"url", "uri", "link", "href", "website"}),
)
"""Last words of names that mean the same; names of nothing more are alike, too."""
_BARE = frozenset({"id", "key", "number", "code", "name", "uuid", "ref"})
"""Names that say nothing without the thing that they belong to."""


def find_meaning(name: str, thing: str) -> str:
    """Return what a parameter or field means; ``thing`` is what a bare ``id`` belongs to.

    Equal meanings take each other's values: ``customerId`` and the ``id`` of ``get_customer``.
    """
    words = [_to_singular(word) for word in split_words(name)] or [name]
    for place, alike in enumerate(_ALIKE):
        if words[-1] in alike:
            return f"alike {place}"
    if len(words) == 1 and words[0] in _BARE:
        words = [*map(_to_singular, split_words(thing)[-1:]), *words]
    # `customer` takes what `customer_id` does.
    return "".join(words[:-1] if len(words) > 1 and words[-1] == "id" else words)


def _to_singular(word: str) -> str:
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s") or word


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterPlace:
    """Where a tool takes a scalar: a parameter, an item of its list, or a field of its object."""

    keys: tuple[str, ...]
    meaning: str
    is_list: bool
    is_required: bool

    def fill_in(self, arguments: JsonObject, value: Any) -> dict[str, Any]:
        """Return ``arguments`` with ``value`` in this place."""
        name, *inner = self.keys
        given: Any = [value] if self.is_list else value
        if inner:
            old = arguments.get(name)
            given = {**(old if isinstance(old, Mapping) else {}), inner[0]: given}
        return {**arguments, name: given}


def list_places(tool: Tool) -> list[ParameterPlace]:
    """Return the places of ``tool`` that take a scalar, also one level below its parameters."""
    return [*_iterate_places(tool, tool.input_schema, ())]


def _iterate_places(
    tool: Tool, schema: Mapping[str, Any], outer: tuple[str, ...]
) -> Iterator[ParameterPlace]:
    declared, needed = schema.get("properties"), schema.get("required")
    for name in declared if isinstance(declared, Mapping) else ():
        part = get_argument_schema(schema, name)
        kind = get_argument_type(part)
        if kind == "object":
            if not outer:
                yield from _iterate_places(tool, part, (name,))
        elif kind != "boolean" and name != find_cursor_argument(tool):
            yield ParameterPlace(
                keys=(*outer, name),
                meaning=find_meaning(name, tool.name),
                is_list=kind == "array",
                is_required=isinstance(needed, list) and name in needed,
            )


@dataclass(slots=True)
class SharedValues:
    """The known values by meaning, those that a suite states before those that answers have."""

    stated: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Meaning → the values by their JSON."""
    found: dict[str, list[Any]] = field(default_factory=dict)
    """The same of fields in answers."""

    def add_arguments(self, thing: str, arguments: Mapping[str, Any]) -> None:
        """Add the values of ``arguments``, which a call of ``thing`` has, or an identity."""
        for name, value in arguments.items():
            if isinstance(value, Mapping):
                self.add_arguments(name, value)
                continue
            known = self.stated.setdefault(find_meaning(name, thing), {})
            for one in value if isinstance(value, list) else (value,):
                for each in (one, find_plain_place(one)):
                    if _is_known(each):
                        known.setdefault(canonical_json(each), each)

    def add_leaves(self, thing: str, leaves: Iterable[Leaf]) -> None:
        """Add the fields of an answer of the tool ``thing``."""
        for leaf in leaves:
            if _is_known(leaf.value) and leaf.name:
                holder = leaf.path.rpartition(".")[0] or thing
                known = self.found.setdefault(find_meaning(leaf.name, holder), [])
                if leaf.value not in known:
                    known.append(leaf.value)

    def list_values(self, place: ParameterPlace) -> list[Any]:
        """Return the values to try in ``place``, those of the suite first."""
        known = self.stated.get(place.meaning, {}).values()
        # Attacks first, since they are what the bound must not cut off.
        stated = sorted(known, key=lambda value: not leads_out(value))[:_MOST_STATED]
        found = [one for one in self.found.get(place.meaning, ()) if one not in stated]
        # The first and the last, since the first record is often the caller's own.
        return [*stated, *(found if len(found) <= _MOST_FOUND else (found[0], found[-1]))]


def _is_known(value: object) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= _LONGEST
    return isinstance(value, int | float) and not isinstance(value, bool)


def propose_shared_calls(
    tools: Iterable[Tool],
    values: SharedValues,
    regular: Sequence[ProbeCall],
    telling: Collection[CallKey],
) -> Iterator[ProbeCall]:
    """Yield further calls of ``tools``, one of each in turn.

    ``regular`` are the calls that were made, ``telling`` those that worked for somebody.
    """
    made = {call.key for call in regular}
    each = [_propose_calls(tool, values, regular, telling) for tool in tools]
    for call in (one for together in zip_longest(*each) for one in together):
        if call is not None and call.key not in made:
            made.add(call.key)
            yield call


def _propose_calls(
    tool: Tool,
    values: SharedValues,
    regular: Sequence[ProbeCall],
    telling: Collection[CallKey],
) -> Iterator[ProbeCall]:
    own = [call for call in regular if call.tool == tool.name]
    works = [call.arguments for call in own if call.key in telling]
    for arguments in _iterate_arguments(tool, values, works):
        if is_valid(dict(arguments), tool.input_schema):
            yield ProbeCall(tool=tool.name, arguments=arguments, changes=False)


def _iterate_arguments(
    tool: Tool, values: SharedValues, works: Sequence[JsonObject]
) -> Iterator[JsonObject]:
    places = {place: values.list_values(place) for place in list_places(tool)}
    base: JsonObject = works[0] if works else build_example_arguments(tool).values
    if not works:
        # One real value beside made-up ones says little: all required ones are filled in together.
        needed = {one: known for one, known in places.items() if one.is_required and known}
        rounds = max(map(len, needed.values()), default=0)
        filled = [base] * rounds
        for place, known in needed.items():
            filled = [
                place.fill_in(one, known[number % len(known)]) for number, one in enumerate(filled)
            ]
        yield from filled
        base = filled[0] if filled else base
    single = (place.fill_in(base, value) for place, known in places.items() for value in known)
    further = _fill_unknown(tool, base, {name for one in works for name in one})
    # In turns, since many known values must not leave a parameter unasked.
    for pair in zip_longest(single, further):
        yield from (one for one in pair if one is not None)


def _fill_unknown(tool: Tool, base: JsonObject, asked: Collection[str]) -> Iterator[JsonObject]:
    """Yield ``base`` with each further parameter, by the value that its schema suggests."""
    declared = tool.input_schema.get("properties")
    names = [*declared] if isinstance(declared, Mapping) else []
    whole = replace(tool, input_schema={**tool.input_schema, "required": names})
    drafted = build_example_arguments(whole).values
    for name, value in drafted.items():
        if name not in asked and name not in base and name != find_cursor_argument(tool):
            yield {**base, name: value}
