"""Choose the calls that may lead to what is kept from an identity, by what tools take.

A tool that takes an id is asked for each record that is refused to the identity, alone, in a list
and under another name; one that chooses fields, groups or sorts, for each field that is kept; one
that searches, for kept values; one that takes a day or a version, for older ones; one that selects
by a field, for each value that the field has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any

from harness.base import is_valid
from harness.judging import Leaf, Result, fold_text
from harness.models import build_example_arguments, split_words
from harness.probing.arguments.argument_change import get_argument_schema, get_argument_type
from harness.probing.planned_calls import ProbeCall
from harness.probing.roads.statements import KeptData, KeptValue
from harness.types import JsonObject, Tool

MOST_ROADS = 120
"""Maximum number of such calls of one identity."""
UNHEARD = "harness-unheard-of"
"""A text that no record has."""
_CHOOSING = frozenset(
    {
        "fields",
        "field",
        "columns",
        "column",
        "select",
        "include",
        "expand",
        "group",
        "groupby",
        "sort",
        "order",
        "orderby",
        "by",
        "return",
        "props",
        "properties",
        "attributes",
        "projection",
        "facet",
        "facets",
        "dimension",
        "metric",
    }
)
_SEARCHING = frozenset(
    {
        "query",
        "q",
        "search",
        "term",
        "text",
        "keyword",
        "keywords",
        "phrase",
        "filter",
        "start",
        "prefix",
        "match",
        "contains",
    }
)
_DATED = frozenset(
    {
        "date",
        "day",
        "asof",
        "as_of",
        "at",
        "on",
        "since",
        "before",
        "until",
        "from",
        "to",
        "time",
        "timestamp",
        "snapshot",
        "month",
    }
)
_VERSIONED = frozenset(
    {
        "revision",
        "version",
        "rev",
        "generation",
        "edition",
        "iteration",
    }
)
_DAYS = ("2025-01-01", "2024-06-01", "2020-01-01")
_MOST_RECORDS = 6
_MOST_FIELDS = 4
_MOST_VALUES = 8
_MOST_SOUGHT = 4


def get_shape(value: object) -> str:
    """Return the shape of an id: that of ``S-103`` is ``s-9``."""
    return re.sub(r"\d+", "9", str(value)).casefold()


def build_unheard_id(value: str) -> str:
    """Return an id like ``value`` that no record has."""
    return re.sub(r"\d+(?!.*\d)", lambda found: "9" * (len(found[0]) + 3), value)


class RoadChoice:
    """The calls that the tools of a server and the answers so far suggest."""

    def __init__(
        self, tools: Sequence[Tool], kept: KeptData, results: Sequence[tuple[str, Result]]
    ) -> None:
        """``results`` are the answers to the suite's identities."""
        self._tools = tools
        self._kept = kept
        self._answers = [one for one in results if one[1].call.outcome == "ok"]
        self._leaves: dict[str, list[Leaf]] = {}
        self._by_field: dict[str, dict[Any, None]] = {}
        for name, result in self._answers:
            self._leaves.setdefault(name, []).extend(result.leaves)
            for leaf in result.leaves:
                if isinstance(leaf.value, str | int) and leaf.value:
                    self._by_field.setdefault(fold_text(leaf.name), {})[leaf.value] = None

    def choose_calls(self, name: str) -> list[ProbeCall]:
        """Return the calls of one identity, one sort and tool in turn; none twice."""
        values = self._kept.list_values(name)
        each = [
            iterator
            for tool in self._tools
            for iterator in self._iterate_sorts(name, tool, values)
            if (self._leaves.get(name) and values) or self._kept.list_refused(name)
        ]
        made = {result.key for who, result in self._answers if who == name}
        calls: list[ProbeCall] = []
        for call in (one for together in zip_longest(*each) for one in together):
            if call is not None and call.key not in made:
                made.add(call.key)
                calls.append(call)
        return calls[:MOST_ROADS]

    def _iterate_sorts(
        self, name: str, tool: Tool, values: Sequence[KeptValue]
    ) -> Iterator[Iterator[ProbeCall]]:
        declared = tool.input_schema.get("properties")
        bases = self.find_bases(name, tool)
        for place in declared if isinstance(declared, Mapping) else ():
            part = get_argument_schema(tool.input_schema, place)
            for proposed in (
                self._propose_records(name, tool, place, part),
                self._propose_fields(name, tool, place),
                self._propose_searches(name, place, values),
                _propose_versions(place, part),
                self._propose_choices(name, place),
            ):
                yield self._build_calls(tool, bases, place, part, proposed)

    def _build_calls(
        self,
        tool: Tool,
        bases: Sequence[JsonObject],
        place: str,
        part: Mapping[str, Any],
        proposed: Iterator[Any],
    ) -> Iterator[ProbeCall]:
        is_list = get_argument_type(part) == "array"
        for value in proposed:
            given = value if not is_list or isinstance(value, list) else [value]
            for base in bases:
                arguments = {**base, place: given}
                if is_valid(arguments, tool.input_schema):
                    yield ProbeCall(tool=tool.name, arguments=arguments, changes=False)

    def find_bases(self, name: str, tool: Tool) -> list[JsonObject]:
        """Return arguments that work for an identity, or else drafted ones with its own ids."""
        own = (result for who, result in self._answers if who == name)
        worked = [result.call.arguments for result in own if result.call.tool == tool.name]
        if worked:
            return [dict(worked[0])]
        drafted = dict(build_example_arguments(tool).values)
        for place in drafted:
            known = self.list_visible_ids(name, tool, place)
            if known:
                part = get_argument_schema(tool.input_schema, place)
                drafted[place] = [known[0]] if get_argument_type(part) == "array" else known[0]
        return [drafted]

    def list_visible_ids(self, name: str, tool: Tool, place: str) -> list[str]:
        """Return the ids among the answers to an identity that fit a parameter."""
        shapes = self._find_shapes(tool, place)
        found = (
            leaf.value
            for leaf in self._leaves.get(name, ())
            if isinstance(leaf.value, str)
            and re.search(r"\d", leaf.value)
            and get_shape(leaf.value) in shapes
        )
        return list(dict.fromkeys(found))

    def list_hidden_ids(self, name: str, tool: Tool, place: str) -> list[str]:
        """Return the ids of records that are refused to an identity and fit a parameter."""
        shapes = self._find_shapes(tool, place)
        found = [
            str(value)
            for one in self._kept.list_refused(name)
            for key, value in (one.arguments or {}).items()
            if isinstance(value, str)
            and re.search(r"\d", value)
            and (get_shape(value) in shapes or _is_alike(key, place))
        ]
        return list(dict.fromkeys(found))[:_MOST_RECORDS]

    def _find_shapes(self, tool: Tool, place: str) -> set[str]:
        """Return the shapes of the ids that a parameter takes, as far as they are known."""
        part = get_argument_schema(tool.input_schema, place)
        said = str(part.get("description", ""))
        if len(tool.input_schema.get("required", ())) == 1 and place in tool.input_schema.get(
            "required", ()
        ):
            said = f"{said} {tool.description or ''}"
        shapes = {get_shape(one) for one in re.findall(r"[A-Za-z]+[-_]?\d+", said)}
        for _, result in self._answers:
            given = result.call.arguments.get(place) if result.call.tool == tool.name else None
            for one in given if isinstance(given, list) else (given,):
                if isinstance(one, str) and re.search(r"\d", one):
                    shapes.add(get_shape(one))
        for who in self._kept.statements:
            for statement in self._kept.list_refused(who):
                for key, value in (statement.arguments or {}).items():
                    if isinstance(value, str) and _is_alike(key, place):
                        shapes.add(get_shape(value))
        return shapes

    def _propose_records(
        self, name: str, tool: Tool, place: str, part: Mapping[str, Any]
    ) -> Iterator[Any]:
        hidden = self.list_hidden_ids(name, tool, place)
        if hidden:
            yield build_unheard_id(hidden[0])
        if get_argument_type(part) != "array":
            yield from hidden
            # An id that was stated for this tool alone has neighbours.
            yield from () if hidden else self._propose_neighbours(tool, place)
            return
        visible = self.list_visible_ids(name, tool, place)[:1]
        for one in hidden:
            yield [*visible, one]
            yield [one]

    def _propose_neighbours(self, tool: Tool, place: str) -> Iterator[str]:
        given = (
            result.call.arguments.get(place)
            for _, result in self._answers
            if result.call.tool == tool.name
        )
        for value in dict.fromkeys(one for one in given if isinstance(one, str)):
            number = re.search(r"\d+$", value)
            # Words are no ids, and long numbers are guessed by nobody.
            if number is None or len(number[0]) > _MOST_VALUES or " " in value:
                continue
            for step in (1, -1, 2):
                near = max(int(number[0]) + step, 0)
                yield f"{value[: number.start()]}{near:0{len(number[0])}}"

    def _propose_fields(self, name: str, tool: Tool, place: str) -> Iterator[Any]:
        if _CHOOSING.isdisjoint((*split_words(place), fold_text(place))):
            return
        fields = self._kept.list_fields(name)
        own = [one for who, one in self._answers if who == name and one.call.tool == tool.name]
        visible = [leaf.name for one in own for leaf in one.leaves if leaf.name][:1]
        for field in fields[:_MOST_FIELDS]:
            yield field
            for shown in visible:
                yield f"{shown},{field}"
        for holder in self._find_holders(own)[:2]:
            for field in fields[:_MOST_FIELDS]:
                yield f"{holder}.{field}"

    def _find_holders(self, own: Sequence[Result]) -> list[str]:
        """Return the fields that name another record: `author`, whose value a tool was asked."""
        asked = {
            str(value)
            for _, result in self._answers
            for value in result.call.arguments.values()
            if isinstance(value, str) and re.search(r"\d", value)
        }
        found = (
            leaf.name
            for result in own
            for leaf in result.leaves
            if str(leaf.value) in asked and str(leaf.value) not in result.call.arguments.values()
        )
        return list(dict.fromkeys(found))

    def _propose_searches(
        self, name: str, place: str, values: Sequence[KeptValue]
    ) -> Iterator[Any]:
        if _SEARCHING.isdisjoint(split_words(place)):
            return
        yield UNHEARD
        yield ""
        fields: dict[str, int] = {}
        for one in values:
            kind = one.field if one.statement.fields else "record"
            fields[kind] = fields.get(kind, 0) + 1
            if fields[kind] <= 2 and sum(fields.values()) <= 2 * _MOST_SOUGHT:  # noqa: PLR2004
                yield str(one.value)
        shown = (leaf.value for leaf in self._leaves.get(name, ()) if isinstance(leaf.value, str))
        words = (word for text in shown if " " in text for word in text.split()[-3:-1])
        yield from islice(dict.fromkeys(words), 2)

    def _propose_choices(self, name: str, place: str) -> Iterator[Any]:
        """Yield the values that a field of the parameter's name has, kept ones first."""
        folded = fold_text(place)
        kept = [one for one in self._kept.list_values(name) if not one.statement.fields]
        records = [
            str(one.value) for one in kept if fold_text(one.field.rpartition(".")[2]) == folded
        ]
        values = list(dict.fromkeys((*records, *self._by_field.get(folded, ()))))
        if not folded.endswith("id"):
            yield from values[:_MOST_VALUES]


def _propose_versions(place: str, part: Mapping[str, Any]) -> Iterator[Any]:
    words = {*split_words(place), fold_text(place)}
    kind = get_argument_type(part)
    if not _VERSIONED.isdisjoint(words) and kind in ("integer", "number", "string"):
        yield from (1, 2) if kind != "string" else ("1", "2")
    elif not _DATED.isdisjoint(words) and kind == "string":
        yield from _DAYS
    elif kind == "boolean":
        yield True


def _is_alike(key: str, place: str) -> bool:
    """Whether a parameter takes what another one does: ``story_ids`` what ``story_id`` does."""
    one, two = fold_text(key).removesuffix("s"), fold_text(place).removesuffix("s")
    return one == two or (len(one) > len("id") and two.endswith(one))
