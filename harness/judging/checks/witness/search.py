"""Searches a value that is valid by a schema and matches a pattern.

Candidates are built from what both name, and judged by the real validator and the real matcher, so
whatever is found is a witness. That there is none is said only where the candidates are complete:
conditions that are left out while building can only make more values possible.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from harness.judging.checks.witness.conditions import (
    ANY,
    TYPES,
    Branch,
    Schemas,
    UndecidedError,
    allows_absence,
    element_patterns,
    find_branch_types,
    find_names,
    find_pattern_types,
    inner_patterns,
    is_listed,
    is_plain,
    unwrap_pattern,
)
from harness.judging.checks.witness.scalars import (
    candidate_lengths,
    candidate_numbers,
    candidate_texts,
    has_expressions,
    is_fractional,
    list_named_values,
)
from harness.judging.matching.matchers import is_matcher, matches_pattern
from harness.types import JsonPath, dataclass

_ENOUGH = 6  # values of one part, of which a list may need different ones
# Bounds of the search: beyond them, nothing is said of an expectation.
_MOST_PARTS = 3_000
_MOST_ITEMS = 40
_MOST_PLACES = 8  # of an element that may stand anywhere
_OPEN = ("patternProperties", "unevaluatedProperties", "dependentSchemas", "$dynamicRef")


class WitnessResult(NamedTuple):
    """The result of a search."""

    values: Sequence[Any]
    """Some witnesses."""
    sure: bool = True
    """Whether there is certainly none if none was found."""

    @property
    def is_impossible(self) -> bool:
        """Whether there is certainly no witness."""
        return self.sure and not self.values


@dataclass(frozen=True, slots=True)
class UnsatisfiedPart:
    """A part for which there is no value."""

    path: JsonPath
    wants: Sequence[Any]
    schemas: Sequence[Any]
    known: Iterable[str] | None = None
    """The names beside it, if its own is not among those that are allowed."""


class WitnessSearch:
    """Searches in the schema of one tool."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Take ``schema`` apart.

        Raises:
            Undecided: it cannot be.
        """
        self.schemas = Schemas(schema)
        self.blamed: list[UnsatisfiedPart] = []
        """Parts without a value, inner ones first."""
        self._parts = 0

    def find_values(
        self, wants: Sequence[Any], schemas: Sequence[Any], path: JsonPath = ()
    ) -> WitnessResult:
        """Return values that match all ``wants`` and are valid by all ``schemas``.

        Raises:
            Undecided: it takes too long, or a value cannot be validated.
        """
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise UndecidedError
        for place, want in enumerate(wants):
            options = unwrap_pattern(want)
            # One pattern at a time: the search of its options takes the others apart.
            if options != [[want]]:
                rest = [*wants[:place], *wants[place + 1 :]]
                found = _choose_first(
                    self.find_values([*option, *rest], schemas, path) for option in options
                )
                break
        else:
            found = self._find_unguarded(wants, schemas, path)
        if found.is_impossible:
            self.blamed.append(UnsatisfiedPart(path, wants, schemas))
        return found

    def _find_unguarded(
        self, wants: Sequence[Any], schemas: Sequence[Any], path: JsonPath
    ) -> WitnessResult:
        local = list(self.schemas.local_schemas(schemas))
        every = self.schemas.list_branches(schemas)
        branches = [one for one in every if not is_listed(one)]
        asked = TYPES.intersection(*map(find_pattern_types, wants))
        for want in wants:
            exact = is_matcher(want) and "$equals" in want
            if exact or is_plain(want):
                fits = self._filter_fitting([want["$equals"] if exact else want], wants, schemas)
                nested = fits.values and isinstance(want, Mapping | list) and branches == every
                if not nested or exact:
                    return fits
                return self._build_values(wants, schemas, path, branches)
        kinds = frozenset[str]().union(*map(find_branch_types, branches)) & asked
        # Whole values first, since a value that is built needs a search for each of its parts.
        candidates = [*list_named_values(wants, local), None, True, False]
        candidates += candidate_numbers(wants, local) if "number" in kinds else []
        candidates += candidate_texts(wants, local) if "string" in kinds else []
        found = self._filter_fitting(candidates, wants, schemas)
        if found.values:
            return found
        # For these, no set of candidates is complete.
        sure = not ("string" in kinds and has_expressions(wants, local))
        sure = sure and not ("number" in kinds and is_fractional(local))
        built = self._build_values(wants, schemas, path, branches)
        return WitnessResult(built.values, built.sure and sure)

    def _build_values(
        self, wants: Sequence[Any], schemas: Sequence[Any], path: JsonPath, branches: list[Branch]
    ) -> WitnessResult:
        asked = TYPES.intersection(*map(find_pattern_types, wants))
        builders = {"object": self._build_object, "array": self._build_array}
        return _choose_first(
            build(wants, schemas, path, branch)
            for branch in branches
            for kind, build in builders.items()
            if kind in find_branch_types(branch) & asked
        )

    def _filter_fitting(
        self, candidates: Iterable[Any], wants: Sequence[Any], schemas: Sequence[Any]
    ) -> WitnessResult:
        fitting = (
            value
            for value in candidates
            if all(matches_pattern(want, value) for want in wants)
            and not self.schemas.find_errors(value, schemas)
        )
        return WitnessResult([*islice(fitting, _ENOUGH)])

    def _check_built(
        self, value: Any, wants: Sequence[Any], schemas: Sequence[Any]
    ) -> WitnessResult:
        # What was left out while building may be what this value lacks.
        return WitnessResult(self._filter_fitting([value], wants, schemas).values, sure=False)

    # ── Objects ──────────────────────────────────────────────────────────────────────────────

    def _build_object(
        self, wants: Sequence[Any], schemas: Sequence[Any], path: JsonPath, branch: Branch
    ) -> WitnessResult:
        local = list(self.schemas.local_schemas(schemas))
        known = dict.fromkeys(
            name
            for one in local
            for word in ("properties", "required")
            for name in (one[word] if isinstance(one.get(word), Mapping | list) else ())
        )
        # As in all checks of names: a schema that names some means no others.
        closed = known and not any(
            word in one or one.get("additionalProperties", False) is not False
            for one in local
            for word in _OPEN
        )
        demands = [one["required"] for one in branch if isinstance(one.get("required"), list)]
        required = dict.fromkeys(chain(*demands))
        value: dict[str, Any] = {}
        for name in dict.fromkeys(chain(*map(find_names, wants), required)):
            asked = [part for want in wants for part in inner_patterns(want, name)]
            # What may be left out is left out: fewer conditions have to be met.
            if name not in required and allows_absence(asked):
                continue
            inside, parts = (*path, name), _property_schemas(branch, name)
            if name not in known and (closed or False in parts):
                self.blamed.append(UnsatisfiedPart(inside, asked, [False], known))
                return WitnessResult(())
            found = self.find_values(asked or [ANY], parts, inside)
            if not found.values:
                return found
            value[name] = found.values[0]
        built = self._check_built(value, wants, schemas)
        # A number of properties may be asked for.
        further = () if closed else map(str, range(max(candidate_lengths(wants, branch))))
        for name in (*known, *further):
            if built.values or len(value) >= _MOST_ITEMS:
                break
            found = self.find_values([ANY], _property_schemas(branch, name), (*path, name))
            if name not in value and found.values:
                value[name] = found.values[0]
                built = self._check_built(value, wants, schemas)
        return built

    # ── Lists ────────────────────────────────────────────────────────────────────────────────

    def _build_array(
        self, wants: Sequence[Any], schemas: Sequence[Any], path: JsonPath, branch: Branch
    ) -> WitnessResult:
        spots = [part for want in wants for part in element_patterns(want)]
        sizes = {len(want) for want in wants if isinstance(want, list)} or {
            *candidate_lengths(wants, branch),
            *(len(_prefix_schemas(one)) + more for one in branch for more in (0, 1)),
            len(spots),
        }
        # Beyond the first items that have schemas of their own, all places are alike.
        alike = not any(
            isinstance(want, list) or (is_matcher(want) and "$path" in want) for want in wants
        )
        prefixes = max((len(_prefix_schemas(one)) for one in branch), default=0)
        places = prefixes + 1 if alike else _MOST_PLACES
        tried: list[WitnessResult] = []
        for size in sorted(sizes):
            if not _allows_length(size, wants, branch) or (spots and not size):
                continue
            if size > _MOST_ITEMS:
                tried.append(WitnessResult((), sure=False))
                break
            for place in range(min(size, places) if spots else 1):
                at = [(place + number) % size for number in range(len(spots))]
                placed = list(zip(at, spots, strict=True))
                found = self._build_list(wants, schemas, path, branch, size, placed)
                if found.values:
                    return found
                tried.append(found)
        # Then other arrangements are possible that were not tried.
        several = len(spots) > 1 or (spots and not alike and max(sizes) > places)
        return WitnessResult((), sure=all(one.sure for one in tried) and not several)

    def _build_list(
        self,
        wants: Sequence[Any],
        schemas: Sequence[Any],
        path: JsonPath,
        branch: Branch,
        size: int,
        spots: Sequence[tuple[int, Any]],
    ) -> WitnessResult:
        value: list[Any] = []
        for place in range(size):
            asked = [part for want in wants for part in inner_patterns(want, place, size)]
            asked += [part for at, part in spots if at == place]
            items = [part for one in branch for part in _item_schemas(one, place)]
            found = self.find_values(asked or [ANY], items, (*path, place))
            if not found.values:
                return found
            # A new one if possible, since items may have to be unique.
            value.append(next((one for one in found.values if one not in value), found.values[0]))
        return self._check_built(value, wants, schemas)


def _choose_first(options: Iterable[WitnessResult]) -> WitnessResult:
    sure = True
    for found in options:
        if found.values:
            return found
        sure = sure and found.sure
    return WitnessResult((), sure)


def _property_schemas(branch: Branch, name: str) -> list[Any]:
    found = []
    for one in branch:
        if name in one.get("properties", ()):
            found.append(one["properties"][name])
        elif "patternProperties" not in one:
            found.append(one.get("additionalProperties", True))
    return found


def _prefix_schemas(schema: Mapping[str, Any]) -> Sequence[Any]:
    items = schema.get("items")
    prefix: Sequence[Any] = items if isinstance(items, list) else schema.get("prefixItems", [])
    return prefix


def _item_schemas(schema: Mapping[str, Any], place: int) -> Sequence[Any]:
    prefix = _prefix_schemas(schema)
    if place < len(prefix):
        return [prefix[place]]
    rest = "additionalItems" if isinstance(schema.get("items"), list) else "items"
    return [schema[rest]] if rest in schema else []


def _allows_length(size: int, wants: Sequence[Any], branch: Branch) -> bool:
    """Whether a list may be that long."""
    least = max([0, *(one.get("minItems", 0) for one in branch)])
    most = min([math.inf, *(one.get("maxItems", math.inf) for one in branch)])
    asked = [want["$length"] for want in wants if is_matcher(want) and "$length" in want]
    return bool(least <= size <= most) and all(matches_pattern(one, size) for one in asked)
